"""Links to a checked launch: the input itself, packed into the address, without what looks secret."""

import base64
import binascii
import re
import zlib
from collections.abc import Mapping

from django.http import QueryDict

from deployments.planning.rules.launch.settings import LintSettings

LONGEST_LINK = 2_000
LARGEST_UNPACKED = 64 * 1024
MASK = "***"
_GUARDED_NAME = (
    r"[\w.-]*(?:token|secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|credential|cookie)"
    r"[\w.-]*"
)
_UNGUARDED = re.compile(r"tokens|tokeni[sz]er|token_?ids?|special_token", re.IGNORECASE)
_ASSIGNED = re.compile(
    rf"(?P<name>--?{_GUARDED_NAME}|\b{_GUARDED_NAME})(?P<between>[\"']?\s*[=:]\s*|[ \t]+)"
    r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'\\,}]+)",
    re.IGNORECASE,
)
_KNOWN_FORMS = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{8,}|sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}"
    r"|glpat-[\w-]{12,}|AKIA[0-9A-Z]{12,}|xox[abpr]-[\w-]{8,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
)
_IN_ADDRESS = re.compile(
    r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)[^\s/@'\"]+@", re.IGNORECASE
)
_BEARER = re.compile(
    r"\b(?P<kind>bearer|basic)\s+[A-Za-z0-9+/=._~-]{8,}", re.IGNORECASE
)


def masked(text: str) -> str:
    """The text with every value that looks secret replaced by stars."""
    text = _BEARER.sub(lambda found: f"{found['kind']} {MASK}", text)
    text = _IN_ADDRESS.sub(lambda found: f"{found['scheme']}{MASK}@", text)
    text = _ASSIGNED.sub(_starred, text)
    return _KNOWN_FORMS.sub(MASK, text)


def _starred(found: re.Match[str]) -> str:
    name, between, value = found["name"], found["between"], found["value"]
    flag = name.startswith("-")
    blank = not between.strip()
    if _UNGUARDED.search(name) or (blank and not flag) or value.startswith("$"):
        return found[0]
    if blank and value.startswith("-"):
        return found[0]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{name}{between}{quote}{MASK}{quote}"


def link_query(text: str, settings: LintSettings) -> str:
    """The query that shows the answer to this input again; empty where it is too long."""
    said = {
        "platform": settings.platform or "",
        "engine": settings.engine or "",
        "version": settings.engine_version or "",
    }
    return packed("launch", text, said)


def packed(name: str, text: str, said: Mapping[str, str]) -> str:
    """A query with the masked text packed under a name; empty where it is too long."""
    squeezed = base64.urlsafe_b64encode(zlib.compress(masked(text).encode(), 9))
    query = QueryDict(mutable=True)
    query[name] = squeezed.decode().rstrip("=")
    for key, value in said.items():
        if value:
            query[key] = value
    encoded = query.urlencode()
    return encoded if len(encoded) <= LONGEST_LINK else ""


def unpacked(squeezed: str) -> str | None:
    """The input of a link; ``None`` for what no link of this panel holds."""
    if len(squeezed) > LONGEST_LINK:
        return None
    try:
        raw = base64.urlsafe_b64decode(squeezed + "=" * (-len(squeezed) % 4))
        reader = zlib.decompressobj()
        text = reader.decompress(raw, LARGEST_UNPACKED)
        return text.decode() if reader.eof else None
    except (binascii.Error, zlib.error, ValueError):
        return None
