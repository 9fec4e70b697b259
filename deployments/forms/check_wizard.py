"""A launch that exists as an address of the wizard, and what of it could not be carried over."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from django.http import QueryDict
from django.utils.translation import gettext as _

from deployments.forms.check_environment import sorted_out
from deployments.forms.wizard.details import OWN_IMAGE
from deployments.forms.wizard.environment import LONGEST as LONGEST_ENVIRONMENT
from deployments.forms.wizard.environment import write_environment
from deployments.forms.wizard.flags import LONGEST, MOST, write_flags
from deployments.forms.wizard.steps import PLATFORM, Step
from deployments.planning.canonical import Json
from deployments.planning.catalog import TargetModel
from deployments.planning.engines.profile import VLLM, VLLM_ASCEND, shipped_profiles
from deployments.planning.importing.launch import Launch
from deployments.planning.importing.speculation import FLAG, SHORTCUTS
from deployments.planning.methods import Method
from deployments.planning.plan import Role
from deployments.planning.platforms import PLATFORMS
from deployments.planning.rules.flags import FORBIDDEN, MANAGED
from deployments.planning.rules.launch.settings import LintSettings
from deployments.planning.rules.launch.view import LaunchView

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_NUMBERS = {
    "--max-model-len": ("max_model_len", 10_000_000),
    "--max-num-seqs": ("max_num_seqs", 65_536),
    "--max-num-batched-tokens": ("max_num_batched_tokens", 10_000_000),
}
_ROLE_NUMBERS = {
    "--tensor-parallel-size": ("tp", 1024),
    "--data-parallel-size": ("dp", 4096),
    "--port": ("port", 65_535),
}
_SPECULATIVE_KEYS = frozenset(("method", "model", "num_speculative_tokens"))
_WITH_FIELD = frozenset(
    (
        "--model",
        "--served-model-name",
        "--gpu-memory-utilization",
        FLAG,
        *SHORTCUTS,
        *_NUMBERS,
        *_ROLE_NUMBERS,
    )
)
_PLATFORM_IMAGES = ("vllm/vllm-openai:", "quay.io/ascend/vllm-ascend:", "rocm/vllm:")
_MOST_TOKENS = 64
_WIDE = {"cuda": "nvidia", "rocm": "amd", "cpu": "cpu"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Something that the wizard does not take over, and why."""

    name: str
    why: "StrOrPromise"


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """The address of the wizard, what it holds of the launch, and what it does not."""

    query: str
    kept: tuple[tuple["StrOrPromise", str], ...]
    left: tuple[Left, ...]


@dataclass(slots=True)
class _Carrying:
    values: dict[str, str] = field(default_factory=dict)
    kept: list[tuple["StrOrPromise", str]] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    def keep(self, name: str, label: "StrOrPromise", value: object) -> None:
        self.values[name] = str(value)
        self.kept.append((label, str(value)))

    def leave(self, name: str, why: "StrOrPromise") -> None:
        if all(one.name != name for one in self.left):
            self.left.append(Left(name=name, why=why))


def carried(views: Sequence[LaunchView], settings: LintSettings) -> Carried | None:
    """What of the launches a plan begins with: prefill and decode, else the first; ``None`` for none."""
    chosen = _chosen([view for view in views if view.launch.is_vllm])
    if not chosen:
        return None
    carrying = _Carrying()
    main = chosen[-1][1]
    _model(carrying, main)
    _hardware(carrying, main, settings, len(chosen))
    _method(carrying, main)
    if len(chosen) > 1:
        carrying.keep("topology", _("Topology"), "disaggregated")
    for role, view in chosen:
        _role(carrying, role, view.launch)
    _settings(carrying, main)
    _extra(carrying, [view for _role_name, view in chosen])
    _around(carrying, [view for _role_name, view in chosen])
    taken = {view.index for _role_name, view in chosen}
    for view in views:
        if view.index not in taken:
            name = f"{view.launch.program} {view.model}".strip()
            carrying.leave(
                name,
                _("A plan begins with one launch, or with a prefill and a decode one."),
            )
    query = QueryDict(mutable=True)
    query["step"] = (Step.DETAILS if "model" in carrying.values else Step.MODEL).value
    query.update(carrying.values)
    return Carried(
        query=query.urlencode(), kept=tuple(carrying.kept), left=tuple(carrying.left)
    )


