"""Benchmarks that the panel runs: which prompts, at which loads, by which command of which version."""
