"""The table of deployments: what runs, where, and what was accepted in the last 24 hours."""

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import (
    Case,
    Exists,
    F,
    FilteredRelation,
    OuterRef,
    Q,
    Subquery,
    When,
)
from django.utils.translation import gettext_lazy as _

from deployments.models import (
    CHANGING_STATES,
    Deployment,
    Release,
    ReleaseState,
    Replica,
    Standing,
    TableKey,
    TeamRole,
    User,
)
from deployments.selectors.acceptance_summary import Lengths, lengths_of
from deployments.selectors.access import team_ids_with_role
from deployments.selectors.ready_rows import AmongGiven, Row, ready_rows
from deployments.selectors.releases import may_be_stopped
from deployments.selectors.standings import NOT_SPECULATING, stale_edge
from deployments.selectors.tables.addresses import address_of
from deployments.selectors.tables.choices import Choices, cluster_filter
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
from deployments.selectors.tables.table import BulkAct, Table

FAILED_STATES = (ReleaseState.FAILED, ReleaseState.BLOCKED)
TELLING = (*CHANGING_STATES, *FAILED_STATES)
"""States of the newest release that say more than that of the live one."""
FIELDS = (
    "pk",
    "name",
    "cluster__name",
    "team_id",
    "created_at",
    "current__pk",
    "current__state",
    "current__state_since",
    "current__plan__method",
    "current__plan__num_speculative_tokens",
    "current__plan__practice",
    "current__plan__model_key",
    "current__live_at",
    "standing__heard_at",
    "standing__verdict",
    "newest_state",
)
_OF_ROW = Release.objects.filter(deployment=OuterRef("pk"))
_LIVE_FIRST = _OF_ROW.order_by(
    Case(When(state=ReleaseState.LIVE, then=0), default=1), "-number"
)
_FOUND: Any = Deployment.objects.annotate(
    current=FilteredRelation(
        "releases", condition=Q(releases__pk=Subquery(_LIVE_FIRST.values("pk")[:1]))
    ),
    newest_state=Subquery(_OF_ROW.order_by("-number").values("state")[:1]),
)
"""Deployments with the release that each row shows; made once, for making it takes a millisecond."""
_STATE = Case(
    When(newest_state__in=TELLING, then=F("newest_state")), default=F("current__state")
)
MEASURED = frozenset({"course", "length", "rate"})


def _show_choices(user: User) -> Choices:
    del user
    return [
        ("", _("All")),
        ("live", _("Live")),
        ("changing", _("Changing")),
        ("failed", _("Failed")),
        ("silent", _("No data")),
    ]


_NEWER = Release.objects.filter(
    deployment=OuterRef("deployment"), number__gt=OuterRef("number")
)
_SHOWN = {
    "live": Exists(_OF_ROW.filter(state=ReleaseState.LIVE)),
    "changing": Exists(_OF_ROW.filter(state__in=CHANGING_STATES)),
    "failed": Exists(_OF_ROW.filter(~Exists(_NEWER), state__in=FAILED_STATES)),
}


def _show(rows: Rows, value: str, user: User) -> Rows:
    del user
    if value == "silent":
        edge = stale_edge()
        live = _OF_ROW.filter(state=ReleaseState.LIVE, live_at__lt=edge)
        unheard = Q(standing__heard_at=None) | Q(standing__heard_at__lt=edge)
        return rows.filter(
            unheard, Exists(live.exclude(plan__method__in=NOT_SPECULATING))
        )
    return rows.filter(_SHOWN[value]) if value in _SHOWN else rows


