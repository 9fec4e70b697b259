"""Effective settings of a plan, and where each came from as far as the plan says."""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from deployments.planning.documents import from_document
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan
from deployments.planning.revision import RevisionSpec
from deployments.selectors.changes import Setting, setting_changes
from deployments.selectors.plan_settings import PORT_NAMES, is_detail

CHOSEN = _("chosen in the revision")
EXTRA = _("extra flag of the revision")
PLANNED = _("worked out by the planner")
RECOMMENDED = _("recommended for the model")
PLATFORM = _("what the platform needs")
DEFAULT = _("the panel's default")

_CHOICES: dict[str, Callable[[RevisionSpec], object]] = {
    "model": lambda spec: spec.model,
    "checkpoint": lambda spec: spec.checkpoint,
    "engine": lambda spec: spec.engine,
    "image": lambda spec: spec.image,
    "host": lambda spec: spec.roles,
    "method": lambda spec: spec.speculation.method != "auto",
    "drafter": lambda spec: spec.speculation.drafter,
    "served model name": lambda spec: spec.served_model_name,
    "--served-model-name": lambda spec: spec.served_model_name,
    "--speculative-config.method": lambda spec: spec.speculation.method != "auto",
    "--max-model-len": lambda spec: spec.limits.max_model_len,
    "--max-num-seqs": lambda spec: spec.limits.max_num_seqs,
    "--max-num-batched-tokens": lambda spec: spec.limits.max_num_batched_tokens,
    "--gpu-memory-utilization": lambda spec: spec.limits.gpu_memory_utilization_percent,
    PORT_NAMES["api"]: lambda spec: _of_roles(spec, "port"),
    "devices": lambda spec: _of_roles(spec, "devices_per_host"),
    "--tensor-parallel-size": lambda spec: _of_roles(spec, "tensor_parallel_size"),
    "--data-parallel-size": lambda spec: _of_roles(spec, "data_parallel_size"),
    "--speculative-config.num_speculative_tokens": lambda spec: (
        spec.speculation.num_speculative_tokens
        or _of_roles(spec, "num_speculative_tokens")
    ),
}
_RECOMMENDED = frozenset({"checkpoint", "method", "drafter"})
_DEFAULT = frozenset(
    {
        "--host",
        "--port",
        "--served-model-name",
        "command",
        "replacement",
        "served model name",
    }
)
_WORKED_OUT = (
    "--compilation-config",
    "--cudagraph",
    "--data-parallel",
    "--distributed",
    "--gpu-memory",
    "--headless",
    "--kv-transfer-config",
    "--master",
    "--max-",
    "--nnodes",
    "--node",
    "--pipeline-parallel",
    "--tensor-parallel",
)
"""Flags that follow from hosts, devices, memory and workload; the others come with the model."""
_PLATFORM = frozenset(
    {
        "cap add",
        "device requests",
        "engine",
        "group add",
        "image",
        "ipc mode",
        "memory lock",
        "runtime",
        "security opt",
        "shared memory (bytes)",
    }
)
_PLATFORM_KINDS = ("device ", "env ")


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveSetting:
    """One setting as it runs, with its origin."""

    setting: Setting
    origin: Promise


def effective_settings(plan: Plan) -> tuple[EffectiveSetting, ...]:
    """Every setting of the plan; without a readable revision everything counts as planned."""
    spec = _spec(plan)
    return tuple(
        EffectiveSetting(setting=setting, origin=_origin(setting.name, spec))
        for setting in setting_changes(None, plan)
    )


def _spec(plan: Plan) -> RevisionSpec | None:
    try:
        return from_document(RevisionSpec, plan.revision)
    except PlanningError:
        return None


def _origin(name: str, spec: RevisionSpec | None) -> Promise:
    if spec is None:
        return PLANNED
    if name.partition(".")[0] in {flag for flag, _value in spec.extra_flags}:
        return EXTRA
    if name.removeprefix("env ") in dict(spec.environment):
        return CHOSEN
    choice = _CHOICES.get(name)
    return CHOSEN if choice is not None and choice(spec) else _unasked(name)


def _unasked(name: str) -> Promise:
    """Who decided where the revision leaves it open."""
    if name in _RECOMMENDED or name.startswith("--speculative-config"):
        return RECOMMENDED
    if name in _PLATFORM or name.startswith(_PLATFORM_KINDS):
        return PLATFORM
    if name in _DEFAULT or name in PORT_NAMES.values():
        return DEFAULT
    if name.startswith("--"):
        return PLANNED if name.startswith(_WORKED_OUT) else RECOMMENDED
    return DEFAULT if is_detail(name) else PLANNED


def _of_roles(spec: RevisionSpec, field: str) -> bool:
    return any(getattr(role, field) is not None for role in spec.roles)
