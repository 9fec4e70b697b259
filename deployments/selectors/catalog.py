"""The catalog as pages show it: the list with its filters, and one model with its settings."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q

from deployments.models import Drafter, TargetModel, User
from deployments.models.scope import ScopedQuerySet
from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.planning.serving import ServingProfile

LAYOUT = (
    ("tensor_parallel_size", "--tensor-parallel-size"),
    ("data_parallel_size", "--data-parallel-size"),
    ("data_parallel_size_local", "--data-parallel-size-local"),
    ("max_model_len", "--max-model-len"),
    ("max_num_seqs", "--max-num-seqs"),
    ("max_num_batched_tokens", "--max-num-batched-tokens"),
    ("gpu_memory_utilization", "--gpu-memory-utilization"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogFilter:
    """What a model must match to be listed."""

    text: str = ""
    family: str = ""
    mtp: bool = False
    drafter: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogLine:
    """One model of the list: methods that its drafters serve, kinds of weights, each once."""

    row: TargetModel
    methods: tuple[str, ...]
    weights: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedSettings:
    """Settings that a document gives, with whom they are for, as lines of a command."""

    profile: ServingProfile
    text: str


def catalog_lines(user: User, wanted: CatalogFilter) -> tuple[CatalogLine, ...]:
    """Models that the person sees and that match, in three queries."""
    rows = _matching(user, wanted).prefetch_related("checkpoints", "drafters")
    return tuple(
        CatalogLine(
            row=row,
            methods=tuple(sorted({drafter.method for drafter in row.drafters.all()})),
            weights=tuple(
                sorted({one.quantisation or one.key for one in row.checkpoints.all()})
            ),
        )
        for row in rows
    )


def _matching(user: User, wanted: CatalogFilter) -> ScopedQuerySet[TargetModel]:
    rows = TargetModel.objects.for_user(user)
    of_model = Drafter.objects.filter(target_model=OuterRef("pk"))
    for word in wanted.text.split():
        rows = rows.filter(
            Q(name__icontains=word)
            | Q(key__icontains=word)
            | Q(family__icontains=word)
            | Exists(of_model.filter(repository__icontains=word))
        )
    if wanted.family:
        rows = rows.filter(family=wanted.family)
    if wanted.mtp:
        rows = rows.filter(has_mtp=True)
    if wanted.drafter:
        rows = rows.filter(Exists(of_model))
    return rows


def families(user: User) -> list[str]:
    """Families of the models that the person sees."""
    names = TargetModel.objects.for_user(user).order_by("family")
    return list(names.values_list("family", flat=True).distinct())


def documented_settings(entry: CatalogEntry) -> tuple[DocumentedSettings, ...]:
    """The serving settings of an entry as a person would type them."""
    return tuple(
        DocumentedSettings(profile=profile, text="\n".join(_lines(profile)))
        for profile in entry.serving
    )


def _lines(profile: ServingProfile) -> Iterator[str]:
    for name, value in sorted(profile.environment.items()):
        yield f"{name}={value}"
    for field, flag in LAYOUT:
        value = getattr(profile, field)
        if value is not None:
            yield f"{flag} {value}"
    if profile.expert_parallel:
        yield "--enable-expert-parallel"
    for flag, argument in profile.flags.items():
        yield flag if argument is True else f"{flag} {_argument(argument)}"
    if profile.kv_connector:
        yield f"kv_connector {profile.kv_connector}"


def _argument(value: object) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return str(value)
