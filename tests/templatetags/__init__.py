"""Tests of what templates call."""
