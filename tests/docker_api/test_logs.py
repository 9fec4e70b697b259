"""Increments of a real log: exact, in order, exactly once, and honest about what is gone."""

import re
import time
from collections.abc import Mapping

import pytest

from deployments.docker_api import logs
from deployments.docker_api.client import Engine
from deployments.docker_api.containers import signal_container, start_container
from deployments.docker_api.errors import NotFoundError
from deployments.docker_api.frames import since_argument
from deployments.docker_api.logs import (
    LogIncrement,
    LogLine,
    LogRange,
    StreamCursor,
    read_head,
    read_since,
    read_tail,
)
from deployments.planning.container import LogOptions
from tests.docker_api.conftest import Run, wait_stopped

pytestmark = pytest.mark.docker

COUNT = "i=0; while [ $i -lt {n} ]; do echo line $i; i=$((i+1)); done"


END = LogRange(final=True)
NOW = LogRange()


def only(
    engine: Engine,
    container_id: str,
    cursors: Mapping[str, StreamCursor],
    part: LogRange = NOW,
) -> LogIncrement:
    """The increment of an answer that has one."""
    (increment,) = read_since(engine, container_id, cursors, part)
    return increment


def texts(increment: LogIncrement) -> list[str]:
    return [line.text for line in increment.lines]


def read_all(engine: Engine, container_id: str) -> list[LogLine]:
    return list(only(engine, container_id, {}, END).lines)


def test_since_with_nine_digits_is_inclusive(engine: Engine, run: Run) -> None:
    container_id = run(COUNT.format(n=500))
    wait_stopped(engine, container_id)
    lines = read_all(engine, container_id)
    middle = lines[250]
    first = next(i for i, line in enumerate(lines) if line.ts_ns == middle.ts_ns)
    path = (
        f"/containers/{container_id}/logs?stdout=1&timestamps=1"
        f"&since={since_argument(middle.ts_ns)}"
    )
    answer = engine.api.get(engine.url(path), timeout=10)
    assert len(re.findall(rb"line \d+\n", answer.content)) == 500 - first


def test_increments_hold_every_line_once(engine: Engine, run: Run) -> None:
    container_id = run(COUNT.format(n=6000) + "; echo end 1>&2")
    cursors: dict[str, StreamCursor] = {}
    seen: list[LogLine] = []
    end = time.monotonic() + 30
    while time.monotonic() < end:
        increment = only(engine, container_id, cursors)
        assert increment.lost is None
        seen += increment.lines
        cursors = dict(increment.cursors)
        if any(line.text == "end" for line in increment.lines):
            break
        time.sleep(0.05)
    out = [line.text for line in seen if line.stream == "stdout"]
    assert out == [f"line {n}" for n in range(6000)]
    assert len({(line.stream, line.ts_ns, line.sequence) for line in seen}) == 6001


def test_nothing_new_gives_nothing(engine: Engine, run: Run) -> None:
    container_id = run("echo a; echo b 1>&2; sleep 60")
    time.sleep(0.5)
    first = only(engine, container_id, {})
    again = only(engine, container_id, first.cursors)
    assert sorted(texts(first)) == ["a", "b"]
    assert (texts(again), again.lost) == ([], None)
    assert again.cursors == first.cursors
    assert sorted(line.text for line in again.before) == ["a", "b"]


def test_a_quiet_stream_beside_a_chatty_one_loses_nothing(
    engine: Engine, run: Run
) -> None:
    chatter = COUNT.format(n=3000)
    container_id = run(f"echo one 1>&2; {chatter}; sleep 3; {chatter}; echo two 1>&2")
    time.sleep(2)
    first = only(engine, container_id, {})
    wait_stopped(engine, container_id)
    second = only(engine, container_id, first.cursors, END)
    err = [
        line.text for line in (*first.lines, *second.lines) if line.stream == "stderr"
    ]
    out = [
        line.text for line in (*first.lines, *second.lines) if line.stream == "stdout"
    ]
    assert err == ["one", "two"]
    assert len(out) == 6000
    assert second.lost is None


def test_pieces_of_a_long_line_are_joined(engine: Engine, run: Run) -> None:
    container_id = run("printf '%040000d\\n' 7; echo after")
    wait_stopped(engine, container_id)
    long, after = read_all(engine, container_id)
    assert len(long.text) == 40_000
    assert set(long.text) == {"0", "7"}
    assert not long.truncated
    assert after.text == "after"


