"""How fast the chart of one deployment is among many: from roll-ups, against raw samples and bare SQL.

``DATABASE_URL=... python -m benchmarks.history`` fills an empty database, PostgreSQL or SQLite,
measures, prints the ratios, and fails where a limit is broken. One deployment has a window every ten
seconds and is added up by the service; the others, which only make the tables large, are added up
by one statement a level. What is compared is measured in turns, so a busy machine changes the
ratios little. A first measurement with few samples in the tables shows whether the cost grows with
them. ``--samples`` and ``--deployments`` say how many there shall be.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import django

from benchmarks.pages import Result

SAMPLES = 1_000_000
DEPLOYMENTS = 101
TARGET = 100_000_000
ROUNDS = 7
SLOW, SLOW_ROUNDS = "30 d raw samples, read and summed", 2
"""Takes more than ten seconds a time."""
DAY_S = 86_400


def main() -> int:
    """Fill, measure, print; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--deployments", type=int, default=DEPLOYMENTS)
    options = parser.parse_args()
    return _measure(options.samples, options.deployments)


def _measure(samples: int, deployments: int) -> int:
    django.setup()
    from django.core.management import call_command  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415

    from benchmarks.history_rows import add_samples, roll_up_in_sql  # noqa: PLC0415
    from benchmarks.page_rows import add_deployments, fill_panel  # noqa: PLC0415
    from deployments.models import Replica  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    _say(
        f"\n{connection.vendor}, {samples:,} raw samples of 30 days, "
        f"{deployments:,} deployments"
    )
    panel = fill_panel(hosts=20, people=1)
    add_deployments(panel, range(deployments), samples=0, waiting=0)
    first, *rest = Replica.objects.select_related("release").order_by("container_name")
    end_s = int(time.time()) // 3600 * 3600
    start_s = end_s - 30 * DAY_S
    stored = add_samples([first], start_s, end_s, 10, rolled_up=False)
    _rolled(stored)
    few = _charts(first, end_s, only="30 d chart")
    every_s = max(10, 30 * DAY_S * len(rest) // max(samples - stored, 1))
    begin = time.perf_counter()
    total = stored + add_samples(rest, start_s, end_s, every_s, rolled_up=True)
    _say(f"{total:,} samples stored, in {time.perf_counter() - begin:.0f} s")
    roll_up_in_sql(but=first)
    _say(f"the others rolled up after {time.perf_counter() - begin:.0f} s")
    with connection.cursor() as cursor:
        postgres = connection.vendor == "postgresql"
        cursor.execute("VACUUM ANALYZE" if postgres else "ANALYZE")
    results = _results(few, _charts(first, end_s))
    for result in results:
        _say(str(result))
    return 0 if all(result.kept for result in results) else 1


def _rolled(stored: int) -> None:
    """Add everything up, and say how long it took and how long 100 million would."""
    from django.db import connection  # noqa: PLC0415

    from deployments.services.rollups import BATCH, roll_up  # noqa: PLC0415

    begin = time.perf_counter()
    while roll_up() >= BATCH:
        pass
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    rate = stored / (time.perf_counter() - begin)
    hours = TARGET / rate / 3600
    _say(
        f"{stored:,} samples rolled up at {rate:,.0f}/s; "
        f"{TARGET:,} would take {hours:.1f} h (extrapolated)"
    )


def _charts(
    replica: Any,  # noqa: ANN401
    end_s: int,
    only: str = "",
) -> Mapping[str, float]:
    """Median milliseconds of each way, in turns; checks that all say the same."""
    from benchmarks.history_ways import ways_of  # noqa: PLC0415

    ways = ways_of(replica.release.deployment, replica.release, end_s)
    ways = {name: way for name, way in ways.items() if only in {"", name}}
    sums = {name: way() for name, way in ways.items() if name.startswith("30 d")}
    if len(set(sums.values())) != 1:
        raise RuntimeError(f"The ways differ: {sums}")
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(ROUNDS):
        for name, way in ways.items():
            if name != SLOW or turn < SLOW_ROUNDS:
                taken[name].append(_ms(way))
    return {name: statistics.median(times) for name, times in taken.items()}


def _results(few: Mapping[str, float], many: Mapping[str, float]) -> list[Result]:
    """The ratios that must hold, and what they are made of."""
    chart, bare = many["30 d chart"], many["30 d bare SQL on the roll-up"]
    plain = [Result(name=name, value=value, unit="ms") for name, value in many.items()]
    return [
        *plain,
        Result(
            name="chart / raw samples read as a chart needs them, in 1000",
            value=1000 * chart / many[SLOW],
            unit="",
            limit=1000 / 50,
        ),
        Result(
            name="SQL sums by hour: of the roll-up / of raw samples, in 1000",
            value=1000
            * many["30 d roll-up, summed in SQL"]
            / many["30 d raw samples, summed in SQL"],
            unit="",
            limit=1000 / 50,
        ),
        Result(
            name="chart / bare SQL on the roll-up",
            value=chart / bare,
            unit="x",
            limit=3.0,
        ),
        Result(
            name="chart with all samples / with one deployment's",
            value=chart / few["30 d chart"],
            unit="x",
            limit=1.5,
        ),
        Result(
            name="chart of 1 hour / of 30 days (60 against 888 rows)",
            value=many["1 h chart"] / chart,
            unit="x",
        ),
    ]


def _ms(way: Callable[[], object]) -> float:
    begin = time.perf_counter()
    way()
    return (time.perf_counter() - begin) * 1000


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "panel.settings")
    os.environ.setdefault("SECRET_KEY", "measured-" * 8)
    os.environ.setdefault("DEBUG", "0")
    os.environ.setdefault("ALLOWED_HOSTS", "127.0.0.1")
    os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:6379/0")
    sys.exit(main())
