"""Tests of the pages, one file per page."""
