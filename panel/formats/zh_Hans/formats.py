"""Simplified Chinese: digits in threes, as consoles in China print them; Django groups nothing."""

SHORT_DATETIME_FORMAT = "n月j日 H:i"
THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
