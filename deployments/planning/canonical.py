"""One byte string for one value: the canonical JSON that digests are taken over."""

import hashlib
import json
import re

from pydantic import JsonValue as Json

from deployments.planning.errors import PlanningError
from deployments.planning.text import text

__all__ = ["Json", "canonical_json", "digest_of"]

LARGEST_EXACT_INTEGER = 2**53
_PERHAPS_INEXACT = re.compile(r"[:\[,]-?\d+(?:[.eE]|\d{15})")
_NEVER_FINITE = ("NaN", "Infinity")
"""One of these is in every encoding of a float or of an integer of 16 digits within a list or an
object, and in a few harmless words."""


def canonical_json(value: Json) -> bytes:
    """Encode with sorted keys, no white space, and UTF-8, refusing what has two spellings.

    Raises:
        PlanningError: a float, an integer beyond 2**53.
    """
    encoded = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    if (
        not isinstance(value, dict | list)
        or any(word in encoded for word in _NEVER_FINITE)
        or _PERHAPS_INEXACT.search(encoded)
    ):
        _refuse_ambiguous(value)
    return encoded.encode()


def digest_of(value: Json) -> str:
    """Return ``sha256:<64 hex digits>`` of the canonical encoding."""
    return "sha256:" + hashlib.sha256(canonical_json(value)).hexdigest()


def _refuse_ambiguous(value: Json) -> None:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            continue
        if isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
        else:
            _refuse_inexact(one)


def _refuse_inexact(value: Json) -> None:
    if isinstance(value, float):
        raise PlanningError(
            text(
                "A plan holds decimal numbers as text, but {value} is a float.",
                value=repr(value),
            )
        )
    if isinstance(value, int) and abs(value) > LARGEST_EXACT_INTEGER:
        raise PlanningError(
            text("The number {value} is too large to be kept exactly.", value=value)
        )
