"""English: times of a chart's range without American month numbers."""

SHORT_DATETIME_FORMAT = "j M H:i"
