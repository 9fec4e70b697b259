"""What the Dockerfile of the sources says of the official image: entrypoint and vLLM base."""

import json
import re

from deployments.planning.engines.reading.sources import SourceTree

VLLM_FILE = "docker/Dockerfile"
VLLM_STAGE = "vllm-openai"
ASCEND_FILE = "Dockerfile"
STAGE = re.compile(
    r"^FROM\s+(?P<base>\S+)(?:\s+AS\s+(?P<name>\S+))?\s*$", re.IGNORECASE | re.MULTILINE
)
ENTRYPOINT = re.compile(r"^ENTRYPOINT\s+(?P<words>\[.*\])\s*$", re.MULTILINE)
VLLM_TAG = re.compile(
    r"^ARG\s+VLLM_TAG=\"?v?(?P<version>[0-9][^\s\"]*)\"?\s*$", re.MULTILINE
)


def official_entrypoint(tree: SourceTree, *, ascend: bool) -> tuple[str, ...] | None:
    """The image's entrypoint, ``()`` for a shell image, ``None`` if the sources do not show it."""
    text = tree.text(ASCEND_FILE if ascend else VLLM_FILE)
    if not text:
        return None
    stages = _stages(text)
    name: str | None = list(stages)[-1] if ascend else VLLM_STAGE
    while name is not None and name in stages:
        base, body = stages[name]
        found = ENTRYPOINT.findall(body)
        if found:
            return tuple(str(word) for word in json.loads(found[-1]))
        name = base
    return () if ascend else None


def vllm_base(tree: SourceTree) -> str | None:
    """The vLLM release that the image of vllm-ascend is built on."""
    found = VLLM_TAG.search(tree.text(ASCEND_FILE))
    return found["version"] if found else None


def _stages(text: str) -> dict[str, tuple[str, str]]:
    """Base and body of each stage; the last one is named even if its file does not name it."""
    found: dict[str, tuple[str, str]] = {}
    marks = list(STAGE.finditer(text))
    for position, mark in enumerate(marks):
        end = marks[position + 1].start() if position + 1 < len(marks) else len(text)
        found[mark["name"] or f"stage-{position}"] = (
            mark["base"],
            text[mark.end() : end],
        )
    return found
