"""make_plan: one revision against host snapshots, as a pure function."""

from collections.abc import Sequence
from dataclasses import replace

from deployments.planning.canary import revision_document, with_canary
from deployments.planning.caps import (
    refuse_odd_names,
    refuse_odd_text,
    refuse_oversized,
)
from deployments.planning.catalog import Checkpoint, Drafter, TargetModel
from deployments.planning.checkpoints import checkpoint_here, choose_checkpoint
from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.decision import OFF, decide
from deployments.planning.documents import to_document
from deployments.planning.engines.profile import (
    EngineProfile,
    find_profile,
    is_own_reference,
)
from deployments.planning.errors import PlanningError
from deployments.planning.expectation import Situation, expected_gain
from deployments.planning.features import features_for, with_features
from deployments.planning.measured import Measured
from deployments.planning.methods import Method
from deployments.planning.plan import Gain, Plan, Role
from deployments.planning.platforms import PLATFORMS, PRACTICE, find_platform
from deployments.planning.platforms.images import is_practice, split_reference
from deployments.planning.platforms.platform import Platform
from deployments.planning.replicas import place
from deployments.planning.revision import RevisionSpec, RoleSpec, Topology
from deployments.planning.rules import find_all
from deployments.planning.sizes import role_settings
from deployments.planning.sizing.plan_memory import plan_memory
from deployments.planning.sizing.read_weights import checkpoint_on, drafter_on
from deployments.planning.sizing.refit import refitted
from deployments.planning.snapshot import ClusterSettings, HostSnapshot
from deployments.planning.text import listed, text
from deployments.planning.topology import LayoutRequest, RoleLayout, lay_out
from deployments.planning.verdict import Question, find_drafter

ROLE_ORDER = tuple(Role)
DEFAULT_MODEL_ROOT = 1


def make_plan(  # noqa: PLR0913 - everything that a plan is a function of
    spec: RevisionSpec,
    model: TargetModel,
    hosts: Sequence[HostSnapshot],
    settings: ClusterSettings,
    engines: Sequence[EngineProfile] = (),
    *,
    measured: Sequence[Measured] = (),
) -> Plan:
    """Plan a revision. The same inputs in any order give the same bytes.

    ``engines`` are profiles that people made, for a revision whose engine names one. ``measured``
    was seen on the deployment itself, and corrects what the plan predicts.

    Raises:
        PlanningError: a host, checkpoint, engine, method or drafter is unknown, the roles do not fit
            the topology, the sizes a person gave do not divide, or there is no replica that the
            canary could stand in for.
    """
    refuse_odd_text(to_document(spec))
    refuse_odd_names(spec)
    spec = _in_order(spec)

    def made(one: RevisionSpec) -> Plan:
        return _made(one, model, hosts, settings, engines, tuple(measured))

    plan = made(replace(spec, canary=None))
    if spec.canary is not None:
        plan = with_canary(plan, spec, spec.canary, made)
    refuse_oversized(plan)
    return plan


def _made(  # noqa: PLR0913, PLR0917 - as make_plan
    spec: RevisionSpec,
    model: TargetModel,
    hosts: Sequence[HostSnapshot],
    settings: ClusterSettings,
    engines: Sequence[EngineProfile],
    measured: tuple[Measured, ...],
) -> Plan:
    """Plan a revision in which every replica of a role drafts alike."""
    used = _used_hosts(spec, hosts, settings)
    practice = is_practice(spec.image)
    platform = _platform(used, practice=practice)
    profile = _profile(spec, platform, engines, practice=practice)
    if practice:
        wanted = _engine_platforms(profile)
        checkpoint = choose_checkpoint(
            spec.checkpoint, model, wanted, practice=practice
        )
        documented_for = _documented_for(checkpoint, profile)
    else:
        checkpoint, documented_for = checkpoint_here(model, spec.checkpoint, platform)
        checkpoint = checkpoint_on(used, checkpoint)
    asked = Question(
        model=model,
        checkpoint=checkpoint,
        platform=platform,
        documented_for=documented_for,
        profile=profile,
        choice=spec.speculation,
        role=Role.DECODE if spec.topology is Topology.DISAGGREGATED else Role.COMBINED,
        own_image=spec.image is not None,
        practice=practice,
    )
    decision = decide(asked)
    method = None if decision.method == OFF else Method(decision.method)
    context = PlanContext(
        spec=spec,
        settings=settings,
        model=model,
        checkpoint=checkpoint,
        platform=platform,
        documented_for=documented_for,
        profile=profile,
        practice=practice,
        decision=decision,
        method=method,
        drafter=_drafter(asked, method, used),
        hosts=used,
        measured=measured,
    )
    used_names = {host.name for host in used}
    digests = sorted(
        (host.name, host.digest) for host in hosts if host.name in used_names
    )
    return _plan(_with_roles(context), tuple(digests))


