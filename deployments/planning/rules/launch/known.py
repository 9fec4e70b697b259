"""Names that people misspell: environment variables and model repositories, from data files here."""

import functools
import json
from dataclasses import dataclass
from importlib import resources

from deployments.planning.catalog import TargetModel

_PREFIXES = (
    "VLLM_",
    "HCCL_",
    "ASCEND_",
    "CUDA_VISIBLE",
    "HIP_VISIBLE",
    "NCCL_",
    "PYTORCH_",
    "GLOO_",
    "TP_SOCKET",
    "HF_",
    "OMP_",
    "MOONCAKE_",
)


@functools.cache
def _data(name: str) -> object:
    folder = resources.files("deployments.planning.rules.launch") / "data"
    return json.loads((folder / name).read_text(encoding="utf-8"))


@functools.cache
def environment() -> dict[str, tuple[str, str] | None]:
    """Return known variables: those of vLLM with the first and last release, others with ``None``."""
    document = _data("environment.json")
    if not isinstance(document, dict):
        raise TypeError("environment.json is an object")
    found: dict[str, tuple[str, str] | None] = dict.fromkeys(document["other"])
    found.update({name: (span[0], span[1]) for name, span in document["vllm"].items()})
    return found


@functools.cache
def repositories() -> frozenset[str]:
    """Return published repositories that recipes and tutorials name (2026-08-21)."""
    document = _data("repositories.json")
    if not isinstance(document, list):
        raise TypeError("repositories.json is a list")
    return frozenset(str(one) for one in document)


def is_engine_variable(name: str) -> bool:
    """Whether a variable is meant for the engine or its libraries."""
    return name.startswith(_PREFIXES)


@functools.lru_cache(maxsize=4096)
def near_variable(name: str) -> str | None:
    """Return the known variable that a name is one or two letters away from."""
    best: tuple[int, str] | None = None
    for known in environment():
        if abs(len(known) - len(name)) > 2 or known[:2] != name[:2]:
            continue
        distance = edit_distance(name, known, 2)
        if distance <= 2 and (best is None or (distance, known) < best):
            best = (distance, known)
    return best[1] if best else None


def edit_distance(first: str, second: str, most: int) -> int:
    """Return how many letters differ, ``most + 1`` for more than ``most``."""
    first, second = _without_same_start(first, second)
    first, second = _without_same_start(first[::-1], second[::-1])
    row = list(range(len(second) + 1))
    for index, letter in enumerate(first, 1):
        previous, row[0] = row[0], index
        for at, other in enumerate(second, 1):
            cost = previous + (letter != other)
            previous, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def _without_same_start(first: str, second: str) -> tuple[str, str]:
    pairs = enumerate(zip(first, second, strict=False))
    same = next(
        (at for at, (one, other) in pairs if one != other), min(len(first), len(second))
    )
    return first[same:], second[same:]


@dataclass(frozen=True, eq=False)
class KnownModels:
    """Target models of the catalog, found by the names that launches give them."""

    models: tuple[TargetModel, ...] = ()

    def find(self, model: str) -> TargetModel | None:
        """Return the target model that a path or repository names, ``None`` when nobody knows."""
        return self._by_name.get(model.rstrip("/").rpartition("/")[2].lower())

    @functools.cached_property
    def _by_name(self) -> dict[str, TargetModel]:
        found: dict[str, TargetModel] = {}
        for model in self.models:
            names = [model.key, model.name]
            for checkpoint in model.checkpoints:
                names += [checkpoint.repository, checkpoint.directory]
            for name in names:
                found.setdefault(name.rpartition("/")[2].lower(), model)
        return found

    @functools.cached_property
    def repositories(self) -> frozenset[str]:
        """Every repository that the panel knows, the catalog's included."""
        own = {
            repository
            for model in self.models
            for repository in (
                model.key,
                *(one.repository for one in model.checkpoints),
                *(one.repository for one in model.drafters),
            )
        }
        return repositories() | own

    def nearest(self, name: str) -> str | None:
        """Return the known repository that differs from an unknown one in a letter or two."""
        return _nearest(self, name)


NO_MODELS = KnownModels()


@functools.lru_cache(maxsize=1024)
def _nearest(known: KnownModels, name: str) -> str | None:
    digits = _digits(name)
    for one in sorted(known.repositories):
        alike = one != name and abs(len(one) - len(name)) <= 2
        if not alike or _digits(one) != digits:
            continue
        if edit_distance(one.lower(), name.lower(), 2) <= 2:
            return one
    return None


def _digits(name: str) -> str:
    return "".join(letter for letter in name if letter.isdigit())
