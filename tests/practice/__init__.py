"""Tests of the practice engine and its image."""