def _drafter(
    asked: Question, method: Method | None, hosts: tuple[HostSnapshot, ...]
) -> Drafter | None:
    found = find_drafter(asked, method) if method is not None else None
    return found if found is None or asked.practice else drafter_on(hosts, found)


def _engine_platforms(profile: EngineProfile) -> tuple[str, ...]:
    return tuple(
        name for name, one in PLATFORMS.items() if one.engine == profile.engine
    )


def _documented_for(checkpoint: Checkpoint, profile: EngineProfile) -> str:
    fitting = [
        name for name in _engine_platforms(profile) if name in checkpoint.platforms
    ]
    return fitting[0] if fitting else checkpoint.platforms[0]


def _in_order(spec: RevisionSpec) -> RevisionSpec:
    roles = tuple(sorted(spec.roles, key=lambda one: ROLE_ORDER.index(one.role)))
    given = [one.role for one in roles]
    if spec.topology is Topology.DISAGGREGATED:
        wanted = [Role.PREFILL, Role.DECODE]
    else:
        wanted = [Role.COMBINED]
    if given != wanted:
        names = text("prefill and decode") if len(wanted) > 1 else Role.COMBINED.value
        raise PlanningError(
            text(
                "A {topology} deployment has exactly these roles: {names}; the revision names "
                "{given}.",
                topology=spec.topology.value,
                names=names,
                given=listed(role.value for role in given) or text("none"),
            )
        )
    return replace(
        spec,
        roles=roles,
        extra_flags=tuple(sorted(spec.extra_flags)),
        features=tuple(sorted(spec.features)),
        environment=tuple(sorted(spec.environment)),
    )


def _used_hosts(
    spec: RevisionSpec, hosts: Sequence[HostSnapshot], settings: ClusterSettings
) -> tuple[HostSnapshot, ...]:
    known = {host.name: host for host in hosts}
    names: list[str] = []
    for role in spec.roles:
        names.extend(_host_names(role, known))
    root = (
        settings.model_roots[0]
        if len(settings.model_roots) == DEFAULT_MODEL_ROOT
        else None
    )
    used = [known[name] for name in sorted(set(names))]
    return tuple(
        replace(host, model_root=host.model_root or root) if root else host
        for host in used
    )


def _host_names(role: RoleSpec, known: dict[str, HostSnapshot]) -> tuple[str, ...]:
    if not role.hosts:
        raise PlanningError(
            text(
                "The {role} role has no host; choose at least one host for it.",
                role=role.role.value,
            )
        )
    for name in role.hosts:
        if name not in known:
            names = listed(sorted(known)) or text("none")
            raise PlanningError(
                text(
                    "There is no host {name}; these hosts are known: {listed}.",
                    name=repr(name),
                    listed=names,
                )
            )
    if len(set(role.hosts)) != len(role.hosts):
        raise PlanningError(
            text(
                "The {role} role names a host twice; name it once.",
                role=role.role.value,
            )
        )
    return role.hosts


def _platform(hosts: tuple[HostSnapshot, ...], *, practice: bool) -> Platform:
    names = sorted({host.platform for host in hosts})
    if practice:
        return PRACTICE
    if len(names) > 1:
        raise PlanningError(
            text(
                "The hosts belong to different platforms ({listed}); one deployment runs on one "
                "hardware family, prefill and decode included.",
                listed=listed(names),
            )
        )
    return find_platform(names[0])


