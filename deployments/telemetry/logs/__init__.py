"""Logs of inference engines: lines, acceptance records, start-up facts, whole-log readings."""
