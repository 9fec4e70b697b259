"""What a real vLLM 0.32.0 says about the panel's plans, rules and profile; only with make check-vllm."""
