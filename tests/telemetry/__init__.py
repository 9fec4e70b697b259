"""Tests of the telemetry core."""
