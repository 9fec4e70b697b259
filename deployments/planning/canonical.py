"""One byte string for one value: the canonical JSON that digests are taken over."""

import hashlib
import json

from pydantic import JsonValue as Json

from deployments.planning.errors import PlanningError
from deployments.planning.text import text

__all__ = ["Json", "canonical_json", "digest_of"]

LARGEST_EXACT_INTEGER = 2**53


def canonical_json(value: Json) -> bytes:
    """Encode with sorted keys, no white space, and UTF-8, refusing what has two spellings.

    Raises:
        PlanningError: a float, an integer beyond 2**53.
    """
    _refuse_ambiguous(value)
    encoded = json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    )
    return encoded.encode()


def digest_of(value: Json) -> str:
    """Return ``sha256:<64 hex digits>`` of the canonical encoding."""
    return "sha256:" + hashlib.sha256(canonical_json(value)).hexdigest()


def _refuse_ambiguous(value: Json) -> None:
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
    if isinstance(value, dict):
        for item in value.values():
            _refuse_ambiguous(item)
    elif isinstance(value, list):
        for item in value:
            _refuse_ambiguous(item)
