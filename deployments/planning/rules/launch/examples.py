"""Examples of the launch rules: for each a launch that it fires on, and a near miss that it does not."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources

from deployments.planning.canonical import Json
from deployments.planning.catalog import TargetModel
from deployments.planning.rules.launch.known import KnownModels
from deployments.planning.rules.launch.lint import LintReport, lint
from deployments.planning.rules.launch.settings import LintSettings
from deployments.planning.shipped_yaml import read_shipped_yaml

PACKAGE = "deployments.planning.rules.launch"
FILES = ("text", "config", "flags", "apart", "surroundings", "values", "flag_values")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One input with what is said of its engine.

    ``catalog`` names a target model by its key, with facts that the catalog must have for the rule:
    ``mtp_layers``, or the ``heads`` of its attention.
    """

    content: str
    settings: LintSettings
    catalog: Mapping[str, Json] = field(default_factory=dict)

    def report(self, known: KnownModels) -> LintReport:
        """Judge it, with the facts that it asks for."""
        return lint(self.content, self.settings, self._with_facts(known))

    def _with_facts(self, known: KnownModels) -> KnownModels:
        if not self.catalog:
            return known
        return KnownModels(tuple(self._fitted(one) for one in known.models))

    def _fitted(self, model: TargetModel) -> TargetModel:
        if model.key != self.catalog["key"]:
            return model
        layers, heads = self.catalog.get("mtp_layers"), self.catalog.get("heads")
        if isinstance(layers, int):
            model = replace(model, mtp_layers=layers)
        if isinstance(heads, int) and model.attention is not None:
            model = replace(model, attention=replace(model.attention, heads=heads))
        return model


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """What a rule is about, and what is nearly the same but right."""

    code: str
    fires: Sample
    misses: Sample


@functools.cache
def examples() -> tuple[Example, ...]:
    """Every example, in the order of the files; a rule may have several."""
    folder = resources.files(PACKAGE) / "examples"
    return tuple(
        Example(
            code=one["code"],
            fires=_sample(one["fires"]),
            misses=_sample(one["misses"]),
        )
        for name in FILES
        for one in read_shipped_yaml(
            (folder / f"{name}.yaml").read_text(encoding="utf-8")
        )
    )


@functools.cache
def example_of(code: str) -> Example | None:
    """The first example of a rule."""
    return next((one for one in examples() if one.code == code), None)


def _sample(document: Mapping[str, Json]) -> Sample:
    catalog = document.get("catalog")
    return Sample(
        content=str(document["input"]),
        settings=LintSettings(
            platform=_word(document.get("platform")),
            engine=_word(document.get("engine")),
            engine_version=_word(document.get("version")),
        ),
        catalog=catalog if isinstance(catalog, dict) else {},
    )


def _word(value: Json) -> str | None:
    return None if value is None else str(value)