class DeploymentTable(Table):
    """Deployments with the release that runs, else the newest one."""

    key = TableKey.DEPLOYMENTS
    url_name = "deployment-list"
    fields = FIELDS
    order = "name"
    search_hint = _("name, cluster or model")
    bulk = BulkAct(
        url_name="deployment-list-stop",
        label=_("Stop"),
        question=_(
            "Clients of the selected deployments get no answer any more. The containers stop "
            "and their logs stay readable."
        ),
    )
    empty = _(
        "Nothing is deployed yet. Plan a deployment, have it approved, and it appears here."
    )
    action = ("plan", _("Plan a deployment"))
    source = _(
        "Last 24 hours, from the counts that the engines logged: length is 1 + accepted / "
        "drafts, rate is accepted / drafted. Prefill replicas are left out."
    )
    columns = (
        Column(
            key="name",
            title=_("Deployment"),
            kind=Kind.LINK,
            sort=("name",),
            wide=True,
        ),
        Column(
            key="state",
            title=_("State"),
            kind=Kind.STATE,
            sort=(_STATE,),
            nullable=True,
            none=_("Never deployed"),
        ),
        Column(
            key="method",
            title=_("Method"),
            kind=Kind.METHOD,
            sort=("current__plan__method", "current__plan__num_speculative_tokens"),
            nullable=True,
        ),
        Column(key="hosts", title=_("Hosts"), kind=Kind.WORDS, none=_("none")),
        Column(key="course", title=_("Length over 24 h"), kind=Kind.SPARK, wide=True),
        Column(
            key="length",
            title=_("Mean length"),
            kind=Kind.FIGURE,
        ),
        Column(
            key="rate",
            title=_("Rate"),
            kind=Kind.PERCENT,
        ),
        Column(
            key="verdict",
            title=_("Verdict"),
            kind=Kind.STATE,
            none=_("not live"),
        ),
        Column(
            key="model",
            title=_("Model"),
            kind=Kind.TEXT,
            sort=("current__plan__model_key",),
            nullable=True,
            shown=False,
            wide=True,
        ),
        Column(
            key="cluster",
            title=_("Cluster"),
            kind=Kind.TEXT,
            sort=("cluster__name",),
            shown=False,
        ),
        Column(
            key="since",
            title=_("State since"),
            kind=Kind.MOMENT,
            sort=("current__state_since",),
            nullable=True,
            shown=False,
        ),
        Column(
            key="created",
            title=_("Created"),
            kind=Kind.MOMENT,
            sort=("created_at",),
            shown=False,
        ),
    )
    filters = (
        Filter(
            key="show", title=_("Show"), choices=_show_choices, keep=_show, strip=True
        ),
        cluster_filter("cluster"),
    )

    def scope(self, user: User) -> Rows:
        """Deployments of the person's teams."""
        return Deployment.objects.for_user(user)

    def detailed(self, user: User) -> Rows:
        """The same with the release that each row shows."""
        found: Rows = _FOUND.for_user(user)
        return found

    def matching(self, rows: Rows, word: str) -> Rows:
        """By the name, the cluster's name, or the model of any plan."""
        of_row = Release.objects.filter(deployment=OuterRef("pk"))
        return rows.filter(
            Q(name__icontains=word)
            | Q(cluster__name__icontains=word)
            | Exists(of_row.filter(plan__model_key__icontains=word))
        )

    def ordered_by(self, rows: Rows, column: str, user: User) -> Rows:
        """Everything stands in every row."""
        del column, user
        return rows

    def read(
        self, rows: Iterable[Row], wanted: tuple[str, ...], user: User
    ) -> list[TableRow]:
        """Read the rest of the page in three queries, fewer where a column is left out."""
        found = [_Found._make(row) for row in rows]
        measured = MEASURED.intersection(wanted)
        deployments = [one.pk for one in found]
        lengths = lengths_of(deployments, time.time_ns()) if measured else {}
        mine = team_ids_with_role(user, TeamRole.OPERATOR)
        runs = _replicas(found) if mine or "hosts" in wanted else {}
        values = [VALUES[key] for key in wanted]
        result = []
        for one in found:
            parts = _Parts(one, runs.get(one.release, ()), lengths)
            result.append(
                TableRow(
                    pk=one.pk,
                    values=tuple(value(parts) for value in values),
                    open_to=one.team in mine and one.stoppable(parts.replicas),
                )
            )
        return result


class _Found(NamedTuple):
    """One row as the database gives it, in the order of ``FIELDS``."""

    pk: uuid.UUID
    name: str
    cluster: str
    team: uuid.UUID
    created_at: Any
    release: uuid.UUID | None
    release_state: str | None
    since: Any
    method: str | None
    number: int | None
    practice: bool | None
    model: str | None
    live_at: Any
    heard_at: Any
    judged: str | None
    newest_state: str | None

    @property
    def verdict(self) -> str:
        """How acceptance stands, ``stale`` when nothing was heard lately; empty if nothing is live."""
        if self.release_state != ReleaseState.LIVE:
            return ""
        if self.method in NOT_SPECULATING:
            return Standing.OFF
        heard = max(self.heard_at or self.live_at, self.live_at)
        if heard < stale_edge():
            return Standing.STALE
        return self.judged or Standing.NO_DATA

    @property
    def state(self) -> str:
        return (
            self.newest_state
            if self.newest_state in TELLING
            else self.release_state or ""
        )

    def stoppable(self, replicas: Iterable["_Replica"]) -> bool:
        return self.newest_state not in CHANGING_STATES and may_be_stopped(
            self.release_state or "", replicas
        )


class _Replica(NamedTuple):
    """What a row needs of each replica of its release."""

    release: uuid.UUID
    host: str
    container_id: str
    state: str


class _Parts(NamedTuple):
    found: _Found
    replicas: Sequence[_Replica]
    lengths: Mapping[uuid.UUID, Lengths]


def _name(parts: _Parts) -> Link:
    found = parts.found
    return Link(
        url=address_of("deployment", found.pk),
        text=found.name,
        note=found.cluster,
        practice=bool(found.practice),
    )


def _lengths(parts: _Parts) -> Lengths:
    return parts.lengths[parts.found.pk]


def _hosts_of(parts: _Parts) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.host for one in parts.replicas))


VALUES: Mapping[str, Callable[[_Parts], Any]] = {
    "name": _name,
    "state": lambda parts: State("release", parts.found.state),
    "method": lambda parts: MethodChoice(parts.found.method, parts.found.number),
    "hosts": _hosts_of,
    "course": lambda parts: _lengths(parts).course,
    "length": lambda parts: _lengths(parts).mean_acceptance_length,
    "rate": lambda parts: _lengths(parts).acceptance_rate,
    "verdict": lambda parts: State("acceptance", parts.found.verdict),
    "model": lambda parts: parts.found.model,
    "cluster": lambda parts: parts.found.cluster,
    "since": lambda parts: parts.found.since,
    "created": lambda parts: parts.found.created_at,
}


def _replicas(found: Iterable[_Found]) -> dict[uuid.UUID | None, list[_Replica]]:
    """The replicas of each shown release."""
    releases = [one.release for one in found if one.release]
    replicas: dict[uuid.UUID | None, list[_Replica]] = {}
    for row in ready_rows("replicas of releases", _of_releases, releases=releases):
        one = _Replica._make(row)
        replicas.setdefault(one.release, []).append(one)
    return replicas


def _of_releases() -> Rows:
    of_releases = AmongGiven("release_id", "releases", Release._meta.pk)
    rows = Replica.objects.filter(of_releases).order_by("role", "rank")
    return rows.values_list("release_id", "host__name", "container_id", "state")


DEPLOYMENTS = DeploymentTable()