def test_a_line_beyond_64_kb_is_cut_and_marked(engine: Engine, run: Run) -> None:
    container_id = run("printf '%0200000d\\n' 7; echo after")
    wait_stopped(engine, container_id)
    long, after = read_all(engine, container_id)
    assert (len(long.text), long.truncated) == (65_536, True)
    assert after.text == "after"


def test_a_line_without_an_end_comes_when_the_container_has_ended(
    engine: Engine, run: Run
) -> None:
    container_id = run("echo whole; printf part; sleep 1.5")
    time.sleep(0.7)
    first = only(engine, container_id, {})
    wait_stopped(engine, container_id)
    last = only(engine, container_id, first.cursors, END)
    assert texts(first) == ["whole"]
    assert texts(last) == ["part"]


def test_bytes_that_are_no_text_do_no_harm(engine: Engine, run: Run) -> None:
    container_id = run("printf '\\377\\376 bad\\n\\000nul\\n\\033[31mred\\n'")
    wait_stopped(engine, container_id)
    bad, nul, red = (line.text for line in read_all(engine, container_id))
    assert bad.endswith(" bad")
    assert "\N{REPLACEMENT CHARACTER}" in bad
    assert (nul, red) == ("\0nul", "\x1b[31mred")


def test_rotated_lines_are_declared_lost_and_the_rest_is_read_once(
    engine: Engine, run: Run
) -> None:
    tiny = LogOptions(max_size="20k", max_file=2)
    container_id = run(f"echo first; sleep 1; {COUNT.format(n=5000)}", logging=tiny)
    time.sleep(0.5)
    first = only(engine, container_id, {})
    assert texts(first) == ["first"]
    wait_stopped(engine, container_id)
    second = only(engine, container_id, first.cursors, END)
    numbers = [int(text.split()[1]) for text in texts(second)]
    assert second.lost is not None
    assert second.lost.from_ns == first.lines[0].ts_ns
    assert second.lost.to_ns == second.lines[0].ts_ns
    assert numbers == list(range(numbers[0], 5000))
    assert 0 < len(numbers) < 5000


def test_a_restarted_container_is_cut_between_its_runs(
    engine: Engine, run: Run
) -> None:
    container_id = run("echo run; sleep 0.3")
    wait_stopped(engine, container_id)
    first = only(engine, container_id, {}, END)
    start_container(engine, container_id)
    wait_stopped(engine, container_id)
    boundary = first.lines[0].ts_ns + 1
    old = only(
        engine, container_id, first.cursors, LogRange(until_ns=boundary, final=True)
    )
    begin = {name: StreamCursor(timestamp_ns=boundary) for name in ("stdout", "stderr")}
    new = only(engine, container_id, begin, END)
    assert texts(old) == []
    assert texts(new) == ["run"]


def test_a_long_answer_goes_on_while_its_files_are_rotated_away(
    engine: Engine, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One question, many increments; what the engine held at the question is in its answer."""
    monkeypatch.setattr(logs, "MOST_BYTES", 20_000)
    kept = LogOptions(max_size="400k", max_file=2)
    wait = "trap 'go=1' USR1; {said}; while [ -z \"$go\" ]; do sleep 0.1; done; {noise}"
    container_id = run(
        wait.format(said=COUNT.format(n=8000), noise=COUNT.format(n=20_000)),
        logging=kept,
    )
    while [line.text for line in read_tail(engine, container_id, lines=1)] != [
        "line 7999"
    ]:
        time.sleep(0.05)
    increments = read_since(engine, container_id, {}, LogRange())
    seen = texts(next(increments))
    signal_container(engine, container_id, "SIGUSR1")
    wait_stopped(engine, container_id)
    rest = list(increments)
    assert len(rest) > 1
    assert all(increment.lost is None for increment in rest)
    seen += [text for increment in rest for text in texts(increment)]
    assert seen == [f"line {n}" for n in range(8000)]


def test_head_and_tail(engine: Engine, run: Run) -> None:
    container_id = run(COUNT.format(n=100))
    wait_stopped(engine, container_id)
    assert [line.text for line in read_head(engine, container_id, most_lines=2)] == [
        "line 0",
        "line 1",
    ]
    assert [line.text for line in read_tail(engine, container_id, lines=2)] == [
        "line 98",
        "line 99",
    ]


def test_a_container_that_is_gone_is_an_error(engine: Engine) -> None:
    with pytest.raises(NotFoundError):
        only(engine, "0" * 64, {})
