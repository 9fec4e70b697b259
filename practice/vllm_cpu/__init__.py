"""A real vLLM for machines without an accelerator: its environment and tiny models to serve."""
