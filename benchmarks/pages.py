"""How fast the lists are with 1,000 hosts, 10,000 deployments and 50 people; needs an empty database.

``DATABASE_URL=postgresql://... python -m benchmarks.pages`` fills the database, measures processor
time inside one process and wall time at a real server, prints a table, and fails where a limit is
broken. What is compared is measured in turns, so a busy machine changes the ratios little. Nothing
that a page says is kept from one request to the next but rows that look as before: totals are counted
each time.
``--only /releases/`` measures one list, ``--deployments`` and ``--hosts`` make fewer rows, and
``--costs`` leaves the server out and takes a database that is full already as it is.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

import django
import psycopg
from django.conf import settings
from django.db import connections
from psycopg import sql

ROUNDS, REPEATS = 9, 10
CLIENTS, REQUESTS_EACH = 16, 40
HOSTS, FEW, MANY, ALARMS = 1000, 100, 10_000, 60
ALONE = 90
PATHS = (
    "/deployments/",
    "/approvals/",
    "/releases/",
    "/catalog/",
    "/fleet/hosts/",
    "/alarms/",
)


@dataclass(frozen=True, kw_only=True)
class Result:
    """One measured figure beside its limit; without a limit it is for information."""

    name: str
    value: float
    unit: str = ""
    limit: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the limit holds."""
        return self.limit is None or self.value <= self.limit

    def __str__(self) -> str:
        beside = "" if self.limit is None else f"limit {self.limit:g}"
        word = "" if self.kept else "  BROKEN"
        return f"{self.name:58} {self.value:9.2f} {self.unit:3} {beside}{word}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill, measure, print; return the exit status."""
    asked = _parser().parse_args(arguments)
    django.setup()
    from benchmarks.page_costs import list_costs  # noqa: PLC0415
    from deployments.models import User  # noqa: PLC0415

    paths = asked.only or PATHS
    measured: list[Iterable[Result]] = []
    if not asked.costs or not User.objects.exists():
        few, cookie = _filled(asked.hosts, asked.deployments)
        measured = [] if asked.costs else [_served(few, cookie, paths)]
    person = User.objects.order_by("username")[0]
    prepares = "prepared" if settings.DATABASE_PREPARES else "planned each time"
    _say(f"Totals are counted at every request; statements are {prepares}.")
    kept = True
    for result in chain(*measured, list_costs(person, paths, ROUNDS, REPEATS)):
        _say(str(result))
        kept &= result.kept
    return 0 if kept else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages")
    parser.add_argument("--only", action="append", choices=PATHS, help="one list")
    parser.add_argument("--hosts", type=int, default=HOSTS)
    parser.add_argument("--deployments", type=int, default=MANY)
    parser.add_argument("--costs", action="store_true", help="without a server")
    return parser


def _filled(hosts: int, deployments: int) -> tuple[str, str]:
    """Fill the database; returns the address of a copy with few deployments, and a log-in to both."""
    from benchmarks.page_rows import add_deployments, fill_panel  # noqa: PLC0415
    from benchmarks.served import session_of  # noqa: PLC0415
    from deployments.services.catalog import load_shipped_catalog  # noqa: PLC0415

    load_shipped_catalog()
    panel = fill_panel(hosts=hosts)
    cookie = session_of(panel.people[0])
    # Pages that show what waits and what is wrong have as many rows with few as with many.
    add_deployments(panel, range(FEW), alarms=ALARMS)
    few = copy_of_database()
    add_deployments(panel, range(FEW, deployments), waiting=0)
    return few, cookie


def copy_of_database() -> str:
    """Copy the database as it is; returns the address of the copy."""
    address = os.environ["DATABASE_URL"]
    name = urlsplit(address).path.lstrip("/")
    connections.close_all()
    maintenance = f"{address.removesuffix(name)}postgres"
    with psycopg.connect(maintenance, autocommit=True) as server:
        copy, original = sql.Identifier(f"{name}_few"), sql.Identifier(name)
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(copy))
        server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(copy, original))
    return f"{address}_few"


def _served(few: str, cookie: str, paths: Sequence[str]) -> Iterator[Result]:
    """What a client sees of a server with few and of one with many deployments."""
    from benchmarks.served import KEY, served_pages, web_server  # noqa: PLC0415

    environment = {**os.environ, "SECRET_KEY": KEY, "DATABASE_URL": few}
    with (
        tempfile.TemporaryDirectory(prefix="draftboard-pages-") as logs,
        tempfile.TemporaryDirectory(prefix="draftboard-pages-") as other_logs,
        served_pages(Path(logs)) as many_address,
    ):
        with web_server(Path(other_logs), environment) as few_address:
            for path in paths:
                yield _growth(few_address, many_address, path, cookie)
        for path in paths:
            yield from _together(many_address, path, cookie)


def _growth(few: str, many: str, path: str, cookie: str) -> Result:
    """How much longer a page takes with many deployments, asked for in turns."""
    turns = [
        (_ask(few, path, cookie, 2)[1], _ask(many, path, cookie, 2)[1])
        for _ in range(ALONE)
    ][10:]
    with_few = statistics.median(one for one, _other in turns)
    with_many = statistics.median(other for _one, other in turns)
    name = f"{path} p50 with many: {with_many:.0f} ms, with {FEW}: {with_few:.0f} ms"
    return Result(name=name, value=with_many / with_few, unit="x", limit=1.3)


def _together(address: str, path: str, cookie: str) -> list[Result]:
    """The spread of a page's time with sixteen clients at once."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        runs = [
            pool.submit(_ask, address, path, cookie, REQUESTS_EACH)
            for _ in range(CLIENTS)
        ]
        times = sorted(time for run in runs for time in run.result()[2:])
    p50 = statistics.median(times)
    p99 = times[int(len(times) * 0.99)]
    return [
        Result(name=f"{path} p50, {CLIENTS} clients", value=p50, unit="ms"),
        Result(
            name=f"{path} p99 / p50, {CLIENTS} clients",
            value=p99 / p50,
            unit="x",
            limit=5.0,
        ),
    ]


def _ask(address: str, path: str, cookie: str, times: int) -> list[float]:
    """Ask for a page again and again over one connection; milliseconds each."""
    headers = {
        "Cookie": f"draftboard-session={cookie}",
        "Accept-Encoding": "identity",
    }
    netloc = urlsplit(address).netloc
    taken = []
    with closing(HTTPConnection(netloc, timeout=60)) as connection:
        for _ in range(times):
            begin = time.perf_counter()
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            answer.read()
            taken.append((time.perf_counter() - begin) * 1000)
            if answer.status != 200:
                raise RuntimeError(f"{path} answered {answer.status}.")
    return taken


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "panel.settings")
    # The server that is measured has the same key, so that it takes the session made here.
    os.environ.setdefault("SECRET_KEY", "measured-" * 8)
    os.environ.setdefault("DEBUG", "1")
    sys.exit(main())
