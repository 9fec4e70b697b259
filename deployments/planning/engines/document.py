"""An EngineProfile as a document: written short, read fast."""

from dataclasses import MISSING, fields, is_dataclass
from typing import TypeVar

from deployments.planning.canonical import Json
from deployments.planning.documents import to_document
from deployments.planning.engines.accepted import (
    Flag,
    Metric,
    MetricKind,
    SpeculativeKey,
    Spelling,
    UnknownKeys,
    ValueKind,
)
from deployments.planning.engines.definition import EngineProfile
from deployments.planning.methods import Method

T = TypeVar("T")

_KINDS = {kind.value: kind for kind in ValueKind}
_METRIC_KINDS = {kind.value: kind for kind in MetricKind}
_METHODS = {method.value: method for method in Method}


def profile_document(profile: EngineProfile) -> dict[str, Json]:
    """Write a profile out in full; what is at its default in a flag, key or metric is left out."""
    return {
        field.name: _short(getattr(profile, field.name)) for field in fields(profile)
    }


class ProfileBuilder:
    """Builds profiles from trusted documents; entries that they share are built once."""

    def __init__(self) -> None:
        self._built: dict[int, object] = {}

    def __call__(self, document: dict[str, Json]) -> EngineProfile:
        """Build one profile; ``document`` must outlive the builder."""
        values = dict(document)
        for name in ("arguments", "keys", "spellings", "metrics"):
            values.pop(name)
        entrypoint = values.pop("entrypoint", None)
        return EngineProfile(
            engine=str(values["engine"]),
            version=str(values["version"]),
            vllm_version=str(values["vllm_version"]),
            source=str(values["source"]),
            arguments=self._entries(Flag, document["arguments"]),
            keys=self._entries(SpeculativeKey, document["keys"]),
            spellings=self._entries(Spelling, document["spellings"]),
            metrics=self._entries(Metric, document["metrics"]),
            unknown_keys=UnknownKeys(str(values["unknown_keys"])),
            capture_limit_tokens=_integer(values["capture_limit_tokens"]) or 0,
            entrypoint=_texts(entrypoint) if isinstance(entrypoint, list) else None,
            dashed_keys=bool(values["dashed_keys"]),
            max_tokens_per_step=_integer(values["max_tokens_per_step"]),
            draft_eager_effective=bool(values["draft_eager_effective"]),
        )

    def _entries(self, kind: type[T], listed: Json) -> tuple[T, ...]:
        rows = listed if isinstance(listed, list) else []
        return tuple(self._entry(kind, row) for row in rows)

    def _entry(self, kind: type[T], row: Json) -> T:
        built = self._built.get(id(row))
        if not isinstance(built, kind):
            values = dict(row) if isinstance(row, dict) else {}
            built = kind(**{name: _value(kind, name, values[name]) for name in values})
            self._built[id(row)] = built
        return built


def _value(kind: type, name: str, value: Json) -> object:
    if name == "kind":
        return (_METRIC_KINDS if kind is Metric else _KINDS)[str(value)]
    if name == "method":
        return None if value is None else _METHODS[str(value)]
    return _texts(value) if isinstance(value, list) else value


def _texts(values: list[Json]) -> tuple[str, ...]:
    return tuple(str(value) for value in values)


def _integer(value: Json) -> int | None:
    return value if isinstance(value, int) else None


def _short(value: object) -> Json:
    if isinstance(value, tuple):
        return [_short(item) for item in value]
    if not is_dataclass(value) or isinstance(value, type):
        return to_document(value)
    return {
        field.name: to_document(getattr(value, field.name))
        for field in fields(value)
        if field.default is MISSING or getattr(value, field.name) != field.default
    }
