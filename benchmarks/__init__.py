"""Measurements and fits that are repeated from outside the panel."""
