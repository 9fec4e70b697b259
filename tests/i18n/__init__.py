"""Tests of what the panel says in each language."""
