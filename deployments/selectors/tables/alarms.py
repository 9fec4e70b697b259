"""The table of alarms: what is wrong now, and what was."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext, pgettext_lazy

from deployments.models import (
    Alarm,
    AlarmEnd,
    AlarmKind,
    TableKey,
    TeamRole,
    User,
)
from deployments.selectors.access import team_ids_with_role
from deployments.selectors.advice_words import spoken
from deployments.selectors.ready_rows import Row
from deployments.selectors.tables.addresses import address_of
from deployments.selectors.tables.choices import Choices, cluster_filter
from deployments.selectors.tables.columns import (
    Column,
    Filter,
    Kind,
    Link,
    Rows,
    State,
    TableRow,
)
from deployments.selectors.tables.people import full_name
from deployments.selectors.tables.table import BulkAct, Table

FIELDS = (
    "pk",
    "deployment__name",
    "deployment__team_id",
    "deployment__cluster__name",
    "kind",
    "release_number",
    "text",
    "opened_at",
    "began_at",
    "closed_at",
    "closed_because",
    "acknowledged_by__first_name",
    "acknowledged_by__last_name",
    "acknowledged_by__username",
    "note",
)


def _show_choices(user: User) -> Choices:
    del user
    return [
        ("", pgettext_lazy("of an alarm", "Open")),
        ("unseen", _("Not acknowledged")),
        ("closed", pgettext_lazy("of an alarm", "Closed")),
        ("all", _("All")),
    ]


def _show(rows: Rows, value: str, user: User) -> Rows:
    del user
    if value == "all":
        return rows
    if value == "closed":
        return rows.filter(closed_at__isnull=False)
    rows = rows.filter(closed_at__isnull=True)
    return rows.filter(acknowledged_at__isnull=True) if value == "unseen" else rows


def _kind_choices(user: User) -> Choices:
    del user
    return [("", _("Every kind")), *AlarmKind.choices]


def _kind(rows: Rows, value: str, user: User) -> Rows:
    del user
    return rows.filter(kind=value) if value in AlarmKind.values else rows


class AlarmTable(Table):
    """Every alarm of the person's teams."""

    key = TableKey.ALARMS
    url_name = "alarm-list"
    fields = FIELDS
    order = "-opened"
    search_hint = _("deployment or note")
    bulk = BulkAct(
        url_name="alarm-list-acknowledge",
        label=_("Acknowledge"),
        question=_(
            "The others see that you know of the selected alarms; they stay until they are over."
        ),
        note=_("Note"),
        tone="primary",
    )
    empty = _(
        "No alarm was ever raised. The guide says what is watched, and when it is."
    )
    action = ("guide", _("Guide"))
    columns = (
        Column(
            key="deployment",
            title=_("Deployment"),
            kind=Kind.LINK,
            sort=("deployment__name",),
            wide=True,
        ),
        Column(key="kind", title=_("Alarm"), kind=Kind.STATE, sort=("kind",)),
        Column(key="text", title=_("What was seen"), kind=Kind.TEXT, wide=True),
        Column(key="opened", title=_("Opened"), kind=Kind.MOMENT, sort=("opened_at",)),
        Column(key="state", title=_("State"), kind=Kind.TEXT, sort=("closed_because",)),
        Column(
            key="by",
            title=_("Acknowledged by"),
            kind=Kind.TEXT,
            sort=("acknowledged_by__username",),
            nullable=True,
            none=_("nobody"),
        ),
        Column(key="note", title=_("Note"), kind=Kind.TEXT, silent=True, wide=True),
        Column(
            key="began",
            title=_("Began"),
            kind=Kind.MOMENT,
            sort=("began_at",),
            shown=False,
        ),
        Column(
            key="closed",
            title=pgettext_lazy("of an alarm", "Closed"),
            kind=Kind.MOMENT,
            sort=("closed_at",),
            nullable=True,
            none=_("not yet"),
            shown=False,
        ),
        Column(
            key="cluster",
            title=_("Cluster"),
            kind=Kind.TEXT,
            sort=("deployment__cluster__name",),
            shown=False,
        ),
    )
    filters = (
        Filter(
            key="show", title=_("Show"), choices=_show_choices, keep=_show, strip=True
        ),
        Filter(key="kind", title=_("Alarm"), choices=_kind_choices, keep=_kind),
        cluster_filter("deployment__cluster"),
    )

    def scope(self, user: User) -> Rows:
        """Alarms of the person's teams."""
        return Alarm.objects.for_user(user)

    def matching(self, rows: Rows, word: str) -> Rows:
        """By the deployment or the note."""
        return rows.filter(
            Q(deployment__name__icontains=word) | Q(note__icontains=word)
        )

    def ordered_by(self, rows: Rows, column: str, user: User) -> Rows:
        """Everything stands in the tables themselves."""
        del column, user
        return rows

    def read(
        self, rows: Iterable[Row], wanted: tuple[str, ...], user: User
    ) -> list[TableRow]:
        """Everything stands in the rows; open alarms may be acknowledged by operators."""
        operated = team_ids_with_role(user, TeamRole.OPERATOR)
        values = [VALUES[key] for key in wanted]
        found = (dict(zip(FIELDS, row, strict=True)) for row in rows)
        return [
            TableRow(
                pk=row["pk"],
                values=tuple(value(row) for value in values),
                open_to=row["closed_at"] is None
                and not row["acknowledged_by__username"]
                and row["deployment__team_id"] in operated,
            )
            for row in found
        ]


def _deployment(row: Mapping[str, Any]) -> Link:
    return Link(url=address_of("alarm", row["pk"]), text=row["deployment__name"])


VALUES: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "deployment": _deployment,
    "kind": lambda row: State("alarm", row["kind"]),
    "text": lambda row: spoken(row["text"]),
    "opened": lambda row: row["opened_at"],
    "state": lambda row: (
        AlarmEnd(row["closed_because"]).label
        if row["closed_because"]
        else pgettext("of an alarm", "Open")
    ),
    "by": lambda row: (
        full_name(row, "acknowledged_by") if row["acknowledged_by__username"] else None
    ),
    "note": lambda row: row["note"],
    "began": lambda row: row["began_at"],
    "closed": lambda row: row["closed_at"],
    "cluster": lambda row: row["deployment__cluster__name"],
}

ALARMS = AlarmTable()
