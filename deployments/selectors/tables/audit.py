"""The table of audit entries: who did what to which object, newest first."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from deployments.models import (
    AuditAction,
    AuditEntry,
    AuditKind,
    RoleGrant,
    TableKey,
    TeamRole,
    User,
)
from deployments.selectors.audit import (
    action_name,
    actor_name,
    kind_name,
    origin_name,
    program_name,
)
from deployments.selectors.ready_rows import Row, asked_by, ready_rows
from deployments.selectors.tables.addresses import address_of
from deployments.selectors.tables.choices import Choices
from deployments.selectors.tables.columns import (
    Column,
    Filter,
    Kind,
    Link,
    Rows,
    TableRow,
)
from deployments.selectors.tables.table import Table

FIELDS = (
    "pk",
    "sequence",
    "at",
    "actor",
    "actor_name",
    "action",
    "object_kind",
    "object_name",
    "reason",
    "team_name",
    "address",
    "agent",
)
SPANS: Mapping[str, timedelta] = {
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
}


def _span_choices(user: User) -> Choices:
    del user
    return [
        ("", _("All")),
        ("day", _("24 hours")),
        ("week", _("7 days")),
        ("month", _("30 days")),
    ]


def _span(rows: Rows, value: str, user: User) -> Rows:
    del user
    return rows.filter(at__gte=Now() - SPANS[value]) if value in SPANS else rows


def _people(user: User) -> Choices:
    """Who may have acted in what the person may read."""

    def named() -> Rows:
        people = User.objects.order_by("username")
        if not user.is_superuser:
            led = RoleGrant.objects.filter(membership__user=user, role=TeamRole.ADMIN)
            teams = led.values("membership__team")
            mates = Q(memberships__team__in=teams) | Q(pk=user.pk)
            people = people.filter(mates).distinct()
        return people.values_list("pk", "username")

    rows = ready_rows(("people of the audit", asked_by(user)), named)
    return [("", _("Everybody")), *((str(pk), name) for pk, name in rows)]


def _by(rows: Rows, value: str, user: User) -> Rows:
    del user
    return rows.filter(actor=int(value)) if value else rows


def _action_choices(user: User) -> Choices:
    del user
    return [("", _("Every act")), *AuditAction.choices]


def _action(rows: Rows, value: str, user: User) -> Rows:
    del user
    return rows.filter(action=value) if value else rows


def _kind_choices(user: User) -> Choices:
    del user
    return [("", _("Every object")), *AuditKind.choices]


def _kind(rows: Rows, value: str, user: User) -> Rows:
    del user
    return rows.filter(object_kind=value) if value else rows


class AuditTable(Table):
    """Entries that the person may read: their own, those of teams that they lead, or all."""

    key = TableKey.AUDIT
    url_name = "audit"
    json_url_name = "audit-lines"
    fields = FIELDS
    order = "-at"
    anchor = ("at", "sequence")
    search_hint = _("person, object or its id, address")
    empty = _("Nothing was done yet that you may read.")
    action = ("overview", _("Overview"))
    columns = (
        Column(
            key="action",
            title=_("Act"),
            kind=Kind.LINK,
            sort=("action",),
            wide=True,
        ),
        Column(key="at", title=_("When"), kind=Kind.MOMENT, sort=("at", "sequence")),
        Column(key="who", title=_("Who"), kind=Kind.TEXT, sort=("actor_name",)),
        Column(key="kind", title=_("Kind"), kind=Kind.TEXT, sort=("object_kind",)),
        Column(key="object", title=_("Object"), kind=Kind.TEXT, sort=("object_name",)),
        Column(key="reason", title=_("Reason"), kind=Kind.TEXT, silent=True, wide=True),
        Column(
            key="address",
            title=_("Origin"),
            kind=Kind.TEXT,
            sort=("address",),
            none=_("no data"),
        ),
        Column(
            key="team",
            title=_("Team"),
            kind=Kind.TEXT,
            sort=("team_name",),
            none=_("none"),
            shown=False,
        ),
        Column(
            key="agent",
            title=_("Program"),
            kind=Kind.TEXT,
            sort=("agent",),
            none=_("no data"),
            shown=False,
        ),
        Column(
            key="number",
            title=_("Number"),
            kind=Kind.COUNT,
            sort=("sequence",),
            shown=False,
        ),
    )
    filters = (
        Filter(
            key="span", title=_("Time"), choices=_span_choices, keep=_span, strip=True
        ),
        Filter(key="by", title=_("Person"), choices=_people, keep=_by),
        Filter(key="act", title=_("Act"), choices=_action_choices, keep=_action),
        Filter(key="kind", title=_("Object"), choices=_kind_choices, keep=_kind),
    )

    def scope(self, user: User) -> Rows:
        """What the person may read."""
        return AuditEntry.objects.for_user(user)

    def matching(self, rows: Rows, word: str) -> Rows:
        """By person, object, team or address; an id finds its object and what belongs to it."""
        with suppress(ValueError):
            found = str(uuid.UUID(word))
            return rows.filter(Q(object_id=found) | Q(within_id=found))
        return rows.filter(
            Q(actor_name__icontains=word)
            | Q(object_name__icontains=word)
            | Q(team_name__icontains=word)
            | Q(address__startswith=word)
        )

    def ordered_by(self, rows: Rows, column: str, user: User) -> Rows:
        """Everything stands in the table itself."""
        del column, user
        return rows

    def read(
        self, rows: Iterable[Row], wanted: tuple[str, ...], user: User
    ) -> list[TableRow]:
        """Everything stands in the rows."""
        del user
        values = [VALUES[key] for key in wanted]
        found = (dict(zip(FIELDS, row, strict=True)) for row in rows)
        return [
            TableRow(pk=row["pk"], values=tuple(value(row) for value in values))
            for row in found
        ]


def _name(row: Mapping[str, Any]) -> Link:
    return Link(
        url=address_of("audit-entry", row["pk"]), text=action_name(row["action"])
    )


VALUES: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "action": _name,
    "at": lambda row: row["at"],
    "who": lambda row: actor_name(row["actor_name"], row["actor"]),
    "kind": lambda row: kind_name(row["object_kind"]),
    "object": lambda row: row["object_name"],
    "reason": lambda row: row["reason"],
    "address": lambda row: origin_name(row["address"], row["agent"]),
    "team": lambda row: row["team_name"],
    "agent": lambda row: program_name(row["agent"]),
    "number": lambda row: row["sequence"],
}

AUDIT = AuditTable()
