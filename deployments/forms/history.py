"""The range of a history as an address says it; what cannot be read falls back to the last day."""

import time
from collections.abc import Mapping
from datetime import datetime

from django.utils import timezone

from deployments.selectors.acceptance import Wanted
from deployments.selectors.acceptance_range import (
    DEFAULT,
    LENGTHS_S,
    OWN,
    Range,
    named_range,
    own_range,
)

LAST_SECOND = 4_102_444_800
"""2100-01-01: a time beyond it is a slip of the keyboard."""
LONGEST_S = 5 * 366 * 86_400


def wanted_history(query: Mapping[str, str]) -> Wanted:
    """What an address asks for: ``range`` and ``until``, or ``from`` and ``to``; ``only``, ``against``.

    A range to compare with has ``against_from`` and ``against_to``, or its end alone.
    """
    one = _range(query)
    other = _other(query, one)
    against = query.get("against", "")
    return Wanted(
        range=one,
        only=query.get("only", "")[:20],
        against="own" if other and against in {"", "own"} else against,
        other=other,
    )


def _range(query: Mapping[str, str]) -> Range:
    own = _between(query.get("from", ""), query.get("to", ""))
    if own and query.get("range", OWN) == OWN:
        return own
    key = query.get("range", "")
    key = key if key in LENGTHS_S else DEFAULT
    until = _seconds(query.get("until", ""))
    if until is None or until < LENGTHS_S[key]:
        until = int(time.time())
    return named_range(key, until)


def _other(query: Mapping[str, str], one: Range) -> Range | None:
    """The range to compare with; without a beginning it is as long as the first one."""
    first, last = query.get("against_from", ""), query.get("against_to", "")
    end_s = _seconds(last)
    if not first and end_s is not None and end_s > one.length_s:
        return own_range(end_s - one.length_s, end_s)
    return _between(first, last)


def _between(first: str, last: str) -> Range | None:
    from_s, to_s = _seconds(first), _seconds(last)
    if from_s is None or to_s is None or not 0 < to_s - from_s <= LONGEST_S:
        return None
    return own_range(from_s, to_s)


def _seconds(text: str) -> int | None:
    """Seconds since 1970, or a date and time in the person's zone as a browser writes it."""
    if text.isascii() and text.isdigit():
        seconds = int(text) if len(text) <= len(str(LAST_SECOND)) else LAST_SECOND + 1
    else:
        try:
            moment = datetime.fromisoformat(text)
            if timezone.is_naive(moment):
                moment = timezone.make_aware(moment)
            seconds = round(moment.timestamp())
        except (ValueError, OverflowError):
            return None
    return seconds if 0 <= seconds <= LAST_SECOND else None
