"""Write down who did what to which object, in the transaction that does it."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import TypedDict, Unpack

from django.db import transaction
from django.db.models import Model
from django.db.models.functions import Now

from deployments.models import AuditAction, AuditEntry, AuditHead, User
from deployments.planning.canonical import LARGEST_EXACT_INTEGER, Json, digest_of
from deployments.selectors.audit import COMMAND_LINE, NOBODY, WORKER
from deployments.selectors.audit_chain import content_of, exported
from deployments.services.audit_subjects import Subject, subject_of

MIRROR = logging.getLogger("audit")
"""To standard output, where the platform keeps it out of the panel's reach."""
MIRROR_OF_COMMANDS = logging.getLogger("audit.commands")
"""To standard error: the standard output of a command is its answer."""
LONGEST_REASON = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """From where somebody acts: an IP address, and a browser or program by its family."""

    address: str
    agent: str


def by_itself() -> Origin:
    """The origin of what the panel does by the clock, in the name of whoever asked for it."""
    return Origin(address="", agent=WORKER)


_origin: ContextVar[Callable[[], Origin] | None] = ContextVar(
    "audit_origin", default=None
)


@contextmanager
def acting_from(origin: Callable[[], Origin]) -> Iterator[None]:
    """Entries that are written inside name this origin; outside it is the command line."""
    token = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(token)


class Told(TypedDict, total=False):
    """What an entry may tell beside who, what and on which object."""

    before: Mapping[str, object]
    after: Mapping[str, object]
    reason: str


def record(
    action: AuditAction,
    actor: User | None,
    on: Model | Subject,
    **told: Unpack[Told],
) -> AuditEntry:
    """Add an entry at the end of the chain; the last statement of the transaction that it tells of.

    Writers take turns from here until they commit, so nothing slow may follow. Of ``before`` and
    ``after`` only what differs is kept; secrets must not be in them.

    Raises:
        KeyError: ``on`` is a row of a kind that no entry is about.
    """
    subject = subject_of(on)
    ask = _origin.get()
    origin = ask() if ask else Origin(address="", agent=COMMAND_LINE)
    old, new = _differences(told.get("before", {}), told.get("after", {}))
    with transaction.atomic():
        head, _made = AuditHead.objects.select_for_update().get_or_create(pk=1)
        # A statement of its own: its time is after that of everybody who had the turn before.
        at = AuditHead.objects.values_list(Now(), flat=True).get(pk=1)
        entry = AuditEntry(
            sequence=head.sequence + 1,
            at=at,
            actor=actor,
            actor_name=_words(
                str(actor) if actor else NOBODY if ask else COMMAND_LINE, 160
            ),
            team=subject.team,
            team_name=_words(subject.team.name if subject.team else "", 80),
            action=action.value,
            object_kind=subject.kind.value,
            object_id=subject.id[:36],
            object_name=_words(subject.name, 200),
            within_id=subject.within,
            before=old,
            after=new,
            reason=_words(told.get("reason", ""), LONGEST_REASON),
            address=origin.address[:45],
            agent=_words(origin.agent, 80),
            previous=head.digest,
        )
        entry.digest = digest_of(content_of(entry))
        entry.save(force_insert=True)
        AuditHead.objects.filter(pk=1).update(
            sequence=entry.sequence, digest=entry.digest
        )
        mirror = MIRROR if ask else MIRROR_OF_COMMANDS
        transaction.on_commit(partial(_mirror, mirror, exported(entry)), robust=True)
    return entry


def _mirror(logger: logging.Logger, entry: Mapping[str, Json]) -> None:
    logger.info(entry["action"], extra={"audit": entry})


def _differences(
    before: Mapping[str, object], after: Mapping[str, object]
) -> tuple[dict[str, Json], dict[str, Json]]:
    old, new = _plain(before), _plain(after)
    if not isinstance(old, dict) or not isinstance(new, dict):
        raise TypeError("before and after are mappings")
    for key in old.keys() & new.keys():
        if old[key] == new[key]:
            del old[key], new[key]
    return old, new


def _plain(value: object) -> Json:
    """The value as JSON that has one spelling and that every database gives back unchanged."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= LARGEST_EXACT_INTEGER:
        return value
    if isinstance(value, Mapping):
        return {_words(str(key)): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, date):
        return value.isoformat()
    return _words(str(value))


def _words(words: str, most: int | None = None) -> str:
    """The words without what a database refuses, cut at ``most`` characters."""
    clean = words.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return clean.encode(errors="replace").decode()[:most]