def _chosen(views: Sequence[LaunchView]) -> list[tuple[Role, LaunchView]]:
    by_role = {view.role: view for view in reversed(views) if view.role}
    if {"prefill", "decode"} <= by_role.keys():
        return [
            (Role.PREFILL, by_role["prefill"]),
            (Role.DECODE, by_role["decode"]),
        ]
    return [(Role.COMBINED, view) for view in views[:1]]


def _model(carrying: _Carrying, view: LaunchView) -> None:
    target = view.target
    if target is None:
        carrying.leave(
            view.model or "--model",
            _("The catalog has no such model; choose the one that is nearest."),
        )
        return
    carrying.keep("model", _("Target model"), target.key)
    name = _last(view.model)
    for one in target.checkpoints:
        if name in (_last(one.repository), _last(one.directory)):
            carrying.keep("checkpoint", _("Checkpoint"), one.key)
            break
    served = view.launch.value("--served-model-name")
    if served and _plain(served):
        carrying.keep("served_model_name", _("Served model name"), served)


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].lower()


def _plain(value: str) -> bool:
    return "$" not in value and value.isprintable() and " " not in value


def _hardware(
    carrying: _Carrying, view: LaunchView, settings: LintSettings, hosts: int
) -> None:
    platform = platform_name(view, settings)
    if platform is None:
        carrying.leave(
            _("Platform"),
            _("The input does not say which; choose it above or in the wizard."),
        )
    else:
        carrying.values["place"] = PLATFORM
        carrying.keep("platform", _("Platform"), platform)
        if hosts > 1:
            carrying.keep("platform_hosts", _("Hosts"), hosts)
    engine = view.engine
    names = {one.name for one in shipped_profiles()}
    name = f"{engine.name}=={engine.version}" if engine.version else ""
    if engine.own is not None:
        carrying.keep("engine", _("Engine version"), engine.own.name)
    elif name in names:
        carrying.keep("engine", _("Engine version"), name)
    elif name:
        carrying.leave(
            name,
            _(
                "The panel has no profile of this version; the wizard offers those that it has."
            ),
        )
    image = view.launch.container.image if view.launch.container else None
    if image and _plain(image) and not image.startswith(_PLATFORM_IMAGES):
        carrying.values["image_source"] = OWN_IMAGE
        carrying.keep("image", _("Image reference"), image)


def platform_name(view: LaunchView, settings: LintSettings) -> str | None:
    """The platform of the wizard that a launch is for, ``None`` where nobody can tell."""
    if settings.platform in PLATFORMS:
        return settings.platform
    if view.engine.name == VLLM_ASCEND:
        name = f"ascend-{view.chip}" if view.chip else ""
        return name if name in PLATFORMS else None
    if view.platform is not None:
        return _WIDE.get(view.platform)
    container = view.launch.container
    image = (container.image or "") if container else ""
    if "rocm" in image:
        return "amd"
    nvidia = container is not None and (
        container.gpus is not None
        or container.runtime == "nvidia"
        or image.startswith("vllm/vllm-openai:")
    )
    return "nvidia" if nvidia and view.engine.name == VLLM else None


def _method(carrying: _Carrying, view: LaunchView) -> None:
    speculation = view.speculation
    if speculation is None:
        carrying.keep("method", _("Method"), "off")
        return
    if speculation.method in set(Method):
        carrying.keep("method", _("Method"), speculation.method)
    elif speculation.method:
        carrying.leave(speculation.method, _("The wizard has no such method."))
    count = speculation.num_speculative_tokens
    if count is not None and view.role is None:
        _number(carrying, "tokens", "num_speculative_tokens", count, _MOST_TOKENS)
    drafter = speculation.drafter_resolved or speculation.drafter
    if drafter:
        _drafter(carrying, view.target, drafter)
    for key in speculation.config:
        if key not in _SPECULATIVE_KEYS:
            carrying.leave(
                f"{FLAG}.{key}", _("The planner writes the speculative config itself.")
            )


def _drafter(carrying: _Carrying, target: TargetModel | None, drafter: str) -> None:
    for one in target.drafters if target else ():
        if _last(drafter) in (_last(one.repository), _last(one.directory)):
            carrying.keep("drafter", _("Drafter"), one.key)
            return
    carrying.leave(drafter, _("The catalog knows no such drafter of this model."))


