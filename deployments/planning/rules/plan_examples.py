"""Examples of the rules over plans: for each a deployment spec that it speaks on, and a near miss.

They are specs as ``manage.py plan_deployment`` reads them; what a spec cannot say, such as a port
that something else holds, stands under ``around``.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources

import yaml

from deployments.planning.canonical import Json
from deployments.planning.catalog import TargetModel
from deployments.planning.deployment_spec import parse_deployment_spec
from deployments.planning.plan import Finding
from deployments.planning.planner import make_plan
from deployments.planning.rules.launch.known import KnownModels
from deployments.planning.shipped_yaml import read_shipped_yaml
from deployments.planning.snapshot import HostSnapshot, ImageSnapshot, ModelSnapshot
from deployments.planning.text import text

PACKAGE = "deployments.planning.rules"
FILE = "plan_examples.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSample:
    """A spec, and what stands around it: ``taken_ports``, ``taken_devices``, ``images``, ``driver``
    of every host, ``model_roots`` of the cluster, ``catalog`` facts of the model, ``cut_off`` model
    directories of every host, all that is ``listed`` there, and ``registered`` for hosts that the
    panel deploys to."""

    spec: Mapping[str, Json]
    around: Mapping[str, Json] = field(default_factory=dict)

    @property
    def content(self) -> str:
        """It as a person would write it."""
        shown = dict(self.spec)
        if self.around:
            shown["around"] = dict(self.around)
        return yaml.safe_dump(
            shown, sort_keys=False, allow_unicode=True, default_flow_style=None
        ).strip()

    def findings(self, known: KnownModels) -> tuple[Finding, ...] | None:
        """What the plan of it is told, ``None`` where nobody knows its model."""
        spec, hosts, settings = parse_deployment_spec({"name": "example", **self.spec})
        model = known.find(spec.model)
        if model is None:
            return None
        roots = _words(self.around.get("model_roots"))
        if roots:
            settings = replace(settings, model_roots=roots)
        if self.around.get("registered") is True:
            settings = replace(settings, files_only=False)
        made = make_plan(
            spec, self._with_facts(model), [self._host(one) for one in hosts], settings
        )
        return made.findings

    def _with_facts(self, model: TargetModel) -> TargetModel:
        facts = self.around.get("catalog")
        if not isinstance(facts, dict):
            return model
        layers, engine = facts.get("mtp_layers"), facts.get("minimum_engine")
        if isinstance(layers, int):
            model = replace(model, mtp_layers=layers)
        if facts.get("context_length") == "unknown":
            model = replace(model, context_length=None, serving=())
        if facts.get("hidden_size") == "unknown":
            model = replace(model, hidden_size=None)
        if isinstance(engine, str):
            name, _, version = engine.partition("==")
            model = replace(model, minimum_engines={name: version})
        return model

    def _host(self, host: HostSnapshot) -> HostSnapshot:
        images = tuple(
            ImageSnapshot(reference=one, image_id="sha256:1", digest="sha256:2")
            for one in _words(self.around.get("images"))
        )
        driver, found = self.around.get("driver"), self.around.get("listed")
        return replace(
            host,
            driver_version=driver if isinstance(driver, str) else None,
            taken_ports=_numbers(self.around.get("taken_ports")),
            taken_devices=_numbers(self.around.get("taken_devices")),
            images=images,
            listed=None
            if found is None
            else tuple(f"{host.model_root}/{name}" for name in _words(found)),
            models=tuple(
                ModelSnapshot(
                    path=f"{host.model_root}/{name}",
                    since="2026-11-30",
                    trouble=text(
                        "{file} is missing in {path}",
                        file="model.safetensors",
                        path=f"{host.model_root}/{name}",
                    ),
                )
                for name in _words(self.around.get("cut_off"))
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanExample:
    """What a rule speaks on, and what is nearly the same but right."""

    code: str
    fires: PlanSample
    misses: PlanSample


@functools.cache
def plan_examples() -> Mapping[str, PlanExample]:
    """Every example by its code; a near miss names only what differs from the case."""
    written = read_shipped_yaml(
        (resources.files(PACKAGE) / FILE).read_text(encoding="utf-8")
    )
    bases = written["bases"]
    return {
        code: PlanExample(
            code=code,
            fires=_sample(_merged(bases[one["base"]], one["fires"])),
            misses=_sample(
                _merged(bases[one.get("miss_base", one["base"])], one["misses"])
            ),
        )
        for code, one in written["examples"].items()
    }


def _sample(document: dict[str, Json]) -> PlanSample:
    around = document.pop("around", None)
    return PlanSample(spec=document, around=around if isinstance(around, dict) else {})


def _merged(base: Mapping[str, Json], change: Mapping[str, Json]) -> dict[str, Json]:
    merged = dict(base)
    for key, value in change.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = value
    return merged


def _words(value: Json) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list) else ()


def _numbers(value: Json) -> tuple[int, ...]:
    found = value if isinstance(value, list) else []
    return tuple(one for one in found if isinstance(one, int))
