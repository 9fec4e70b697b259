"""Benchmarks: what ``vllm bench serve`` printed or wrote to runs; two sets of runs to a verdict."""
