"""Run one call on several connections at the same instant."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connection

T = TypeVar("T")


def at_once(*calls: Callable[[], T]) -> list[T | Exception]:
    """What each call gave back or raised; every call has a connection of its own."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], T]) -> T:
        try:
            barrier.wait(timeout=10)
            return call()
        finally:
            connection.close()

    outcomes: list[T | Exception] = []
    with ThreadPoolExecutor(len(calls)) as pool:
        futures = [pool.submit(run, call) for call in calls]
        for future in futures:
            error = future.exception(timeout=30)
            if error is None:
                outcomes.append(future.result())
            elif isinstance(error, Exception):
                outcomes.append(error)
            else:
                raise error
    return outcomes
