"""The table of releases: everything that was ever put in place, newest first."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as now_gettext
from django.utils.translation import gettext_lazy as _

from deployments.models import (
    CHANGING_STATES,
    Release,
    ReleaseState,
    TableKey,
    User,
)
from deployments.selectors.ready_rows import Row
from deployments.selectors.tables.addresses import address_of
from deployments.selectors.tables.choices import (
    Choices,
    cluster_filter,
    method_filter,
)
from deployments.selectors.tables.columns import (
    Column,
    Filter,
    Kind,
    Link,
    MethodChoice,
    Rows,
    State,
    TableRow,
)
from deployments.selectors.tables.people import full_name
from deployments.selectors.tables.table import Table
from deployments.selectors.texts import say

FIELDS = (
    "pk",
    "number",
    "deployment__name",
    "plan__revision__number",
    "plan__practice",
    "state",
    "plan__method",
    "plan__num_speculative_tokens",
    "deployment__cluster__name",
    "started_by__first_name",
    "started_by__last_name",
    "started_by__username",
    "created_at",
    "live_at",
    "ended_at",
    "cause",
    "warning",
    "plan__model_key",
)
STATES: Mapping[str, tuple[ReleaseState, ...]] = {
    "live": (ReleaseState.LIVE,),
    "changing": CHANGING_STATES,
    "failed": (ReleaseState.FAILED, ReleaseState.BLOCKED),
    "ended": (
        ReleaseState.STOPPED,
        ReleaseState.CANCELLED,
        ReleaseState.ROLLED_BACK,
    ),
}


def _show_choices(user: User) -> Choices:
    del user
    return [
        ("", _("All")),
        ("live", _("Live")),
        ("changing", _("Changing")),
        ("failed", _("Failed")),
        ("ended", _("Ended")),
    ]


def _show(rows: Rows, value: str, user: User) -> Rows:
    del user
    return rows.filter(state__in=STATES[value]) if value in STATES else rows


class ReleaseTable(Table):
    """Every release of the person's teams."""

    key = TableKey.RELEASES
    url_name = "release-list"
    fields = FIELDS
    order = "-started"
    search_hint = _("deployment, model or person")
    empty = _("Nothing was deployed yet. An approved request becomes a release.")
    action = ("approval-list", _("Approvals"))
    columns = (
        Column(
            key="release",
            title=_("Release"),
            kind=Kind.LINK,
            sort=("deployment__name", "number"),
            wide=True,
        ),
        Column(key="state", title=_("State"), kind=Kind.STATE, sort=("state",)),
        Column(
            key="method",
            title=_("Method"),
            kind=Kind.METHOD,
            sort=("plan__method", "plan__num_speculative_tokens"),
        ),
        Column(
            key="started", title=_("Started"), kind=Kind.MOMENT, sort=("created_at",)
        ),
        Column(
            key="by",
            title=_("Started by"),
            kind=Kind.TEXT,
            sort=("started_by__username",),
        ),
        Column(
            key="live",
            title=_("Live"),
            kind=Kind.MOMENT,
            sort=("live_at",),
            nullable=True,
            none=_("never"),
        ),
        Column(
            key="ended",
            title=_("Ended"),
            kind=Kind.MOMENT,
            sort=("ended_at",),
            nullable=True,
            none=_("not yet"),
        ),
        Column(key="why", title=_("Why"), kind=Kind.TEXT, silent=True, wide=True),
        Column(
            key="cluster",
            title=_("Cluster"),
            kind=Kind.TEXT,
            sort=("deployment__cluster__name",),
            shown=False,
        ),
        Column(
            key="model",
            title=_("Model"),
            kind=Kind.TEXT,
            sort=("plan__model_key",),
            shown=False,
            wide=True,
        ),
    )
    filters = (
        Filter(
            key="show", title=_("Show"), choices=_show_choices, keep=_show, strip=True
        ),
        cluster_filter("deployment__cluster"),
        method_filter("plan__method"),
    )

    def scope(self, user: User) -> Rows:
        """Releases of the person's teams."""
        return Release.objects.for_user(user)

    def matching(self, rows: Rows, word: str) -> Rows:
        """By the deployment, the model, or who started it."""
        return rows.filter(
            Q(deployment__name__icontains=word)
            | Q(plan__model_key__icontains=word)
            | Q(started_by__username__icontains=word)
        )

    def ordered_by(self, rows: Rows, column: str, user: User) -> Rows:
        """Everything stands in the tables themselves."""
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
    names = {"number": row["number"], "name": row["deployment__name"]}
    return Link(
        url=address_of("release", row["pk"]),
        text=now_gettext("%(name)s release %(number)s") % names,
        note=f"r{row['plan__revision__number']}",
        practice=row["plan__practice"],
    )


VALUES: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "release": _name,
    "state": lambda row: State("release", row["state"]),
    "method": lambda row: MethodChoice(
        row["plan__method"], row["plan__num_speculative_tokens"]
    ),
    "started": lambda row: row["created_at"],
    "by": lambda row: full_name(row, "started_by"),
    "live": lambda row: row["live_at"],
    "ended": lambda row: row["ended_at"],
    "why": lambda row: say(row["cause"]) or say(row["warning"]),
    "cluster": lambda row: row["deployment__cluster__name"],
    "model": lambda row: row["plan__model_key"],
}

RELEASES = ReleaseTable()
