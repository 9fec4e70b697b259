"""The wizard's state as a RevisionSpec, and a RevisionSpec as an address of the wizard."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import QueryDict

from deployments.forms.wizard.details import OWN_IMAGE, PRACTICE_IMAGE
from deployments.forms.wizard.environment import write_environment
from deployments.forms.wizard.flags import write_flags
from deployments.forms.wizard.form import WizardForm, suggested_name
from deployments.forms.wizard.steps import (
    CLUSTER,
    Step,
)
from deployments.forms.wizard.switches import write_switches
from deployments.forms.wizard.workloads import BY_KEY, OWN, preset_of
from deployments.models import Cluster
from deployments.planning.decision import AUTO
from deployments.planning.methods import normalise_method
from deployments.planning.plan import Role
from deployments.planning.platforms import PRACTICE
from deployments.planning.platforms.images import PRACTICE_REPOSITORY
from deployments.planning.revision import (
    Goal,
    Limits,
    RevisionSpec,
    RoleSpec,
    SpeculationChoice,
    Topology,
    Workload,
)

PRACTICE_REFERENCE = f"{PRACTICE_REPOSITORY}:{PRACTICE.default_engine_version}"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Typed access to the cleaned values of a form."""

    form: WizardForm

    def number(self, name: str) -> int | None:
        value = self.form.value(name)
        return value if isinstance(value, int) else None

    def text(self, name: str) -> str | None:
        value = self.form.value(name)
        return value if isinstance(value, str) and value else None

    def names(self, name: str) -> tuple[str, ...]:
        value = self.form.value(name)
        return value if isinstance(value, tuple) else ()


def spec_from(form: WizardForm) -> RevisionSpec | None:
    """The revision that a valid form describes; ``None`` until model and hosts are chosen."""
    read = _Reader(form)
    hosts = chosen_hosts(form)
    if form.entry is None or not hosts:
        return None
    topology = Topology(read.text("topology") or Topology.COMBINED)
    return RevisionSpec(
        name=read.text("name") or suggested_name(form.entry.key),
        model=form.entry.key,
        checkpoint=read.text("checkpoint"),
        engine=read.text("engine"),
        image=_image(read),
        speculation=_speculation(read),
        topology=topology,
        roles=_roles(read, topology, hosts),
        workload=workload_from(form),
        limits=Limits(
            max_model_len=read.number("max_model_len"),
            max_num_seqs=read.number("max_num_seqs"),
            max_num_batched_tokens=read.number("max_num_batched_tokens"),
            gpu_memory_utilization_percent=read.number("memory_percent"),
        ),
        served_model_name=read.text("served_model_name"),
        extra_flags=form.cleaned_data.get("extra_flags") or (),
        features=form.cleaned_data.get("features") or (),
        environment=form.cleaned_data.get("environment") or (),
        api_key=read.text("api_key"),
        canary=_canary(read.text("canary")),
    )


def chosen_hosts(form: WizardForm) -> tuple[str, ...]:
    """Names of the chosen hosts; those of a platform without hosts are ``host-1`` and on."""
    read = _Reader(form)
    if read.text("place") == CLUSTER:
        return read.names("host") if form.cluster_choice is not None else ()
    if read.text("platform") is None:
        return ()
    return tuple(
        f"host-{rank}" for rank in range(1, (read.number("platform_hosts") or 1) + 1)
    )


def role_hosts(form: WizardForm) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Hosts of prefill and of decode: as chosen, else the first half and the rest."""
    read = _Reader(form)
    hosts = chosen_hosts(form)
    half = max(1, len(hosts) // 2)
    prefill = tuple(name for name in read.names("prefill_host") if name in hosts)
    decode = tuple(name for name in read.names("decode_host") if name in hosts)
    return prefill or hosts[:half], decode or hosts[half:] or hosts


def workload_from(form: WizardForm) -> Workload:
    """The numbers of the preset, or a person's own with the defaults where they are empty."""
    read = _Reader(form)
    preset = BY_KEY.get(read.text("preset") or "")
    if preset is not None:
        return preset.workload
    unasked = Workload()
    return Workload(
        input_tokens=read.number("input_tokens") or unasked.input_tokens,
        output_tokens=read.number("output_tokens") or unasked.output_tokens,
        concurrency=read.number("concurrency") or unasked.concurrency,
        goal=Goal(read.text("goal") or Goal.BALANCED),
    )


def address_of_spec(
    spec: RevisionSpec, cluster: Cluster, step: Step = Step.REVIEW
) -> str:
    """The query string at which the wizard shows this revision on a cluster again."""
    return address_at(spec, {"cluster": str(cluster.pk)}, _all_hosts(spec), step)


