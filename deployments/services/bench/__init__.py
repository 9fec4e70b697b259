"""Benchmarks that the panel carries out: who may ask, what is measured, the client's container, the steps."""
