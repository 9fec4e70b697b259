"""The practice engine: what a vLLM 0.32.0 server prints, refuses and answers, without a model."""
