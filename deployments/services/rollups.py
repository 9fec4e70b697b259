"""Add samples up by minute, hour and day: each sample once, whenever it came and whatever is killed.

A sample is added to its three buckets and marked as added in one transaction, so at any instant it
is either in the roll-ups or waits in the index of those that are not. Late samples go to the bucket
of their own time. Two rounds never work at once: the row of ``RollupRound`` is their lock.
"""

import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from django.db import transaction
from django.utils import timezone

from deployments.models import (
    AcceptanceSample,
    AcceptanceStanding,
    DayRollup,
    HourRollup,
    MinuteRollup,
    Rollup,
    RollupRound,
)
from deployments.services.fault_points import fault_point

LEVELS: tuple[type[Rollup], ...] = (MinuteRollup, HourRollup, DayRollup)
BATCH = 20_000
ROWS_A_STATEMENT = 2_000
SECOND_NS = 1_000_000_000
SUMS = (
    "accepted",
    "drafted",
    "num_drafts",
    "per_position",
    "windows",
    "newest_ns",
)

Key: TypeAlias = tuple[uuid.UUID, int, int]
"""Replica, start in seconds, number of positions."""
Sums: TypeAlias = tuple[int, int, int | None, Sequence[int], int, int]
"""In the order of ``SUMS``."""


@dataclass(slots=True)
class Bucket:
    """Running sums of one row; ``num_drafts`` is ``None`` once a window did not say it."""

    deployment_id: uuid.UUID
    accepted: int = 0
    drafted: int = 0
    num_drafts: int | None = 0
    per_position: list[int] = field(default_factory=list)
    windows: int = 0
    newest_ns: int = 0

    def add(self, sums: Sums) -> None:
        """Add windows; idle ones count as windows and change nothing else."""
        accepted, drafted, num_drafts, per_position, windows, newest_ns = sums
        self.windows += windows
        self.newest_ns = max(self.newest_ns, newest_ns)
        if not drafted:
            return
        self.accepted += accepted
        self.drafted += drafted
        known = self.num_drafts is not None and num_drafts is not None
        self.num_drafts = (self.num_drafts or 0) + (num_drafts or 0) if known else None
        before = self.per_position or [0] * len(per_position)
        self.per_position = [a + b for a, b in zip(before, per_position, strict=True)]


def roll_up(most: int = BATCH) -> int:
    """Add up to ``most`` waiting samples; returns how many there were."""
    with transaction.atomic():
        RollupRound.objects.get_or_create(only=True)
        lock = RollupRound.objects.select_for_update().get(only=True)
        samples = list(
            AcceptanceSample.objects.filter(rolled_up=False)
            .order_by("deployment_id", "timestamp_ns")
            .values_list(
                "pk",
                "deployment_id",
                "replica_id",
                "timestamp_ns",
                "accepted",
                "drafted",
                "num_drafts",
                "per_position",
            )[:most]
        )
        for level in LEVELS:
            _store(level, _buckets(level.STEP_S, samples))
        _mark([sample[0] for sample in samples])
        _touch({sample[1] for sample in samples})
        lock.rolled_at = timezone.now()
        lock.save(update_fields=["rolled_at"])
        fault_point("after:ROLLUP")
    return len(samples)


def _buckets(step_s: int, samples: Iterable[tuple[Any, ...]]) -> dict[Key, Bucket]:
    """The sums of the samples; a window belongs to the step that holds its end, (start, end]."""
    buckets: dict[Key, Bucket] = {}
    step_ns = step_s * SECOND_NS
    for _pk, deployment, replica, at_ns, accepted, drafted, drafts, shares in samples:
        start_s = (at_ns - 1) // step_ns * step_s
        # Where nothing was drafted there are no positions to keep apart.
        key = (replica, start_s, len(shares) if drafted else 0)
        bucket = buckets.get(key)
        if bucket is None:
            bucket = buckets[key] = Bucket(deployment)
        bucket.add((accepted, drafted, drafts, shares, 1, at_ns))
    return buckets


def _store(level: type[Rollup], buckets: dict[Key, Bucket]) -> None:
    if not buckets:
        return
    for key, sums in _stored(level, buckets):
        if key in buckets:
            buckets[key].add(sums)
    rows = [
        level(
            deployment_id=bucket.deployment_id,
            replica_id=replica,
            start_s=start_s,
            positions=positions,
            **{name: getattr(bucket, name) for name in SUMS},
        )
        for (replica, start_s, positions), bucket in buckets.items()
    ]
    level._default_manager.bulk_create(
        rows,
        batch_size=ROWS_A_STATEMENT,
        update_conflicts=True,
        unique_fields=["replica", "start_s", "positions"],
        update_fields=SUMS,
    )


def _stored(level: type[Rollup], keys: Collection[Key]) -> Iterable[tuple[Key, Sums]]:
    """The rows that are already there, of the replicas and times in question."""
    starts = [start_s for _replica, start_s, _positions in keys]
    replicas = sorted({replica for replica, _start_s, _positions in keys})
    for place in range(0, len(replicas), ROWS_A_STATEMENT):
        rows = level._default_manager.filter(
            replica__in=replicas[place : place + ROWS_A_STATEMENT],
            start_s__gte=min(starts),
            start_s__lte=max(starts),
        ).order_by()
        for row in rows.values_list("replica_id", "start_s", "positions", *SUMS):
            yield row[:3], row[3:]


def _mark(samples: Sequence[uuid.UUID]) -> None:
    for place in range(0, len(samples), ROWS_A_STATEMENT):
        AcceptanceSample.objects.filter(
            pk__in=samples[place : place + ROWS_A_STATEMENT]
        ).update(rolled_up=True)


def _touch(deployments: set[uuid.UUID]) -> None:
    """Say that these deployments have to be judged anew."""
    AcceptanceStanding.objects.bulk_create(
        [AcceptanceStanding(deployment_id=pk) for pk in sorted(deployments)],
        batch_size=ROWS_A_STATEMENT,
        update_conflicts=True,
        unique_fields=["deployment"],
        update_fields=["judged_at"],
    )