def address_at(
    spec: RevisionSpec,
    place: Mapping[str, str],
    hosts: tuple[str, ...] = (),
    step: Step = Step.REVIEW,
) -> str:
    """The query string of a revision at a place: fields of the hardware step, and hosts by name."""
    query = QueryDict(mutable=True)
    query["step"] = step.value
    query.update(dict(place))
    query.setlist("host", list(hosts))
    query.setlist("features", write_switches(spec.features))
    values = _values(spec) | _workload_values(spec.workload)
    for role in spec.roles:
        values |= _role_values(role)
        if role.role is not Role.COMBINED:
            query.setlist(f"{role.role.value}_host", list(role.hosts))
    for key, value in values.items():
        if value is not None and value != "":
            query[key] = str(value)
    return query.urlencode()


def _image(read: _Reader) -> str | None:
    match read.text("image_source"):
        case "practice":
            return PRACTICE_REFERENCE
        case "own":
            return read.text("image")
        case _:
            return None


def _speculation(read: _Reader) -> SpeculationChoice:
    method = read.text("method") or AUTO
    drafter = read.text("drafter")
    if drafter and read.form.entry is not None and method != AUTO:
        owner = read.form.entry.drafter(drafter).method
        fits = method != "off" and normalise_method(method) is owner
        drafter = drafter if fits else None
    return SpeculationChoice(
        method=method, num_speculative_tokens=read.number("tokens"), drafter=drafter
    )


def _canary(word: str | None) -> SpeculationChoice | None:
    if word is None:
        return None
    method, count, drafter = word.split(":", 2)
    return SpeculationChoice(
        method=method,
        num_speculative_tokens=int(count) if count else None,
        drafter=drafter or None,
    )


def _canary_word(canary: SpeculationChoice | None) -> str | None:
    if canary is None:
        return None
    count = canary.num_speculative_tokens
    return f"{canary.method}:{'' if count is None else count}:{canary.drafter or ''}"


def _roles(
    read: _Reader, topology: Topology, hosts: tuple[str, ...]
) -> tuple[RoleSpec, ...]:
    if topology is Topology.COMBINED:
        return (_role(read, Role.COMBINED, hosts),)
    prefill, decode = role_hosts(read.form)
    return _role(read, Role.PREFILL, prefill), _role(read, Role.DECODE, decode)


def _role(read: _Reader, role: Role, hosts: tuple[str, ...]) -> RoleSpec:
    return RoleSpec(
        role=role,
        hosts=hosts,
        num_speculative_tokens=read.number(f"{role.value}_tokens"),
        devices_per_host=read.number(f"{role.value}_devices"),
        tensor_parallel_size=read.number(f"{role.value}_tp"),
        data_parallel_size=read.number(f"{role.value}_dp"),
        pipeline_parallel_size=read.number(f"{role.value}_pp"),
        port=read.number(f"{role.value}_port"),
    )


def _all_hosts(spec: RevisionSpec) -> tuple[str, ...]:
    return tuple(dict.fromkeys(host for role in spec.roles for host in role.hosts))


def _values(spec: RevisionSpec) -> dict[str, object]:
    practice = spec.image == PRACTICE_REFERENCE
    own = spec.image is not None and not practice
    source = PRACTICE_IMAGE if practice else OWN_IMAGE if own else None
    return {
        "name": spec.name,
        "model": spec.model,
        "checkpoint": spec.checkpoint,
        "engine": spec.engine,
        "image_source": source,
        "image": spec.image if own else None,
        "method": spec.speculation.method,
        "tokens": spec.speculation.num_speculative_tokens,
        "drafter": spec.speculation.drafter,
        "canary": _canary_word(spec.canary),
        "topology": spec.topology.value,
        "max_model_len": spec.limits.max_model_len,
        "max_num_seqs": spec.limits.max_num_seqs,
        "max_num_batched_tokens": spec.limits.max_num_batched_tokens,
        "memory_percent": spec.limits.gpu_memory_utilization_percent,
        "served_model_name": spec.served_model_name,
        "api_key": spec.api_key,
        "extra_flags": write_flags(spec.extra_flags),
        "environment": write_environment(spec.environment),
    }


def _workload_values(workload: Workload) -> dict[str, object]:
    preset = preset_of(workload)
    if preset != OWN:
        return {"preset": preset}
    return {
        "preset": OWN,
        "input_tokens": workload.input_tokens,
        "output_tokens": workload.output_tokens,
        "concurrency": workload.concurrency,
        "goal": workload.goal.value,
    }


def _role_values(role: RoleSpec) -> dict[str, object]:
    name = role.role.value
    tokens = "tokens" if role.role is Role.COMBINED else f"{name}_tokens"
    values: dict[str, object] = {
        f"{name}_devices": role.devices_per_host,
        f"{name}_tp": role.tensor_parallel_size,
        f"{name}_dp": role.data_parallel_size,
        f"{name}_pp": role.pipeline_parallel_size,
        f"{name}_port": role.port,
    }
    if role.num_speculative_tokens is not None:
        values[tokens] = role.num_speculative_tokens
    return values
