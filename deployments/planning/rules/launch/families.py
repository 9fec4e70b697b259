"""What a model's name gives away: its family, its size, how its weights are quantised."""

import functools
import re

_GLM = re.compile(r"glm", re.IGNORECASE)
_GLM4_MOE = re.compile(r"glm[-_]?4[._]?[567]", re.IGNORECASE)
_DEEPSEEK_V4 = re.compile(r"(?:deepseek|ds)[-_]?v4", re.IGNORECASE)
_DEEPSEEK_V41 = re.compile(r"deepseek[-_]?v4[._]1", re.IGNORECASE)
_HYBRID = re.compile(
    r"qwen3[._][568](?![0-9])|qwen3[-_]next|nemotron[-_]?(?:h|3)|bailing|kimi[-_]linear",
    re.IGNORECASE,
)
_NO_MTP = (
    re.compile(r"(?<![a-z])(?:meta[-_])?llama[-_]?(?:\d|v\d|$)", re.IGNORECASE),
    re.compile(r"qwen(?:1\.5|2|2\.5)[-_]", re.IGNORECASE),
    re.compile(
        r"qwen3[-_](?:(?:0\.6|1\.7|4|8|14|32|30|235|72)b|coder|vl)", re.IGNORECASE
    ),
    re.compile(r"gpt[-_]oss", re.IGNORECASE),
    re.compile(r"kimi[-_]?k2", re.IGNORECASE),
    re.compile(r"minimax[-_]?m2", re.IGNORECASE),
)
_SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)b(?![a-z])", re.IGNORECASE)
_FOUR_BITS = re.compile(r"mxfp4|awq|gptq|int4|w4a16", re.IGNORECASE)
_GEMMA4 = re.compile(r"gemma[-_]?4", re.IGNORECASE)


def last_part(model: str) -> str:
    """Return the name without organisation and folders."""
    return model.rstrip("/").rpartition("/")[2]


def is_glm(model: str) -> bool:
    """Whether it is a GLM."""
    return _GLM.search(last_part(model)) is not None


def is_glm4_moe(model: str) -> bool:
    """Whether it is GLM-4.5, 4.6 or 4.7, whose class has no EAGLE-3 interface (vLLM 0.32.0)."""
    return (
        _GLM4_MOE.search(last_part(model)) is not None and "flash" not in model.lower()
    )


def is_deepseek_v4(model: str) -> bool:
    """Whether it is DeepSeek-V4."""
    return _DEEPSEEK_V4.search(model) is not None


def is_deepseek_v41(model: str) -> bool:
    """Whether it is DeepSeek-V4.1, which has no MTP route (vLLM 0.30.0 and later)."""
    return _DEEPSEEK_V41.search(model) is not None


def is_hybrid(model: str) -> bool:
    """Whether part of its layers keep a recurrent state."""
    return _HYBRID.search(model) is not None


def is_gemma4(model: str) -> bool:
    """Whether it is a Gemma 4."""
    return _GEMMA4.search(model) is not None


@functools.cache
def has_no_mtp(model: str) -> bool:
    """Whether the family has no MTP layers that vLLM could use (sources to 0.33.0)."""
    name = last_part(model)
    if "mtp" in name.lower():
        return False
    return any(pattern.search(name) for pattern in _NO_MTP)


def has_four_bits(model: str) -> bool:
    """Whether the name says 4-bit weights of a kind whose MTP layers are often left out."""
    return _FOUR_BITS.search(last_part(model)) is not None


def billions(model: str) -> float | None:
    """Return the parameters in billions that the name states, ``None`` when it states none."""
    found = _SIZE.search(last_part(model))
    return float(found[1]) if found else None
