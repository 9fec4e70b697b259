"""Audit entries as people read them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext

from deployments.models import (
    Alarm,
    ApprovalRequest,
    AuditAction,
    AuditEntry,
    AuditKind,
    BenchmarkResult,
    Cluster,
    Deployment,
    Host,
    Release,
    TargetModel,
    User,
)

PAGES: Mapping[str, tuple[str, Any]] = {
    AuditKind.DEPLOYMENT: ("deployment", Deployment),
    AuditKind.REQUEST: ("approval", ApprovalRequest),
    AuditKind.RELEASE: ("release", Release),
    AuditKind.CLUSTER: ("cluster", Cluster),
    AuditKind.HOST: ("host", Host),
    AuditKind.MODEL: ("catalog-model", TargetModel),
    AuditKind.ALARM: ("alarm", Alarm),
    AuditKind.BENCHMARK: ("benchmark", BenchmarkResult),
}
"""Kinds of objects that have a page of their own: its address, and their table."""


COMMAND_LINE = "command line"
WORKER = "worker"
NOBODY = "nobody"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that an act changed; ``None`` where there was, or is, nothing."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPage:
    """An entry with everything that its page shows."""

    row: AuditEntry
    action: str
    kind: str
    actor: str
    program: str
    origin: str
    object_url: str
    differences: tuple[Difference, ...]


def entries_for(user: User) -> QuerySet[AuditEntry]:
    """What the person may read."""
    return AuditEntry.objects.for_user(user)


def entry_page(user: User, row: AuditEntry) -> EntryPage:
    """Everything that the page of an entry shows; leads to objects that are still there."""
    names = sorted({*row.before, *row.after})
    return EntryPage(
        row=row,
        action=action_name(row.action),
        kind=kind_name(row.object_kind),
        actor=actor_name(row.actor_name, row.actor_id),
        program=program_name(row.agent),
        origin=origin_name(row.address, row.agent),
        object_url=_page_of(user, row),
        differences=tuple(
            Difference(
                name=name,
                before=_shown(row.before, name),
                after=_shown(row.after, name),
            )
            for name in names
        ),
    )


def _page_of(user: User, row: AuditEntry) -> str:
    if row.object_kind not in PAGES:
        return ""
    route, table = PAGES[row.object_kind]
    there = table.objects.for_user(user).filter(pk=row.object_id).exists()
    return reverse(route, args=[row.object_id]) if there else ""


def action_name(action: str) -> str:
    """The act in words; one that this panel does not know as it is written."""
    return _label(AuditAction, action)


def kind_name(kind: str) -> str:
    """The kind of object in words; one that this panel does not know as it is written."""
    return _label(AuditKind, kind)


def actor_name(name: str, actor: int | None) -> str:
    """Who acted: a person by the name of that day; in words where it was nobody with an account."""
    if actor is None and name == NOBODY:
        return gettext("nobody")
    return program_name(name) if actor is None else name


def program_name(agent: str) -> str:
    """With what somebody acted: the command line or a worker in words, a browser as it calls itself."""
    if agent == COMMAND_LINE:
        return gettext("command line")
    return gettext("worker") if agent == WORKER else agent


def origin_name(address: str, agent: str) -> str:
    """From where somebody acted: an address, or without one the command line or a worker."""
    return program_name(agent) if agent in {COMMAND_LINE, WORKER} else address


def _label(
    words: Callable[[str], AuditAction] | Callable[[str], AuditKind], value: str
) -> str:
    try:
        return str(words(value).label)
    except ValueError:
        return value


def _shown(values: Mapping[str, object], name: str) -> str | None:
    if name not in values:
        return None
    value = values[name]
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