def _number(
    carrying: _Carrying, name: str, label: str, value: int | None, most: int
) -> None:
    if value is not None and 1 <= value <= most:
        carrying.keep(name, label, value)
    else:
        carrying.leave(label, _("Its value is no number that the wizard takes."))


def _role(carrying: _Carrying, role: Role, launch: Launch) -> None:
    for flag, (name, most) in _ROLE_NUMBERS.items():
        if launch.flag(flag) is not None:
            label = flag if role is Role.COMBINED else f"{role.value}: {flag}"
            _number(carrying, f"{role.value}_{name}", label, launch.number(flag), most)
    if role is Role.COMBINED:
        return
    count = launch.speculation.num_speculative_tokens if launch.speculation else 0
    if count is not None and 0 <= count <= _MOST_TOKENS:
        carrying.keep(
            f"{role.value}_tokens", f"{role.value}: num_speculative_tokens", count
        )


def _settings(carrying: _Carrying, view: LaunchView) -> None:
    launch = view.launch
    for flag, (name, most) in _NUMBERS.items():
        if launch.flag(flag) is not None:
            _number(carrying, name, flag, launch.number(flag), most)
    share = launch.value("--gpu-memory-utilization")
    if share is not None:
        _number(
            carrying, "memory_percent", "--gpu-memory-utilization", _percent(share), 99
        )


def _percent(share: str) -> int | None:
    try:
        percent = Decimal(share) * 100
        return int(percent) if percent == percent.to_integral_value() else None
    except (InvalidOperation, ValueError, OverflowError):
        return None


def _extra(carrying: _Carrying, views: Sequence[LaunchView]) -> None:
    found: dict[str, str] = {}
    for view in views:
        for flag, text in _additional(carrying, view.launch):
            if found.setdefault(flag, text) != text:
                carrying.leave(
                    flag,
                    _(
                        "Prefill and decode give it different values; the first is kept."
                    ),
                )
    kept: list[tuple[str, str]] = []
    for flag, text in found.items():
        if len(kept) >= MOST or len(write_flags((*kept, (flag, text)))) > LONGEST:
            carrying.leave(
                flag, _("There are more flags than the wizard's field takes.")
            )
        else:
            kept.append((flag, text))
    if kept:
        carrying.values["extra_flags"] = write_flags(tuple(kept))
        carrying.kept += kept


def _additional(carrying: _Carrying, launch: Launch) -> Iterator[tuple[str, str]]:
    """Flags that have no field of their own."""
    for flag, value in launch.flags.items():
        base = flag.partition(".")[0]
        if base in _WITH_FIELD:
            continue
        why = _why_not(base, flag, value)
        if why:
            carrying.leave(flag, why)
        else:
            yield flag, _written(value)


def _why_not(base: str, flag: str, value: Json) -> "StrOrPromise":
    if base in FORBIDDEN:
        return _(
            "Plans may not hold it: it opens files, code or networks, or hides the metrics."
        )
    if base in MANAGED:
        return _("The plan sets it itself.")
    if isinstance(value, list):
        return _("It is given more than once.")
    text = _written(value)
    if "$" in text:
        return _("Its value is a variable of the shell.")
    if not flag.isprintable() or not text.isprintable():
        return _("Its value holds characters that cannot be seen.")
    return ""


def _written(value: Json) -> str:
    if value is True:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _around(carrying: _Carrying, views: Sequence[LaunchView]) -> None:
    kept, left = sorted_out(
        [
            {name: word.text for name, word in view.launch.environment.items()}
            for view in views
        ],
        longest=LONGEST_ENVIRONMENT,
    )
    if kept:
        lines = write_environment(tuple(kept.items()))
        carrying.keep("environment", _("Environment variables"), lines)
    for name, why in left:
        carrying.leave(name, why)
    for name in dict.fromkeys(_container_parts(views)):
        carrying.leave(name, _("The platform and the cluster decide it in a plan."))


def _container_parts(views: Sequence[LaunchView]) -> Iterator[str]:
    for view in views:
        container = view.launch.container
        if container is None:
            continue
        parts: Mapping[str, bool] = {
            _("Mounts"): bool(container.mounts),
            _("Devices"): bool(container.devices or container.gpus),
            _("Published ports"): bool(container.ports),
            _("Shared memory"): container.shm_size is not None,
            _("Privileged container"): container.privileged,
        }
        yield from (name for name, given in parts.items() if given)
