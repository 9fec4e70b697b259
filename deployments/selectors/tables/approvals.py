"""The table of approval requests: those that wait for the person first."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.db.models import Case, Q, Value, When
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as now_gettext
from django.utils.translation import gettext_lazy as _

from deployments.models import ApprovalRequest, RequestState, TableKey, TeamRole, User
from deployments.selectors.access import team_ids_with_role
from deployments.selectors.approvals import LIVE_STATES
from deployments.selectors.ready_rows import Row
from deployments.selectors.tables.addresses import address_of
from deployments.selectors.tables.choices import (
    Choices,
    cluster_filter,
    method_filter,
)
from deployments.selectors.tables.columns import (
    Act,
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
from deployments.selectors.tables.table import BulkAct, Table
from deployments.selectors.waiting import decidable_by

FIELDS = (
    "pk",
    "state",
    "expires_at",
    "created_at",
    "decided_at",
    "submitted_by",
    "submitted_by__first_name",
    "submitted_by__last_name",
    "submitted_by__username",
    "plan__practice",
    "plan__method",
    "plan__num_speculative_tokens",
    "plan__model_key",
    "plan__revision__number",
    "plan__revision__deployment__name",
    "plan__revision__deployment__cluster__name",
    "plan__revision__deployment__team",
    "mine",
)


def _show_choices(user: User) -> Choices:
    del user
    return [("", _("Waiting")), ("ended", _("Ended")), ("all", _("All"))]


def _show(rows: Rows, value: str, user: User) -> Rows:
    del user
    waiting = Q(state__in=LIVE_STATES, expires_at__gt=Now())
    if value == "all":
        return rows
    return rows.exclude(waiting) if value == "ended" else rows.filter(waiting)


class ApprovalTable(Table):
    """Requests; what the person may decide now is marked and stands on top."""

    key = TableKey.APPROVALS
    url_name = "approval-list"
    fields = FIELDS
    order = "state"
    search_hint = _("deployment, cluster or person")
    bulk = BulkAct(
        url_name="approval-list-withdraw",
        label=_("Withdraw"),
        question=_(
            "The selected requests of yours are taken back, and nothing of them will run."
        ),
    )
    empty = _(
        "Nothing waits for a decision. A request appears here when somebody submits a plan."
    )
    action = ("plan", _("Plan a deployment"))
    columns = (
        Column(
            key="request",
            title=_("Request"),
            kind=Kind.LINK,
            sort=("plan__revision__deployment__name", "plan__revision__number"),
            wide=True,
        ),
        Column(
            key="state",
            title=_("State"),
            kind=Kind.STATE,
            sort=("mine", "rank", "-created_at"),
        ),
        Column(
            key="method",
            title=_("Method"),
            kind=Kind.METHOD,
            sort=("plan__method", "plan__num_speculative_tokens"),
        ),
        Column(
            key="cluster",
            title=_("Cluster"),
            kind=Kind.TEXT,
            sort=("plan__revision__deployment__cluster__name",),
        ),
        Column(
            key="by",
            title=_("Asked by"),
            kind=Kind.TEXT,
            sort=("submitted_by__username",),
        ),
        Column(key="asked", title=_("Asked"), kind=Kind.MOMENT, sort=("created_at",)),
        Column(
            key="until", title=_("Runs out"), kind=Kind.MOMENT, sort=("expires_at",)
        ),
        Column(
            key="decided",
            title=_("Decided"),
            kind=Kind.MOMENT,
            sort=("decided_at",),
            nullable=True,
            none=_("not yet"),
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
        Column(key="open", title=_("Next"), kind=Kind.ACTION),
    )
    filters = (
        Filter(
            key="show", title=_("Show"), choices=_show_choices, keep=_show, strip=True
        ),
        cluster_filter("plan__revision__deployment__cluster"),
        method_filter("plan__method"),
    )

    def scope(self, user: User) -> Rows:
        """Requests of the person's teams."""
        return ApprovalRequest.objects.for_user(user)

    def matching(self, rows: Rows, word: str) -> Rows:
        """By the deployment, the cluster, the model, or who asked."""
        return rows.filter(
            Q(plan__revision__deployment__name__icontains=word)
            | Q(plan__revision__deployment__cluster__name__icontains=word)
            | Q(plan__model_key__icontains=word)
            | Q(submitted_by__username__icontains=word)
        )

    def ordered_by(self, rows: Rows, column: str, user: User) -> Rows:
        """Add whose turn it is: 0 where the person may decide now, then by how far it is."""
        del column
        ranked: Rows = rows.annotate(
            mine=Case(When(decidable_by(user), then=Value(0)), default=Value(1)),
            rank=Case(
                When(state=RequestState.OPEN, then=Value(0)),
                When(state=RequestState.APPROVED, then=Value(1)),
                default=Value(2),
            ),
        )
        return ranked

    def read(
        self, rows: Iterable[Row], wanted: tuple[str, ...], user: User
    ) -> list[TableRow]:
        """Read, in one query, what the person may take back."""
        now = timezone.now()
        operated = team_ids_with_role(user, TeamRole.OPERATOR)
        values = [VALUES[key] for key in wanted]
        acts = {True: now_gettext("Decide"), False: now_gettext("Open")}
        result = []
        for one in rows:
            row = dict(zip(FIELDS, one, strict=True))
            if row["state"] in LIVE_STATES and row["expires_at"] <= now:
                row["state"] = RequestState.EXPIRED
            row["act"] = acts[row["mine"] == 0]
            own = row["submitted_by"] == user.pk
            team = row["plan__revision__deployment__team"]
            result.append(
                TableRow(
                    pk=row["pk"],
                    values=tuple(value(row) for value in values),
                    open_to=own and row["state"] in LIVE_STATES and team in operated,
                )
            )
        return result


def _title(row: Mapping[str, Any]) -> str:
    return f"{row['plan__revision__deployment__name']} r{row['plan__revision__number']}"


def _name(row: Mapping[str, Any]) -> Link:
    return Link(
        url=address_of("approval", row["pk"]),
        text=_title(row),
        practice=row["plan__practice"],
    )


def _act(row: Mapping[str, Any]) -> Act:
    return Act(
        url=address_of("approval", row["pk"]),
        label=row["act"],
        about=_title(row),
        first=row["mine"] == 0,
    )


VALUES: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "request": _name,
    "state": lambda row: State("request", row["state"]),
    "method": lambda row: MethodChoice(
        row["plan__method"], row["plan__num_speculative_tokens"]
    ),
    "cluster": lambda row: row["plan__revision__deployment__cluster__name"],
    "by": lambda row: full_name(row, "submitted_by"),
    "asked": lambda row: row["created_at"],
    "until": lambda row: row["expires_at"],
    "decided": lambda row: row["decided_at"],
    "model": lambda row: row["plan__model_key"],
    "open": _act,
}

APPROVALS = ApprovalTable()
