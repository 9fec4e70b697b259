"""Memory before anything runs: weights, drafter, buffers and KV cache of one device of each role."""
