"""Fetch the metrics of engines: plain HTTP to addresses of our own containers, bounded in every way."""

import http.client
import socket
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus

from deployments.services.rollout.probe import Endpoint

METRICS_PATH = "/metrics"
STEP_TIMEOUT_S = 2.0
WHOLE_TIMEOUT_S = 5.0
LARGEST_BODY = 4 << 20
"""A scrape of 64 data-parallel engines has about 2.5 MB."""
AT_ONCE = 8
NO_ANSWER, REFUSED, TOO_LARGE = "no_answer", "refused", "too_large"


@dataclass(frozen=True, slots=True)
class Scrape:
    """What came back: text, or the code of a problem; ``at_ns`` is our clock before asking."""

    at_ns: int
    body: str = ""
    problem: str = ""


def fetch_all(endpoints: Sequence[Endpoint]) -> list[Scrape]:
    """Ask them all, a few at once; in their order."""
    if not endpoints:
        return []
    with ThreadPoolExecutor(max_workers=min(AT_ONCE, len(endpoints))) as pool:
        return list(pool.map(fetch, endpoints))


def fetch(endpoint: Endpoint) -> Scrape:
    """Ask one engine; it follows no redirect, knows no proxy, and ends after a few seconds."""
    at_ns = time.time_ns()
    connection = http.client.HTTPConnection(
        endpoint.address, endpoint.port, timeout=STEP_TIMEOUT_S
    )
    # A peer that trickles bytes passes every time-out of a single step.
    alarm = threading.Timer(WHOLE_TIMEOUT_S, _cut_off, [connection])
    alarm.daemon = True
    alarm.start()
    try:
        connection.request("GET", METRICS_PATH, headers={"Accept": "text/plain"})
        answer = connection.getresponse()
        if answer.status != HTTPStatus.OK:
            return Scrape(at_ns, problem=REFUSED)
        body = answer.read(LARGEST_BODY + 1)
        complete = answer.length in {None, 0} or len(body) > LARGEST_BODY
    except (OSError, http.client.HTTPException, ValueError):
        return Scrape(at_ns, problem=NO_ANSWER)
    finally:
        alarm.cancel()
        connection.close()
    if len(body) > LARGEST_BODY:
        return Scrape(at_ns, problem=TOO_LARGE)
    if not complete or time.time_ns() - at_ns > WHOLE_TIMEOUT_S * 10**9:
        return Scrape(at_ns, problem=NO_ANSWER)
    return Scrape(at_ns, body.decode("utf-8", "replace"))


def _cut_off(connection: http.client.HTTPConnection) -> None:
    held = connection.sock
    if held is not None:
        try:
            held.shutdown(socket.SHUT_RDWR)
        except OSError:
            return
