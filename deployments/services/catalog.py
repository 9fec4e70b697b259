"""Bring the shipped catalog into the tables."""

from collections.abc import Iterator
from pathlib import Path

from django.db import transaction

from deployments.models import Checkpoint, Drafter, TargetModel, Team
from deployments.planning.canonical import Json
from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.planning.catalog import parse_target_model
from deployments.planning.shipped_yaml import read_shipped_yaml

SHIPPED_CATALOG = Path(__file__).resolve().parent.parent / "catalog"


def shipped_documents() -> Iterator[dict[str, Json]]:
    """Every target model document of the files that ship with the panel, in file order."""
    for path in sorted(SHIPPED_CATALOG.glob("*.yaml")):
        yield from read_shipped_yaml(path.read_text(encoding="utf-8")) or []


def load_shipped_catalog() -> int:
    """Insert or update the shipped entries, remove those that no longer ship, and count them.

    Entries of teams stay as they are. Plans keep what they were made from, so an update here
    never changes a stored plan.
    """
    entries = [
        (parse_target_model(document), document) for document in shipped_documents()
    ]
    with transaction.atomic():
        keys = [entry.key for entry, _ in entries]
        TargetModel.objects.filter(team=None).exclude(key__in=keys).delete()
        for entry, document in entries:
            store_entry(entry, document, team=None)
    return len(entries)


def store_entry(
    entry: CatalogEntry, document: Json, *, team: Team | None
) -> TargetModel:
    """Insert or replace an entry with its checkpoints and drafters; the caller owns the transaction."""
    row, _created = TargetModel.objects.update_or_create(
        team=team,
        key=entry.key,
        defaults={
            "name": entry.name,
            "family": entry.family,
            "parameters": entry.parameters,
            "active_parameters": entry.active_parameters,
            "context_length": entry.context_length,
            "has_mtp": entry.has_mtp,
            "document": document,
        },
    )
    row.checkpoints.all().delete()
    row.drafters.all().delete()
    Checkpoint.objects.bulk_create(
        Checkpoint(
            target_model=row,
            key=checkpoint.key,
            repository=checkpoint.repository,
            quantisation=checkpoint.quantisation or "",
            size_bytes=checkpoint.size_bytes,
            holds_mtp=checkpoint.holds_mtp,
        )
        for checkpoint in entry.checkpoints
    )
    Drafter.objects.bulk_create(
        Drafter(
            target_model=row,
            key=drafter.key,
            repository=drafter.repository,
            method=drafter.method,
            size_bytes=drafter.size_bytes,
        )
        for drafter in entry.drafters
    )
    return row
