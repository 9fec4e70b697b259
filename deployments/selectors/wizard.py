"""What the wizard offers a person: models, clusters and hosts, each open or closed with why."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, Subquery, UUIDField
from django.utils.translation import gettext as _

from deployments.models import (
    Cluster,
    ClusterShare,
    Host,
    PolicyVersion,
    RoleGrant,
    ShareAccess,
    TargetModel,
    Team,
    TeamRole,
    TeamSecret,
    User,
)
from deployments.selectors.engine_profiles import own_engine_names
from deployments.selectors.ready_rows import Row, asked_by, ready_rows

FEW_CLUSTERS = 8
"""So many are found at a glance; more can be searched."""
MOST_CLUSTERS = 12
"""Beyond these a list says how many more there are."""


class Also(StrEnum):
    """What not every step of the wizard needs."""

    HOSTS = "hosts"
    SECRETS = "secrets"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostChoice:
    """A host with its devices; ``free`` counts those that no release holds."""

    row: Host
    devices: int
    free: int

    @property
    def name(self) -> str:
        """The name in addresses and plans."""
        return self.row.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterChoice:
    """A cluster with its hosts; ``closed`` says why this person cannot plan on it, or is empty.

    ``team`` is the one for which they would plan there: the cluster's, or a guest of it.
    ``hosts`` is empty where the clusters are only listed (``wizard_choices``); ``told_apart`` says
    that environments have rules of their own there.
    """

    row: Cluster
    team: Team
    host_names: tuple[str, ...]
    platforms: frozenset[str]
    hosts: tuple[HostChoice, ...]
    closed: str
    told_apart: bool = False

    @property
    def key(self) -> str:
        """The id in addresses."""
        return str(self.row.pk)

    def host(self, name: str) -> HostChoice | None:
        """The host of that name."""
        return next((host for host in self.hosts if host.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WizardChoices:
    """Everything that an address may name, as this person may see it."""

    models: tuple[TargetModel, ...] = ()
    clusters: tuple[ClusterChoice, ...] = ()
    engines: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()

    def cluster(self, key: str) -> ClusterChoice | None:
        """The cluster of that id."""
        wanted = _uuid(key)
        return next((one for one in self.clusters if one.row.pk == wanted), None)

    def model(self, key: str, cluster: ClusterChoice | None) -> TargetModel | None:
        """The model of that key: the entry of the cluster's team before the shipped one."""
        usable = [
            row for row in self.models if row.key == key and _usable(row, cluster)
        ]
        return next(iter(sorted(usable, key=lambda row: row.team_id is None)), None)


def cluster_options(
    clusters: Iterable[ClusterChoice], *, search: str, chosen: ClusterChoice | None
) -> list[ClusterChoice]:
    """Clusters that hold every word of ``search`` by name, team or host; the chosen one always, first."""
    words = search.casefold().split()
    found = [one for one in clusters if one != chosen and _named(one, words)]
    return [chosen, *found] if chosen else found


def _named(cluster: ClusterChoice, words: Sequence[str]) -> bool:
    names = (cluster.row.name, cluster.row.team.name, *cluster.host_names)
    said = "\n".join(names).casefold()
    return all(word in said for word in words)


def wizard_choices(
    user: User,
    *,
    model_key: str | None,
    cluster_key: str | None,
    engine: str | None = None,
    also: Collection[Also] = (Also.HOSTS,),
) -> WizardChoices:
    """Read what the person may choose from, in five queries at most.

    Unless ``Also.HOSTS`` only names and platforms of hosts are read, since a fleet is large.
    ``model_key``, ``cluster_key`` and ``engine`` limit the reading to that model, cluster and
    engine version; ``None`` reads the whole catalog, every cluster, all profiles people made.
    """
    clusters = _clusters(user, cluster_key, with_hosts=Also.HOSTS in also)
    return WizardChoices(
        models=_models(user, model_key),
        clusters=clusters,
        engines=own_engine_names(engine),
        secrets=_secrets(clusters) if Also.SECRETS in also else (),
    )


def _secrets(clusters: tuple[ClusterChoice, ...]) -> tuple[str, ...]:
    teams = {one.team.pk for one in clusters}
    rows = TeamSecret.objects.filter(team__in=teams)
    return tuple(rows.values_list("name", flat=True).distinct().order_by("name"))


def _models(user: User, key: str | None) -> tuple[TargetModel, ...]:
    if key is None:
        return tuple(TargetModel.objects.for_user(user))
    return tuple(TargetModel.objects.for_user(user).filter(key=key)) if key else ()


