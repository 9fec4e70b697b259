"""What is to be known of a log before it is believed: nobody reads it, the host is silent, it ended."""

import uuid
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

from deployments.models import LogRequest, LogRun, LogTail

SILENT_S = 15
"""A log that is looked at is read every two seconds; beyond this somebody should know."""
PROBLEM_TONES = {"not_started": "now", "no_earlier_run": "idle", "gone": "idle"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One sentence with its tone; ``source`` names the replica where there are several."""

    tone: str
    source: str
    sentence: str


def notices(
    titles: Mapping[uuid.UUID, str],
    tails: Mapping[uuid.UUID, LogTail],
    asked: Mapping[uuid.UUID, LogRequest],
    silent: Collection[uuid.UUID] = (),
) -> Iterator[Notice]:
    """One notice for each replica of which something is to be said.

    ``silent`` are those whose host did not answer when it was last asked for anything.
    """
    for key, title in titles.items():
        tone, sentence = _state(
            tails.get(key), asked.get(key), host_silent=key in silent
        )
        if sentence:
            source = title if len(titles) > 1 else ""
            yield Notice(tone=tone, source=source, sentence=sentence)


def is_awaited(tail: LogTail | None, request: LogRequest | None) -> bool:
    """Whether nobody asked for a log yet, or did so just now and has no answer."""
    if request is None:
        return True
    unread = tail is None or tail.filled_at is None
    return unread and request.created_at > _silent_since()


def _silent_since() -> datetime:
    return timezone.now() - timedelta(seconds=SILENT_S)


def _state(
    tail: LogTail | None, request: LogRequest | None, *, host_silent: bool
) -> tuple[str, str]:
    """Tone and sentence; nothing to say about a log that is read as it should be."""
    if request is None:
        return "idle", _("Nobody has asked the host for this log in the last minute.")
    silent = _silent_since()
    if tail is None or tail.filled_at is None:
        return _unread(waiting=request.created_at > silent, host_silent=host_silent)
    if tail.problem:
        return PROBLEM_TONES.get(tail.problem, "bad"), _problem(tail.problem)
    if tail.filled_at < silent and request.wanted_until > timezone.now():
        return "attention", _("No worker has read on for a while: what you see is old.")
    if tail.ended and request.run == LogRun.CURRENT:
        return "idle", _("The container has ended; these are its last lines.")
    return "", ""


def _unread(*, waiting: bool, host_silent: bool) -> tuple[str, str]:
    if host_silent:
        return "bad", _("The host does not answer: lines come when it does again.")
    if waiting:
        return "now", _("The host is asked for its log; lines come within seconds.")
    return "attention", _("No worker has read this log yet: check that a worker runs.")


def _problem(code: str) -> str:
    gone = _("The container was removed, and its log went with it.")
    sentences = {
        "not_started": _(
            "The container has not been started yet, so it has said nothing."
        ),
        "no_earlier_run": _(
            "This container has been started once only: there is no run before this one."
        ),
        "gone": gone,
        "not_found": gone,
        "unreachable": _(
            "The host does not answer: what you see is old. It is tried again."
        ),
        "timeout": _(
            "The host is slow to answer: what you see is old. It is tried again."
        ),
    }
    return sentences.get(code) or _(
        "The Docker Engine does not give this log out: look at the page of the host."
    )
