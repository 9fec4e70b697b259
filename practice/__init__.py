"""The practice image: a stand-in for vLLM that needs no accelerator and serves no model."""
