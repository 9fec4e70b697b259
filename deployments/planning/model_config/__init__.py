"""What a model is, read from its config.json and the index of its weights."""
