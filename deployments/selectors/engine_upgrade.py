"""One deployment under another engine version: planned twice today, with each version once."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import Exists, Max, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from deployments.models import (
    Deployment,
    Host,
    OwnEngineProfile,
    Release,
    ReleaseState,
    Revision,
    RoleGrant,
    TargetModel,
    TeamRole,
    User,
)
from deployments.models import Plan as PlanRow
from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.planning.documents import from_document
from deployments.planning.engines.profile import (
    EngineProfile,
    find_profile,
    parse_engine_profile,
    profiles_of,
)
from deployments.planning.errors import PlanningError
from deployments.planning.launch.files import launch_files
from deployments.planning.plan import Plan, Severity
from deployments.planning.planner import make_plan
from deployments.planning.platforms.images import is_practice
from deployments.planning.revision import RevisionSpec
from deployments.planning.rules.launch.lint import lint
from deployments.planning.rules.launch.rule import LaunchFinding
from deployments.planning.rules.launch.settings import LintSettings
from deployments.planning.snapshot import HostSnapshot
from deployments.planning.upgrade import (
    Effect,
    retagged,
    upgrade_effects,
    usage_of,
)
from deployments.planning.versions import FINAL, parse_version
from deployments.selectors.planning_inputs import (
    catalog_entry,
    cluster_settings,
    host_snapshots,
    secret_versions,
)
from deployments.selectors.plans import stored_plan
from deployments.selectors.texts import say_error

WORTH_READING = (Severity.ERROR, Severity.WARNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgradable:
    """A deployment, the number of its next revision, and whether this person may submit one."""

    row: Deployment
    next_number: int
    operates: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionGroup:
    """Versions to choose from, newest first; ``kind`` is final, own or candidate."""

    kind: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """What a deployment is planned with, and the versions that it could have.

    ``live`` says that the plan is of the release that runs. ``newest`` is the newest final release
    where that is newer than the deployment's own version, else empty.
    """

    deployment: Upgradable
    stored: Plan
    spec: RevisionSpec
    live: bool
    current: str
    groups: tuple[VersionGroup, ...]
    newest: str

    @property
    def names(self) -> frozenset[str]:
        """Every version that may be chosen."""
        return frozenset(name for group in self.groups for name in group.names)

    @property
    def own_image(self) -> str | None:
        """The image that the revision names itself, the practice image left out."""
        return None if is_practice(self.spec.image) else self.spec.image


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineUpgrade:
    """What the chosen version changes.

    ``before`` and ``after`` are the revision planned today with either version, ``None`` where the
    planner refuses; ``refusal`` is its sentence for the new one. ``old`` is ``None`` where nobody
    has the profile of the deployment's own version any more. ``lint`` are errors and warnings of
    the rules for launches that the plan itself does not have.
    """

    choice: EngineChoice
    new: EngineProfile
    old: EngineProfile | None
    spec: RevisionSpec
    before: Plan | None
    after: Plan | None
    refusal: str
    effects: tuple[Effect, ...]
    lint: tuple[LaunchFinding, ...]

    @property
    def base(self) -> Plan:
        """What the new plan is compared with: today's with the old version, else the stored one."""
        return self.before or self.choice.stored

    @property
    def blocked(self) -> bool:
        """Whether the new revision cannot be submitted as it is."""
        return self.after is None or not self.after.can_submit


class UpgradeError(Exception):
    """This deployment cannot be compared under another version; the message says why."""


def upgradable(user: User, pk: uuid.UUID) -> Upgradable | None:
    """The deployment, if it is of one of the person's teams; one query."""
    operator = RoleGrant.objects.filter(
        role=TeamRole.OPERATOR,
        membership__user=user,
        membership__team=OuterRef("team"),
    )
    newest = (
        Revision.objects.filter(deployment=OuterRef("pk"))
        .order_by()
        .values("deployment")
        .annotate(newest=Max("number"))
        .values("newest")
    )
    row = (
        Deployment.objects.for_user(user)
        .select_related("cluster", "team")
        .annotate(operates=Exists(operator), newest=Coalesce(Subquery(newest), 0))
        .filter(pk=pk)
        .first()
    )
    if row is None:
        return None
    return Upgradable(row=row, next_number=row.newest + 1, operates=row.operates)


def engine_choice(deployment: Upgradable) -> EngineChoice:
    """Read what the deployment is planned with, in two queries.

    Raises:
        UpgradeError: nothing was planned, or what was cannot be read any more.
    """
    live = Release.objects.filter(plan=OuterRef("pk"), state=ReleaseState.LIVE)
    found = (
        PlanRow.objects.filter(revision__deployment=deployment.row)
        .annotate(live=Exists(live))
        .select_related("revision")
        .order_by("-live", "-revision__number", "-created_at")
        .first()
    )
    if found is None:
        raise UpgradeError(
            _("Nothing was planned under this name yet; plan a first revision.")
        )
    try:
        stored = stored_plan(found)
        spec = from_document(RevisionSpec, found.revision.document)
        shipped = profiles_of(stored.engine)
    except PlanningError as error:
        raise UpgradeError(say_error(error)) from error
    own = OwnEngineProfile.objects.filter(engine=stored.engine)
    current = f"{stored.engine}=={stored.engine_version}"
    return EngineChoice(
        deployment=deployment,
        stored=stored,
        spec=spec,
        live=found.live,
        current=current,
        groups=_groups(shipped, tuple(own.values_list("name", flat=True))),
        newest=_newer(shipped, current),
    )


