"""Many calls at once, with an engine that answers as the test says: what is tried again, and what is not."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import cast

import pytest

from deployments.docker_api.client import Access, Engine
from deployments.docker_api.errors import (
    DockerApiError,
    EngineTimeoutError,
    EngineUnreachableError,
    NameTakenError,
    PortTakenError,
)
from deployments.models import Host
from deployments.services.rollout import calling
from deployments.services.rollout.calling import Answer, Passing, Pool, Task
from deployments.services.rollout.journal import Step
from deployments.services.rollout.rollout import Member


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_address: object, **_access: object) -> AbstractContextManager[None]:
        return nullcontext()

    monkeypatch.setattr(calling, "open_engine", opened)
    monkeypatch.setattr(calling, "access_for", lambda _host: Access())
    monkeypatch.setattr(calling, "PAUSE_S", 0.0)
    monkeypatch.setattr(calling, "LOOK_AGAIN_S", 0.0)


def members(hosts: int, each: int) -> list[Member]:
    found = []
    for place in range(hosts):
        host = Host(name=f"h{place}", docker_address="unix:///nowhere")
        found += [
            cast("Member", SimpleNamespace(host=host, name=f"h{place}-{number}"))
            for number in range(each)
        ]
    return found


def made(
    call: Callable[[Engine, Task], Answer], of: list[Member], threads: int = 8
) -> tuple[set[str], list[Passing], Pool]:
    """The names of what was made, and the failures that were said to pass."""
    pool = Pool(Step.CREATE, call, [Task(one, look=False) for one in of])
    with ThreadPoolExecutor(threads) as workers:
        for future in [workers.submit(one) for one in pool.work()]:
            future.result()
    came = pool.taken()
    passing = [one for one in came if isinstance(one, Passing)]
    done = {one[0].name for one in came if not isinstance(one, Passing)}
    return done, passing, pool


def failing(name: str, errors: Iterator[DockerApiError]) -> Callable[..., Answer]:
    """Calls of which those for one member fail so often; the rest answer."""

    def call(_engine: Engine, task: Task) -> Answer:
        if task.member.name == name:
            error = next(errors, None)
            if error is not None:
                raise error
            assert task.look
        return "id"

    return call


def test_a_call_that_fails_in_passing_is_made_again_after_a_look_and_ends_nothing() -> (
    None
):
    errors = iter([EngineTimeoutError("slow"), EngineUnreachableError("gone")])
    of = members(1, 30)
    done, passing, pool = made(failing("h0-3", errors), of)
    assert done == {one.name for one in of}
    assert [(one.member.name, one.number) for one in passing] == [
        ("h0-3", 1),
        ("h0-3", 2),
    ]
    assert not pool.stop.is_set()


def test_after_its_tries_one_is_left_to_its_own_act_and_the_rest_is_done() -> None:
    errors = iter([EngineTimeoutError("slow")] * 9)
    of = members(1, 30)
    done, passing, _pool = made(failing("h0-3", errors), of)
    assert done == {one.name for one in of} - {"h0-3"}
    assert len(passing) == calling.TRIES - 1


def test_a_name_that_is_taken_leaves_one_and_what_cannot_pass_stops_all() -> None:
    of = members(1, 30)
    done, passing, pool = made(failing("h0-3", iter([NameTakenError("taken")])), of)
    assert (len(done), passing) == (29, [])
    assert not pool.stop.is_set()
    taken: Iterator[DockerApiError] = iter([PortTakenError("taken")])
    done, passing, pool = made(failing("h0-3", taken), of, threads=1)
    assert done == {"h0-0", "h0-1", "h0-2"}
    assert pool.stop.is_set()


def test_a_host_that_only_fails_is_let_be_and_the_others_are_served() -> None:
    tried: Counter[str] = Counter()

    def call(_engine: Engine, task: Task) -> Answer:
        tried[task.member.host.name] += 1
        if task.member.host.name == "h1":
            raise EngineUnreachableError("down")
        return "id"

    of = members(3, 40)
    done, _passing, _pool = made(call, of)
    assert done == {one.name for one in of if one.host.name != "h1"}
    assert calling.FAILURES <= tried["h1"] <= calling.FAILURES + calling.CALLS_PER_HOST


def test_a_host_that_hangs_holds_up_none_of_twenty() -> None:
    others = threading.Semaphore(0)

    def call(_engine: Engine, task: Task) -> Answer:
        if task.member.host.name != "h1":
            others.release()
        elif task.member.name == "h1-0":
            # It answers when all others are served: were they held up, it never would.
            served = [others.acquire(timeout=20) for _ in range(19 * 12)]
            assert all(served)
        return "id"

    done, passing, _pool = made(call, members(20, 12), threads=calling.CALLS_IN_ALL)
    assert (len(done), passing) == (240, [])


def test_few_threads_serve_many_hosts_and_no_host_gets_more_than_its_share() -> None:
    now: Counter[str] = Counter()
    most: Counter[str] = Counter()
    lock = threading.Lock()

    def call(_engine: Engine, task: Task) -> Answer:
        name = task.member.host.name
        with lock:
            now[name] += 1
            most[name] = max(most[name], now[name])
        with lock:
            now[name] -= 1
        return "id"

    of = members(20, 12)
    done, _passing, _pool = made(call, of, threads=calling.CALLS_IN_ALL)
    assert len(done) == 240
    assert len(most) == 20
    assert max(most.values()) <= calling.CALLS_PER_HOST
