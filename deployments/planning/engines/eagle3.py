"""Since which vLLM release EAGLE-3 takes a family: a list in the engine's code until 0.22.1 opened it."""

import re

_EAGLE3_SINCE = (
    (re.compile(r"llama", re.IGNORECASE), (0, 8, 5)),
    (re.compile(r"qwen", re.IGNORECASE), (0, 10, 1)),
    (re.compile(r"minicpm|gpt[-_]?oss", re.IGNORECASE), (0, 11, 0)),
    (re.compile(r"hunyuan|afmoe", re.IGNORECASE), (0, 16, 0)),
    (re.compile(r"nemotron", re.IGNORECASE), (0, 17, 0)),
    (re.compile(r"deepseek|kimi", re.IGNORECASE), (0, 18, 0)),
    (re.compile(r"minimax|gemma[-_]?4", re.IGNORECASE), (0, 19, 0)),
    (re.compile(r"laguna", re.IGNORECASE), (0, 21, 0)),
    (re.compile(r"mistral|pixtral|granite|step|glm[-_]?5", re.IGNORECASE), (0, 22, 1)),
)


def eagle3_since(model: str) -> tuple[int, ...] | None:
    """Return the vLLM release since which EAGLE-3 takes the family, ``None`` when unknown."""
    for pattern, release in _EAGLE3_SINCE:
        if pattern.search(model):
            return release
    return None