def _profile(
    spec: RevisionSpec,
    platform: Platform,
    engines: Sequence[EngineProfile],
    *,
    practice: bool,
) -> EngineProfile:
    if spec.engine is not None:
        profile = find_profile(spec.engine, engines)
        if is_own_reference(spec.engine) and spec.image is None:
            raise PlanningError(
                text(
                    "{engine} is in no official image; name the image that holds it.",
                    engine=spec.engine,
                )
            )
        if profile.engine != platform.engine and not practice:
            raise PlanningError(
                text(
                    "{engine} does not run on {platform}; use {usual}.",
                    engine=profile.engine,
                    platform=platform.title,
                    usual=platform.engine,
                )
            )
        return profile
    tag = split_reference(spec.image)[1] if practice and spec.image else None
    version = tag.removeprefix("v") if tag and tag[0].isdigit() else None
    return find_profile(
        f"{platform.engine}=={version or platform.default_engine_version}"
    )


def _with_roles(context: PlanContext) -> PlanContext:
    request = LayoutRequest(
        model=context.model,
        checkpoint=context.checkpoint,
        platform=context.platform,
        documented_for=context.documented_for,
        method=context.decision.method,
        practice=context.practice,
        context=context.spec.limits.max_model_len or 0,
    )
    by_name = {host.name: host for host in context.hosts}
    roles = tuple(
        _settled(
            context,
            _featured(
                context,
                lay_out(request, role, tuple(by_name[name] for name in role.hosts)),
            ),
        )
        for role in context.spec.roles
    )
    context = replace(context, roles=_of_one_context(roles))
    context = replace(context, memory=plan_memory(context))
    replicas, troubles, beyond = place(context)
    return replace(context, replicas=replicas, troubles=troubles, beyond=beyond)


def _featured(context: PlanContext, layout: RoleLayout) -> RoleLayout:
    known = features_for(context.model.features, context.documented_for)
    serving = with_features(layout.serving, known, context.spec.features)
    return replace(layout, serving=serving)


def _settled(context: PlanContext, layout: RoleLayout) -> RoleSettings:
    settings = role_settings(context, layout)
    fitting = refitted(context, settings, lambda wider: role_settings(context, wider))
    return fitting.of_one_length


def _of_one_context(roles: tuple[RoleSettings, ...]) -> tuple[RoleSettings, ...]:
    """The roles with the shortest context that memory left to one of them.

    A request passes through both roles: what decode would refuse, prefill need not take.
    """
    shortest = min(
        (one.max_model_len or 0 for one in roles if one.shortened_from is not None),
        default=0,
    )
    return tuple(
        replace(one, max_model_len=shortest, shortened_from=None).of_one_length
        if shortest and (one.max_model_len is None or one.max_model_len > shortest)
        else one
        for one in roles
    )


def _plan(context: PlanContext, digests: tuple[tuple[str, str], ...]) -> Plan:
    return Plan(
        deployment=context.spec.name,
        revision=revision_document(context.spec),
        engine=context.profile.engine,
        engine_version=context.profile.version,
        model=context.model.key,
        checkpoint=context.checkpoint.key,
        decision=context.decision,
        replicas=context.replicas,
        findings=find_all(context),
        snapshot_digests=digests,
        memory=context.memory,
        gain=_gain(context),
    )


def _gain(context: PlanContext) -> Gain | None:
    """What the plan's own method is expected to bring where replies are written.

    ``None`` with pipeline stages too: no published measurement has them.
    """
    if context.practice or not context.roles or context.method is None:
        return None
    settings = context.roles[-1]
    speculative, layout = settings.speculative, settings.layout
    if speculative is None or layout.pipeline_parallel_size > 1:
        return None
    return expected_gain(
        Situation(
            model=context.model,
            host=layout.hosts[0],
            quantisation=context.checkpoint.quantisation,
            role=settings.role,
            tensor_parallel_size=layout.tensor_parallel_size,
            data_parallel_size=layout.data_parallel_size,
            workload=context.spec.workload,
            concurrency=-(-context.spec.workload.concurrency // layout.instances),
            instances=layout.instances,
            measured=context.measured,
        ),
        context.method,
        speculative.num_speculative_tokens,
        context.drafter,
        draft_eager=bool(speculative.draft_eager),
    )
