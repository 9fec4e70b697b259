"""Benchmarks: readers, intervals and verdicts."""