def _clusters(
    user: User, key: str | None, *, with_hosts: bool
) -> tuple[ClusterChoice, ...]:
    wanted = _uuid(key) if key is not None else None
    if key is not None and wanted is None:
        return ()
    operates = RoleGrant.objects.filter(
        role=TeamRole.OPERATOR,
        membership__user=user,
        membership__team=OuterRef("team"),
    )
    shares = ClusterShare.objects.filter(
        cluster=OuterRef("pk"), team__memberships__user=user
    ).order_by("team__name")
    guests = shares.filter(
        access=ShareAccess.DEPLOY,
        team__memberships__user=user,
        team__memberships__grants__role=TeamRole.OPERATOR,
    )
    rules = PolicyVersion.objects.filter(cluster=OuterRef("pk")).order_by("-number")
    clusters = (
        Cluster.objects.for_user_or_guest(user)
        .select_related("team")
        .annotate(
            operates=Exists(operates),
            acting=Subquery(guests.values("team")[:1], output_field=UUIDField()),
            seen_by=Subquery(shares.values("team")[:1], output_field=UUIDField()),
            rules=Subquery(rules.values("rules")[:1]),
        )
        .order_by("team__name", "name")
    )
    if wanted is not None:
        clusters = clusters.filter(pk=wanted)
    teams = _guests([one for one in clusters if not one.operates])
    hosts: dict[UUID, list[HostChoice]] = {}
    for host in _hosts(user, wanted) if with_hosts else ():
        hosts.setdefault(host.row.cluster_id, []).append(host)
    named: dict[UUID, list[tuple[str, str]]] = {
        key: [(host.name, host.row.platform) for host in found]
        for key, found in hosts.items()
    }
    for cluster_id, name, platform in () if with_hosts else _names(user):
        named.setdefault(cluster_id, []).append((name, platform))
    return tuple(
        ClusterChoice(
            row=cluster,
            team=teams.get(cluster.pk, cluster.team),
            host_names=tuple(name for name, _platform in named.get(cluster.pk, ())),
            platforms=frozenset(one for _name, one in named.get(cluster.pk, ())),
            hosts=tuple(hosts.get(cluster.pk, ())),
            closed=""
            if cluster.operates or cluster.acting
            else _closed(cluster, teams.get(cluster.pk)),
            told_apart=bool((cluster.rules or {}).get("environments")),
        )
        for cluster in clusters
    )


def _names(user: User) -> list[Row]:
    """Cluster, name and platform of each host that the person sees."""
    return ready_rows(
        ("names of hosts", asked_by(user)),
        lambda: (
            Host.objects.for_user_or_guest(user)
            .order_by("name")
            .values_list("cluster_id", "name", "platform")
        ),
    )


def _hosts(user: User, cluster: UUID | None) -> list[HostChoice]:
    taken = Q(bookings__released_at=None, bookings__device__isnull=False)
    rows = (
        Host.objects.for_user_or_guest(user)
        .select_related("probe", "model_listing")
        .annotate(
            device_total=Count("devices", distinct=True),
            device_taken=Count("bookings", filter=taken, distinct=True),
        )
        .order_by("name")
    )
    if cluster is not None:
        rows = rows.filter(cluster=cluster)
    return [
        HostChoice(
            row=row,
            devices=row.device_total,
            free=max(0, row.device_total - row.device_taken),
        )
        for row in rows
    ]


def _guests(clusters: list[Any]) -> dict[UUID, Team]:
    """For whom the person acts on clusters that they do not operate; no query where none is shared."""
    named = {one.pk: one.acting or one.seen_by for one in clusters}
    wanted = {team for team in named.values() if team is not None}
    teams = Team.objects.in_bulk(wanted) if wanted else {}
    return {key: teams[team] for key, team in named.items() if team is not None}


def _closed(cluster: Cluster, guest: Team | None) -> str:
    if guest is not None:
        return _(
            "%(owner)s shares this cluster with your team %(team)s; to deploy there, be an operator of it and have it shared for deployments."
        ) % {"owner": cluster.team.name, "team": guest.name}
    return _(
        "You are no operator in the team %(team)s; ask its admin for that role."
    ) % {"team": cluster.team.name}


def _usable(row: TargetModel, cluster: ClusterChoice | None) -> bool:
    if row.team_id is None or cluster is None:
        return True
    return row.team_id == cluster.team.pk


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
