"""Draft: what an address of the wizard means for a person, planned as far as it goes."""

from dataclasses import dataclass, replace

from django.http import QueryDict

from deployments.forms.wizard.form import WizardForm
from deployments.forms.wizard.spec import chosen_hosts, spec_from
from deployments.forms.wizard.steps import CLUSTER, Step
from deployments.models import Host, User
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan
from deployments.planning.platforms.devices import device_memory
from deployments.planning.revision import RevisionSpec, SpeculationChoice
from deployments.planning.snapshot import ClusterSettings, HostSnapshot
from deployments.planning.text import text
from deployments.selectors.texts import say_error
from deployments.selectors.wizard import Also, wizard_choices
from deployments.services.plans import PlanInputs, PlanningGround, ground_on_cluster

DEVICES_UNASKED = {"ascend-a2": 8, "ascend-a3": 16, "nvidia": 8}
"""Devices of a host that nobody counted: Atlas A2 and A3 as built, NVIDIA as an eight-GPU server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The form with what could be made of it.

    ``inputs`` are the rows behind it and ``None`` for an export without a host. ``refusal`` is the
    planner's sentence where a complete form cannot be planned.
    """

    form: WizardForm
    spec: RevisionSpec | None = None
    inputs: PlanInputs | None = None
    ground: PlanningGround | None = None
    plan: Plan | None = None
    refusal: str = ""

    @property
    def step(self) -> Step:
        """The step that is shown."""
        return self.form.step

    @property
    def usable(self) -> bool:
        """Whether every value was read and a plan came out."""
        return self.plan is not None and not self.form.errors

    @property
    def can_submit(self) -> bool:
        """Whether this may be put to the vote by somebody with the role."""
        return (
            self.usable
            and self.inputs is not None
            and self.plan is not None
            and self.plan.can_submit
        )

    def variant(self, spec: RevisionSpec) -> Plan | None:
        """Another revision planned on the same reading of the fleet; ``None`` if it cannot be."""
        if self.ground is None:
            return None
        try:
            return self.ground.plan(spec)
        except PlanningError:
            return None

    def undecided(self) -> Plan | None:
        """The plan that leaves the method to the decision tree."""
        if self.spec is None:
            return None
        drafter = self.spec.speculation.drafter
        if self.spec.speculation == SpeculationChoice(drafter=drafter):
            return self.plan
        return self.variant(
            replace(self.spec, speculation=SpeculationChoice(drafter=drafter))
        )


def read_draft(user: User, query: QueryDict, step: Step | None = None) -> Draft:
    """Read an address and plan it. ``step`` reads only what that step needs."""
    step = step or WizardForm.step_of(query)
    choices = wizard_choices(
        user,
        model_key=None if step is Step.MODEL else query.get("model", "").strip(),
        cluster_key=None
        if step is Step.HARDWARE or query.get("cluster") is None
        else query.get("cluster", "").strip(),
        engine=None if step is Step.DETAILS else query.get("engine", "").strip(),
        also=_also(query, step),
    )
    form = WizardForm(query, choices, step=step)
    form.is_valid()
    spec = spec_from(form)
    if spec is None:
        return Draft(form=form)
    inputs = _inputs(form)
    try:
        ground = _ground(form, inputs, spec.name)
    except PlanningError as error:
        return Draft(form=form, spec=spec, refusal=say_error(error))
    draft = Draft(form=form, spec=spec, inputs=inputs, ground=ground)
    try:
        return replace(draft, plan=ground.plan(spec))
    except PlanningError as error:
        return replace(draft, refusal=say_error(error))


def _also(query: QueryDict, step: Step) -> set[Also]:
    """Hosts are planned on and chosen where a cluster is; secrets are chosen among the details."""
    wanted = {Also.HOSTS: bool(query.get("cluster", "").strip())}
    wanted[Also.SECRETS] = step is Step.DETAILS
    return {part for part, is_wanted in wanted.items() if is_wanted}


def export_hosts(form: WizardForm) -> tuple[HostSnapshot, ...]:
    """Hosts that nobody has: a platform, so many times, with what the form says of it."""
    value = form.cleaned_data
    platform = value.get("platform") or ""
    memory = value.get("platform_memory")
    devices = value.get("platform_devices")
    device = value.get("platform_device") or None
    return tuple(
        HostSnapshot(
            name=name,
            platform=platform,
            device=device,
            device_count=DEVICES_UNASKED.get(platform, 0)
            if devices is None
            else devices,
            device_memory_bytes=device_memory(platform, device)
            if memory is None
            else memory << 30,
            architecture=value.get("platform_architecture") or None,
        )
        for name in chosen_hosts(form)
    )


def _inputs(form: WizardForm) -> PlanInputs | None:
    if form.cluster_choice is None or form.model_row is None:
        return None
    hosts: list[Host] = []
    for name in chosen_hosts(form):
        host = form.cluster_choice.host(name)
        if host is not None:
            hosts.append(host.row)
    return PlanInputs(
        cluster=form.cluster_choice.row,
        hosts=tuple(hosts),
        model=form.model_row,
        team=form.cluster_choice.team,
    )


def _ground(form: WizardForm, inputs: PlanInputs | None, name: str) -> PlanningGround:
    if inputs is not None:
        return ground_on_cluster(inputs, name, just_read=True)
    if form.entry is None or form.cleaned_data.get("place") == CLUSTER:
        raise PlanningError(text("Choose a model and the hosts first."))
    return PlanningGround(
        number=1,
        model=form.entry,
        hosts=export_hosts(form),
        settings=ClusterSettings(files_only=True),
    )
