"""How fast the lists are with 1,000 hosts, 10,000 deployments and 50 people; needs an empty database.

``DATABASE_URL=postgresql://... python -m benchmarks.pages`` fills the database, measures processor
time inside one process and wall time at a real server, prints a table, and fails where a limit is
broken. What is compared is measured in turns, so a busy machine changes the ratios little.
"""

import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import django

ROUNDS, REPEATS = 9, 10
CLIENTS, REQUESTS_EACH = 16, 40
FEW, MANY = 100, 10_000
ALONE = 90
ANCHOR = "/accounts/login/"
PATHS = ("/deployments/", "/approvals/", "/releases/", "/catalog/", "/fleet/hosts/")


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


def main() -> int:
    """Fill, measure, print; return the exit status."""
    django.setup()
    from benchmarks.page_costs import list_costs  # noqa: PLC0415
    from benchmarks.page_rows import add_deployments, fill_panel  # noqa: PLC0415
    from benchmarks.served import served_pages, session_of  # noqa: PLC0415
    from deployments.services.catalog import load_shipped_catalog  # noqa: PLC0415

    load_shipped_catalog()
    panel = fill_panel()
    person = panel.people[0]
    cookie = session_of(person)
    with (
        tempfile.TemporaryDirectory(prefix="draftboard-pages-") as logs,
        served_pages(Path(logs)) as address,
    ):
        add_deployments(panel, range(FEW))
        few = {path: _alone(address, path, cookie) for path in PATHS}
        add_deployments(panel, range(FEW, MANY))
        many = {path: _alone(address, path, cookie) for path in PATHS}
        results = [
            Result(
                name=f"{path} at {MANY:,} against {FEW} deployments, p50",
                value=many[path] / few[path],
                unit="x",
                limit=1.3,
            )
            for path in PATHS
        ]
        results += [one for path in PATHS for one in _together(address, path, cookie)]
    results += list_costs(person, ROUNDS, REPEATS)
    for result in results:
        _say(str(result))
    return 0 if all(result.kept for result in results) else 1


def _alone(address: str, path: str, cookie: str) -> float:
    """The median time of a page for one client, in log-in pages.

    The log-in page reads no row; asked for in turns, it shows how busy the machine is.
    """
    turns = [
        (_ask(address, path, cookie, 1)[0], _ask(address, ANCHOR, "", 1)[0])
        for _ in range(ALONE)
    ][10:]
    own = statistics.median(taken for taken, _anchor in turns)
    anchor = statistics.median(anchor for _taken, anchor in turns)
    return own / anchor


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