def engine_upgrade(
    user: User, choice: EngineChoice, wanted: str, image: str
) -> EngineUpgrade:
    """Plan the deployment with either version on one reading of the fleet, in six queries.

    ``image`` is what a person typed; empty takes the platform's, or for a revision with an image
    of its own that name with the new version in its tag.

    Raises:
        UpgradeError: the model is no longer in the catalog, or a profile cannot be read.
    """
    row, spec = choice.deployment.row, choice.spec
    entry = _entry(user, row, spec.model)
    try:
        own = _own_profiles(choice.current, wanted)
        new = find_profile(wanted, own)
    except PlanningError as error:
        raise UpgradeError(say_error(error)) from error
    old = _found(choice.current, own)
    hosts = _hosts(row, spec)
    ground = _Ground(deployment=choice.deployment, entry=entry, hosts=hosts, own=own)
    later = replace(spec, engine=new.name, image=_image(choice, new, image))
    before, _why = (
        ground.plan(replace(spec, engine=choice.current)) if old else (None, "")
    )
    after, refusal = ground.plan(later)
    base = before or choice.stored
    return EngineUpgrade(
        choice=choice,
        new=new,
        old=old,
        spec=later,
        before=before,
        after=after,
        refusal=refusal,
        effects=upgrade_effects(
            usage_of(base), usage_of(after) if after else None, old, new
        )
        if old
        else (),
        lint=_lint(after, new, ground.hosts) if after else (),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    deployment: Upgradable
    entry: CatalogEntry
    hosts: tuple[HostSnapshot, ...]
    own: tuple[EngineProfile, ...]

    def plan(self, spec: RevisionSpec) -> tuple[Plan | None, str]:
        """The plan of the next revision, or why there is none."""
        numbered = replace(spec, number=self.deployment.next_number)
        cluster = self.deployment.row.cluster
        settings = replace(
            cluster_settings(cluster),
            secrets=secret_versions(self.deployment.row.team_id, spec.api_key),
        )
        try:
            plan = make_plan(numbered, self.entry, self.hosts, settings, self.own)
        except PlanningError as error:
            return None, say_error(error)
        return plan, ""


def _groups(
    shipped: Sequence[EngineProfile], own: tuple[str, ...]
) -> tuple[VersionGroup, ...]:
    newest_first = [(one.name, _is_final(one)) for one in reversed(shipped)]
    groups = (
        VersionGroup(
            kind="final", names=tuple(name for name, final in newest_first if final)
        ),
        VersionGroup(kind="own", names=tuple(reversed(own))),
        VersionGroup(
            kind="candidate",
            names=tuple(name for name, final in newest_first if not final),
        ),
    )
    return tuple(group for group in groups if group.names)


def _is_final(profile: EngineProfile) -> bool:
    return parse_version(profile.version).stage >= FINAL


def _newer(shipped: Sequence[EngineProfile], current: str) -> str:
    final = [one for one in shipped if _is_final(one)]
    release = parse_version(current.partition("==")[2].partition("+")[0])
    newer = final and parse_version(final[-1].version) > release
    return final[-1].name if newer else ""


def _entry(user: User, row: Deployment, key: str) -> CatalogEntry:
    """The entry of the deployment's team before the shipped one."""
    team = row.team_id
    rows = TargetModel.objects.for_user(user).filter(
        Q(team=team) | Q(team=None), key=key
    )
    found = next(iter(sorted(rows, key=lambda one: one.team_id is None)), None)
    if found is None:
        raise UpgradeError(
            _("The catalog no longer has %(model)s, so nothing can be planned for it.")
            % {"model": key}
        )
    try:
        return catalog_entry(found)
    except PlanningError as error:
        raise UpgradeError(say_error(error)) from error


def _own_profiles(*references: str) -> tuple[EngineProfile, ...]:
    named = [one for one in references if "+" in one]
    rows = OwnEngineProfile.objects.filter(name__in=named) if named else ()
    return tuple(parse_engine_profile(row.document) for row in rows)


def _found(reference: str, own: tuple[EngineProfile, ...]) -> EngineProfile | None:
    try:
        return find_profile(reference, own)
    except PlanningError:
        return None


def _hosts(row: Deployment, spec: RevisionSpec) -> tuple[HostSnapshot, ...]:
    names = {name for role in spec.roles for name in role.hosts}
    rows = Host.objects.filter(cluster=row.cluster, name__in=names)
    rows = rows.select_related("probe", "model_listing")
    return host_snapshots(rows, just_read=True, except_deployment=row.name)


def _image(choice: EngineChoice, new: EngineProfile, typed: str) -> str | None:
    if is_practice(choice.spec.image):
        return choice.spec.image
    if typed or choice.own_image is None:
        return typed or None
    return retagged(choice.own_image, choice.current.partition("==")[2], new.version)


def _lint(
    plan: Plan, new: EngineProfile, hosts: tuple[HostSnapshot, ...]
) -> tuple[LaunchFinding, ...]:
    settings = LintSettings(
        platform=hosts[0].platform if hosts else None,
        engine=new.engine,
        engine_version=new.version,
        own=(new,) if "+" in new.version else (),
    )
    known = {one.code for one in plan.findings}
    judged = {one.evidence for one in plan.findings if one.evidence}
    found = {
        (one.code, one.message): one
        for path, content in launch_files(plan)
        if path.endswith(".yaml")
        for one in lint(content, settings).findings
        if one.severity in WORTH_READING
        and one.code not in known
        and one.evidence not in judged
    }
    return tuple(found.values())
