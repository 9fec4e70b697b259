"""Processor time of a list: its queries and rows against the same statements without Django."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchmarks.pages import Result
from deployments.models import User
from deployments.selectors.tables.all_tables import TABLES
from deployments.selectors.tables.state import TableState
from deployments.selectors.tables.table import Table, TablePage, page_rows
from deployments.templatetags.tables import rows_anew, table_rows

PLAIN_STATIC = "django.contrib.staticfiles.storage.StaticFilesStorage"


def list_costs(
    person: User, paths: Sequence[str], rounds: int, repeats: int
) -> Iterator[Result]:
    """Each list with one of the paths against its bare statements, and the rest of its page."""
    storages = {**settings.STORAGES, "staticfiles": {"BACKEND": PLAIN_STATIC}}
    hosts = [*settings.ALLOWED_HOSTS, "testserver"]
    client = Client()
    with override_settings(DEBUG=False, STORAGES=storages, ALLOWED_HOSTS=hosts):
        client.force_login(person)
        for table in TABLES.values():
            if reverse(table.url_name) in paths:
                yield from _costs_of(table, client, person, rounds, repeats)


@dataclass(frozen=True, kw_only=True)
class Works:
    """What is done in turns for one table, as the person sees it first."""

    table: Table
    client: Client
    person: User
    statements: list[str]

    def bare(self) -> None:
        """The statements of the list and nothing else."""
        with connection.cursor() as cursor:
            for statement in self.statements:
                cursor.cursor.execute(statement)
                cursor.cursor.fetchall()

    def listed(self) -> None:
        """The list as the page writes it: rows that look as before are known."""
        table_rows(_page(self.table, self.person), bulk=True)

    def listed_anew(self) -> None:
        """The list where no row was seen before."""
        rows_anew(_page(self.table, self.person), bulk=True)

    def whole(self) -> None:
        """The whole page."""
        self.client.get(reverse(self.table.url_name))


def _costs_of(
    table: Table, client: Client, person: User, rounds: int, repeats: int
) -> list[Result]:
    statements = _statements(lambda: table_rows(_page(table, person), bulk=True))
    works = Works(table=table, client=client, person=person, statements=statements)
    in_turns = (works.bare, works.listed, works.listed_anew, works.whole)
    turns = [[_cost(work, repeats) for work in in_turns] for _ in range(rounds + 1)][1:]
    name = reverse(table.url_name)
    return [
        Result(
            name=f"{name} bare statements, CPU",
            value=statistics.median(base for base, _l, _a, _w in turns),
            unit="ms",
        ),
        Result(
            name=f"{name} list / bare statements, CPU",
            value=statistics.median(listed / base for base, listed, _a, _w in turns),
            unit="x",
            limit=6.0,
        ),
        Result(
            name=f"{name} the same, no row known yet",
            value=statistics.median(anew / base for base, _l, anew, _w in turns),
            unit="x",
        ),
        Result(
            name=f"{name} rest of the page, CPU",
            value=statistics.median(whole - listed for _b, listed, _a, whole in turns),
            unit="ms",
            limit=12.0,
        ),
    ]


def _page(table: Table, person: User) -> TablePage:
    state = TableState()
    rows = tuple(page_rows(person, table, state))
    return TablePage(
        table=table,
        state=state,
        columns=table.shown(state),
        rows=rows,
        total=len(rows),
    )


def _statements(work: Callable[[], object]) -> list[str]:
    work()
    with CaptureQueriesContext(connection) as captured:
        work()
    return [query["sql"] for query in captured.captured_queries]


def _cost(work: Callable[[], None], repeats: int) -> float:
    """Milliseconds of processor time for one run."""
    begin = time.process_time()
    for _ in range(repeats):
        work()
    return (time.process_time() - begin) / repeats * 1000
