"""Finds the server that a command starts, behind shells, wrappers and ``docker run``."""

import re
from dataclasses import dataclass

from deployments.planning.importing.launch import API_SERVER, ATOM, SGLANG, VLLM_SERVE
from deployments.planning.importing.words import Word

BENCHMARK = "vllm bench serve"
MISSING_MODULE = "vllm.benchmarks.benchmark_serving"
_OTHER = {
    "llama-server": "llama.cpp",
    "trtllm-serve": "TensorRT-LLM",
    "text-generation-launcher": "Text Generation Inference",
    "lmdeploy": "LMDeploy",
    "mindieservice_daemon": "MindIE",
    "ollama": "Ollama",
}
_MODULES = {
    "vllm.entrypoints.openai.api_server": API_SERVER,
    "vllm.entrypoints.api_server": API_SERVER,
    "sglang.launch_server": SGLANG,
    "atom.entrypoints.openai_server": ATOM,
    "atom.entrypoints.openai.api_server": ATOM,
    MISSING_MODULE: MISSING_MODULE,
}
_BY_FILE = {"api_server.py": API_SERVER, "benchmark_serving.py": BENCHMARK}
_WRAPPERS = re.compile(
    r"(?:\$|%|#|>|-|\*|do|then|else|!|\{|time|exec|nohup|sudo|env|nice|ionice|setsid|stdbuf|timeout"
    r"|numactl|taskset|uv|uvx|pipx|conda|poetry|pdm|srun|mpirun|torchrun|ray|ssh|docker|podman"
    r"|nerdctl|kubectl|screen|tmux|xargs|watch|eval|command|unbuffer|proxychains4?|python[0-9.]*"
    r"|cmd:|command:|entrypoint:|CMD|ENTRYPOINT|RUN|if|while|\d+|[/.$~].*|-.*)"
)
_TAKE_SCRIPTS = frozenset(("ssh", "tmux", "screen", "su", "runuser", "eval"))
"""Programs that run their last word as a script."""
_SHELL = re.compile(r"(?:.*/)?(?:ba|z|da|k)?sh")
AFTER_SCRIPT = 4
"""Words up to the script's own name: ``sh -c SCRIPT NAME``."""
_SHELL_OPTION = re.compile(r"-[a-z]*c")


@dataclass(frozen=True, slots=True)
class Found:
    """A program, where its own words begin, and the index of its name."""

    program: str
    arguments_at: int
    at: int


def find_program(words: tuple[Word, ...]) -> Found | None:
    """Return the first server or benchmark that a command starts."""
    texts = [word.text for word in words]
    for index, text in enumerate(texts):
        found = _program_at(texts, index, text)
        if found is None:
            continue
        if index == 0 or _WRAPPERS.fullmatch(texts[0]) or _passes_on(texts):
            return found
    return None


def _passes_on(texts: list[str]) -> bool:
    """Whether a script behind ``sh -c`` ends in running the words after it: ``exec "$@"``."""
    return (
        len(texts) > AFTER_SCRIPT
        and _SHELL.fullmatch(texts[0]) is not None
        and _SHELL_OPTION.fullmatch(texts[1]) is not None
        and texts[2].rstrip().endswith('"$@"')
    )


def find_script(words: tuple[Word, ...]) -> Word | None:
    """Return the script behind ``bash -c``, unless it only passes the words after it on."""
    if _passes_on([word.text for word in words]):
        return None
    for index, word in enumerate(words[:-2]):
        if _SHELL.fullmatch(word.text) and _SHELL_OPTION.fullmatch(
            words[index + 1].text
        ):
            return words[index + 2]
    first = words[0].text.rpartition("/")[2] if words else ""
    if first in _TAKE_SCRIPTS and " " in words[-1].text:
        return words[-1]
    return None


def _program_at(texts: list[str], index: int, text: str) -> Found | None:
    name = text.rpartition("/")[2]
    following = texts[index + 1] if index + 1 < len(texts) else ""
    if name in ("vllm", "vllm.entrypoints.cli.main"):
        return _vllm(texts, index, following)
    if text in _MODULES and index and texts[index - 1] == "-m":
        return Found(_MODULES[text], index + 1, index)
    if name in ("sglang", "atom") and following == "serve":
        return Found(SGLANG if name == "sglang" else ATOM, index + 2, index)
    program = _BY_FILE.get(name) or _OTHER.get(name)
    return Found(program, index + 1, index) if program else None


def _vllm(texts: list[str], index: int, following: str) -> Found | None:
    if following == "serve":
        return Found(VLLM_SERVE, index + 2, index)
    if following == "bench" and texts[index + 2 : index + 3] == ["serve"]:
        return Found(BENCHMARK, index + 3, index)
    return None


def image_program(image: str | None) -> str | None:
    """Return the program that an image starts by itself, ``None`` when it is a shell or unknown."""
    if image is None:
        return None
    name = image.partition("@")[0].rpartition("/")[2].partition(":")[0]
    if name in ("vllm-openai", "vllm-openai-rocm", "vllm-openai-cpu", "vllm-tpu"):
        return VLLM_SERVE
    return SGLANG if name == "sglang" else None
