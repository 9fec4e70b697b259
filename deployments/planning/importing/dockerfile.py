"""A Dockerfile: the image that it begins from, its variables, and the command that it ends with."""

import json
import re

from deployments.planning.importing.compose import Service
from deployments.planning.importing.container import Container
from deployments.planning.importing.words import Word

_FROM = re.compile(r"^FROM[ \t]+(?:--\S+[ \t]+)?(\S+)", re.MULTILINE)
_ARRAY = re.compile(
    r"^(CMD|ENTRYPOINT)[ \t]+(\[(?:[^\]\\\n\"]|\\\r?\n|\"(?:[^\"\\\n]|\\.)*\")*\])",
    re.MULTILINE,
)
_ENV = re.compile(r"^ENV[ \t]+([A-Za-z_]\w*)(?:=|[ \t]+)(\S+)", re.MULTILINE)
_CONTINUED = re.compile(r"\\\r?\n")


def read_dockerfile(text: str) -> Service | None:
    """Return what the image would run, ``None`` where its command is no array, or it is no Dockerfile."""
    begins = list(_FROM.finditer(text))
    if not begins:
        return None
    last = begins[-1]
    arrays: dict[str, tuple[str, ...]] = {}
    for found in _ARRAY.finditer(text, last.end()):
        members = _members(found[2])
        if members is not None:
            arrays[found[1]] = members
    if not arrays:
        return None
    entrypoint = arrays.get("ENTRYPOINT")
    texts = (*(entrypoint or ()), *arrays.get("CMD", ()))
    return Service(
        container=Container(
            image=last[1], entrypoint=entrypoint, compose=True, start=last.start()
        ),
        environment={one[1]: Word(text=one[2]) for one in _ENV.finditer(text)},
        words=tuple(Word(text=one) for one in texts),
    )


def _members(array: str) -> tuple[str, ...] | None:
    try:
        value = json.loads(_CONTINUED.sub(" ", array))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return None
    return tuple(value)
