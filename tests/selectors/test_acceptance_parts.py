"""Parts of ranges: what the database adds up by step is what the samples add up to, exactly."""

import random
from collections.abc import Iterable, Sequence

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from deployments.models import AcceptanceSample, Replica
from deployments.selectors.acceptance_parts import Part, parts_of
from deployments.selectors.acceptance_range import NANOSECONDS, Range
from deployments.services.rollups import roll_up
from deployments.telemetry.acceptance_history import NOTHING, Counts, total
from tests.factories import AcceptanceSampleFactory, ReplicaFactory

pytestmark = pytest.mark.django_db

DAY = 1_795_737_600
"""2026-11-27 00:00 UTC."""
LENGTH_S = 3 * 86_400
STEPS_S = (300, 900, 3600, 21_600, 86_400, 604_800)


def ranges() -> list[Range]:
    """The three days in steps of every level, from before they begin to after their end."""
    return [
        Range(
            key="own",
            start_s=DAY - step_s,
            step_s=step_s,
            steps=LENGTH_S // step_s + 2,
        )
        for step_s in STEPS_S
    ]


def counts_of(sample: AcceptanceSample) -> Counts:
    """The columns as counts."""
    return Counts(
        accepted=sample.accepted,
        drafted=sample.drafted,
        num_drafts=sample.num_drafts,
        per_position=tuple(sample.per_position),
    )


def add(chance: random.Random, replicas: Sequence[Replica], amount: int) -> None:
    """Windows at any time, idle ones and such that do not say drafts or positions among them."""
    for _ in range(amount):
        drafts, positions = chance.choice((0, 7, 300)), chance.choice((2, 3))
        shares = sorted(
            (chance.randrange(drafts + 1) for _ in range(positions)), reverse=True
        )
        told = chance.random()
        AcceptanceSampleFactory.create(
            replica=chance.choice(replicas),
            timestamp_ns=DAY * NANOSECONDS
            + chance.choice(
                (
                    chance.randrange(1, LENGTH_S * NANOSECONDS),
                    # The ends of steps belong to the steps before them.
                    chance.randrange(1, LENGTH_S // 300) * 300 * NANOSECONDS,
                )
            ),
            accepted=sum(shares),
            drafted=drafts * positions,
            num_drafts=drafts if told > 0.02 else None,
            per_position=shares if drafts and told > 0.1 else [],
        )


def steps(
    one: Range, of: Iterable[tuple[Replica, int, Counts, int]]
) -> dict[tuple[str, int, int], tuple[Counts, int]]:
    """Sums and windows by replica, release and step."""
    sums: dict[tuple[str, int, int], tuple[Counts, int]] = {}
    for replica, at_s, counts, windows in of:
        key = (
            f"{replica.role}-{replica.rank}",
            replica.release.number,
            (at_s - one.start_s) // one.step_s,
        )
        before, number = sums.get(key, (NOTHING, 0))
        sums[key] = (total((before, counts)), number + windows)
    return sums


def read(
    one: Range, parts: Iterable[Part]
) -> dict[tuple[str, int, int], tuple[Counts, int]]:
    """The same of what was read."""
    sums: dict[tuple[str, int, int], tuple[Counts, int]] = {}
    for part in parts:
        key = (part.replica, part.release, (part.at_s - one.start_s) // one.step_s)
        before, number = sums.get(key, (NOTHING, 0))
        sums[key] = (total((before, part.counts)), number + part.windows)
    return sums


@pytest.mark.parametrize("rolled", [0, 150, 300])
def test_parts_add_up_to_the_samples(rolled: int) -> None:
    """For every level, whatever number of samples the roll-ups hold already."""
    first = ReplicaFactory.create()
    second = ReplicaFactory.create(release=first.release)
    other = ReplicaFactory.create()
    chance = random.Random(rolled)  # noqa: S311
    add(chance, [first, second, other], 300)
    if rolled:
        roll_up(rolled)
    assert AcceptanceSample.objects.filter(rolled_up=True).count() == rolled
    deployment = first.release.deployment
    asked = ranges()
    samples = deployment.samples.select_related("replica__release")
    found = parts_of(deployment, asked)
    for one, parts in zip(asked, found, strict=True):
        wanted = steps(
            one,
            (
                (row.replica, (row.timestamp_ns - 1) // NANOSECONDS, counts_of(row), 1)
                for row in samples
            ),
        )
        assert read(one, parts) == wanted


def test_there_is_one_part_for_each_step_replica_and_length() -> None:
    """What comes from the database grows with the steps, not with the samples or the roll-ups."""
    replica = ReplicaFactory.create()
    for minute in range(0, 24 * 60, 10):
        AcceptanceSampleFactory.create(
            replica=replica, timestamp_ns=(DAY + minute * 60 + 1) * NANOSECONDS
        )
    assert roll_up() == 144
    day = Range(key="own", start_s=DAY, step_s=21_600, steps=4)
    quarters = Range(key="own", start_s=DAY, step_s=900, steps=96)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        whole, fine = parts_of(replica.release.deployment, [day, quarters])
    assert len(queries) == 1
    assert [part.at_s for part in sorted(whole)] == [DAY + 21_600 * n for n in range(4)]
    assert [part.windows for part in whole] == [36] * 4
    assert len(fine) == 96
    assert total(part.counts for part in whole) == total(part.counts for part in fine)


def test_nothing_is_no_part() -> None:
    assert parts_of(ReplicaFactory.create().release.deployment, ranges()) == [
        [] for _ in STEPS_S
    ]
