"""The speed model against published measurements: rows, fit, accuracy."""
