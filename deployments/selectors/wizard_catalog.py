"""Models and checkpoints as the wizard lists them: found, filtered, closed with the reason."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from deployments.models import TargetModel
from deployments.models.fleet import Platform
from deployments.planning.catalog import Checkpoint, Drafter
from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.planning.methods import FACTS
from deployments.planning.platforms import find_platform
from deployments.planning.snapshot import HostSnapshot
from deployments.selectors.texts import listed, say

GIB = 1 << 30
MOST_MODELS = 40
"""As many are listed at once; the rest is found by its name or its family."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOption:
    """One line of the catalog; ``drafters`` are the methods that it has trained drafters for."""

    row: TargetModel
    drafters: tuple[str, ...]
    platforms: tuple[str, ...]
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointOption:
    """One checkpoint; ``closed`` says why the chosen hardware cannot serve it, or is empty."""

    value: Checkpoint
    platforms: str
    chosen: bool
    closed: str


def model_options(
    rows: Iterable[TargetModel], *, search: str, only: str, fleet: set[str], chosen: str
) -> list[ModelOption]:
    """Entries that hold every word of ``search`` and pass the filter, the chosen one always.

    ``only`` is ``mtp``, ``drafter``, ``fits`` (one of the ``fleet`` platforms) or ``any``.
    """
    words = search.casefold().split()
    options = [_option(row, chosen) for row in rows]
    return [
        option
        for option in options
        if option.chosen or (_holds(option.row, words) and _passes(option, only, fleet))
    ]


def listed_options(options: list[ModelOption]) -> list[ModelOption]:
    """The first of these, the chosen one among them wherever it stands."""
    kept = options[:MOST_MODELS]
    chosen = [one for one in options[MOST_MODELS:] if one.chosen]
    return [*chosen, *kept]


def families(rows: Iterable[TargetModel]) -> list[tuple[str, int]]:
    """Families with how many models each has, by name."""
    counted = Counter(row.family for row in rows)
    return sorted(counted.items(), key=lambda one: one[0].casefold())


def checkpoint_options(
    entry: CatalogEntry, hosts: Sequence[HostSnapshot], *, chosen: str, practice: bool
) -> list[CheckpointOption]:
    """Every checkpoint of a model, against the chosen hosts where there are any."""
    return [
        CheckpointOption(
            value=checkpoint,
            platforms=platform_names(checkpoint.platforms),
            chosen=checkpoint.key == chosen,
            closed="" if practice else _closed(checkpoint, hosts),
        )
        for checkpoint in entry.checkpoints
    ]


def drafter_options(entry: CatalogEntry, method: str) -> list[Drafter]:
    """The drafters of a method; of every method for ``auto``."""
    return [one for one in entry.drafters if method in {"auto", one.method.value}]


def platform_names(platforms: Iterable[str]) -> str:
    """Titles of hardware families, joined."""
    known = dict(Platform.choices)
    return listed(known.get(name, name) for name in platforms)


def _option(row: TargetModel, chosen: str) -> ModelOption:
    document = row.document
    methods = [str(one["method"]) for one in document.get("drafters", ())]
    titles = {method.value: say(facts.title) for method, facts in FACTS.items()}
    platforms = [
        str(name)
        for checkpoint in document.get("checkpoints", ())
        for name in checkpoint.get("platforms", ())
    ]
    return ModelOption(
        row=row,
        drafters=tuple(dict.fromkeys(titles.get(one, one) for one in methods)),
        platforms=tuple(dict.fromkeys(platforms)),
        chosen=row.key == chosen,
    )


def _holds(row: TargetModel, words: list[str]) -> bool:
    text = f"{row.key} {row.name} {row.family}".casefold()
    return all(word in text for word in words)


def _passes(option: ModelOption, only: str, fleet: set[str]) -> bool:
    match only:
        case "mtp":
            return option.row.has_mtp is True
        case "drafter":
            return bool(option.drafters)
        case "fits":
            return bool(fleet.intersection(option.platforms))
        case _:
            return True


def _closed(checkpoint: Checkpoint, hosts: Sequence[HostSnapshot]) -> str:
    if not hosts:
        return ""
    missing = [host for host in hosts if not _serves(checkpoint, host.platform)]
    if missing:
        return _("Made for %(platforms)s, but %(host)s is %(platform)s.") % {
            "platforms": platform_names(checkpoint.platforms),
            "host": missing[0].name,
            "platform": platform_names([missing[0].platform]),
        }
    return _too_large(checkpoint, hosts)


def _serves(checkpoint: Checkpoint, platform: str) -> bool:
    """Whether the planner takes it there: made for the platform, or borrowed from its kin."""
    if platform in checkpoint.platforms:
        return True
    traits = find_platform(platform).traits
    borrowed = traits.documented_as in checkpoint.platforms
    return borrowed and checkpoint.quantisation not in traits.refused_quantisations


def _too_large(checkpoint: Checkpoint, hosts: Sequence[HostSnapshot]) -> str:
    need = checkpoint.memory_minimum_bytes
    sizes = [
        host.device_memory_bytes * host.device_count
        for host in hosts
        if host.device_memory_bytes
    ]
    if need is None or len(sizes) < len(hosts) or sum(sizes) >= need:
        return ""
    return _("Needs %(need)s GiB of device memory; the chosen hosts have %(have)s.") % {
        "need": -(-need // GIB),
        "have": sum(sizes) // GIB,
    }
