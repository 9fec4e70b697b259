"""Many calls to engines at once: a bounded pool of threads, one client for each, and a few tries.

Threads touch no row. What passes by itself is tried again here after a look; what does not is left to
the act of its replica, which looks, says what is wrong, and has a budget of its own.
"""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event

from deployments.docker_api.client import Access, Engine, open_engine
from deployments.docker_api.containers import ContainerFacts
from deployments.docker_api.errors import DockerApiError, NameTakenError
from deployments.models import Host
from deployments.services.fault_points import fault_point
from deployments.services.host_access import access_for
from deployments.services.rollout.journal import Step
from deployments.services.rollout.rollout import Member

CALLS_PER_HOST = 12
"""An engine makes most containers a second with 8 to 16 calls at once."""
CALLS_IN_ALL = 96
"""Of a release on many hosts; what is beyond waits until another host's share is done."""
CALL_TIMEOUT_S = 22
"""Of many at once each takes longer; both together are less than the lease."""
TRIES = 3
PAUSE_S = 1.0
"""Before the second try; before each further one twice as long."""
FAILURES = 2 * CALLS_PER_HOST
"""In a row, of one host: then the pool lets it be."""
LEASE_IS_SURE_S = 5.0
LOOK_AGAIN_S = 0.1

Answer = ContainerFacts | str
"""What a call leaves: the container as it is now, the id of one just made or started, or nothing."""


@dataclass(frozen=True, slots=True)
class Task:
    """One replica's call; ``look`` says that an earlier one may have had an effect."""

    member: Member
    look: bool
    number: int = 1


@dataclass(frozen=True, slots=True)
class Passing:
    """A failure that may pass: the call is made again after ``pause_s``."""

    member: Member
    error: DockerApiError
    number: int
    pause_s: float


Call = Callable[[Engine, Task], Answer]
Result = tuple[Member, Answer] | Passing


@dataclass(slots=True)
class _Place:
    """A host, the calls that wait for it, and how many failed since the last that did not."""

    host: Host
    access: Access
    version: str | None
    todo: SimpleQueue[Task] = field(default_factory=SimpleQueue)
    failures: int = 0


class Pool:
    """What the threads of one step share; each of ``work`` is for one thread.

    No call begins unless ``sure`` was said within the last seconds: who owns the command says so.
    ``versions`` are those that were agreed on with engines already.
    """

    def __init__(
        self,
        step: Step,
        call: Call,
        tasks: Sequence[Task],
        versions: Callable[[Host], str | None] = lambda _host: None,
    ) -> None:
        self._step, self._call = step, call
        self._results: SimpleQueue[Result] = SimpleQueue()
        self._places: dict[Host, _Place] = {}
        for task in tasks:
            host = task.member.host
            if host not in self._places:
                self._places[host] = _Place(host, access_for(host), versions(host))
            self._places[host].todo.put(task)
        self.stop = Event()
        self.sure()

    def sure(self) -> None:
        """The lease was prolonged this moment."""
        self._sure_until = time.monotonic() + LEASE_IS_SURE_S

    def work(self) -> list[Callable[[], None]]:
        """What threads have to do, the hosts in turns, so that a few threads serve all of them."""
        shares: Mapping[Host, int] = {
            host: min(CALLS_PER_HOST, place.todo.qsize())
            for host, place in self._places.items()
        }
        return [
            partial(self._serve, place)
            for turn in range(CALLS_PER_HOST)
            for host, place in self._places.items()
            if turn < shares[host]
        ]

    def taken(self) -> list[Result]:
        """What has come since the last time."""
        found: list[Result] = []
        with suppress(Empty):
            while True:
                found.append(self._results.get_nowait())
        return found

    def _serve(self, place: _Place) -> None:
        """Make the calls of a host until none waits; a failed one ends the connection."""
        while not self._over(place) and not place.todo.empty():
            try:
                with open_engine(
                    place.host.docker_address,
                    host=place.host.name,
                    access=place.access,
                    timeout_s=CALL_TIMEOUT_S,
                    version=place.version,
                ) as engine:
                    self._calls(engine, place)
            except DockerApiError as error:
                if not error.retryable:
                    self.stop.set()
                place.failures += 1
                self.stop.wait(LOOK_AGAIN_S)

    def _calls(self, engine: Engine, place: _Place) -> None:
        while not self._over(place):
            try:
                task = place.todo.get_nowait()
            except Empty:
                return
            fault_point(f"before:{self._step}")
            try:
                answer = self._call(engine, task)
            except NameTakenError:
                continue
            except DockerApiError as error:
                self._failed(place, task, error)
                return
            except BaseException:
                self.stop.set()
                raise
            fault_point(f"after:{self._step}")
            place.failures = 0
            if answer:
                self._results.put((task.member, answer))

    def _failed(self, place: _Place, task: Task, error: DockerApiError) -> None:
        """Let the call be made again, or everything stop where that cannot help."""
        if not error.retryable:
            self.stop.set()
            return
        place.failures += 1
        if task.number >= TRIES or self._over(place):
            return
        pause_s = PAUSE_S * 2 ** (task.number - 1)
        self._results.put(Passing(task.member, error, task.number, pause_s))
        self.stop.wait(pause_s * random.uniform(1.0, 1.25))  # noqa: S311 - jitter, no secret
        place.todo.put(Task(task.member, look=True, number=task.number + 1))

    def _over(self, place: _Place) -> bool:
        """Whether no further call of this host may begin; waits while the lease is not sure."""
        while not self.stop.is_set() and time.monotonic() >= self._sure_until:
            self.stop.wait(LOOK_AGAIN_S)
        return self.stop.is_set() or place.failures >= FAILURES
