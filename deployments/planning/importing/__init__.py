"""Reads launches that people already have: commands, scripts, compose files, Python calls."""
