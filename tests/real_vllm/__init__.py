"""The panel, a browser and a real vLLM on a real Docker Engine; only with make e2e, takes minutes."""
