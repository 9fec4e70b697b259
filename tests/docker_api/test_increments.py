"""What is new and what is missing, decided on lines alone."""

import io
from contextlib import AbstractContextManager, nullcontext
from typing import cast

import pytest

from deployments.docker_api import logs
from deployments.docker_api.client import Engine
from deployments.docker_api.frames import RawLine
from deployments.docker_api.increments import LostLines, StreamCursor, increment_of
from tests.docker_api.test_rows import frame


def raw(
    text: str, ts_ns: int, stream: str = "stdout", *, whole: bool = True
) -> RawLine:
    return RawLine(stream, ts_ns, text.encode(), truncated=False, whole=whole)


def new_texts(lines: list[RawLine], cursors: dict[str, StreamCursor]) -> list[str]:
    return [line.text for line in increment_of(lines, cursors).lines]


def cursors_after(*lines: RawLine) -> dict[str, StreamCursor]:
    return dict(increment_of(lines, {}).cursors)


def test_lines_of_one_time_stamp_are_numbered_and_read_once() -> None:
    same = [raw("a", 5), raw("b", 5), raw("a", 5)]
    first = increment_of(same, {})
    assert [(line.text, line.sequence) for line in first.lines] == [
        ("a", 0),
        ("b", 1),
        ("a", 2),
    ]
    again = increment_of([raw("z", 4), *same, raw("c", 5), raw("d", 6)], first.cursors)
    assert [(line.text, line.sequence) for line in again.lines] == [("c", 3), ("d", 0)]
    assert again.lost is None


def test_the_two_streams_have_cursors_of_their_own() -> None:
    read = cursors_after(raw("out", 10), raw("err", 9, "stderr"))
    lines = [raw("err", 9, "stderr"), raw("out", 10), raw("late", 9 + 1, "stderr")]
    assert new_texts(lines, read) == ["late"]


def test_an_anchor_that_is_gone_declares_what_was_lost() -> None:
    read = cursors_after(raw("a", 5))
    found = increment_of([raw("x", 9), raw("y", 10)], read)
    assert found.lost == LostLines(from_ns=5, to_ns=9)
    assert [line.text for line in found.lines] == ["x", "y"]


def test_another_line_at_the_place_of_the_anchor_is_no_proof() -> None:
    read = cursors_after(raw("a", 5))
    assert increment_of([raw("other", 5)], read).lost is not None


def test_a_place_to_begin_at_needs_no_proof() -> None:
    begin = {"stdout": StreamCursor(timestamp_ns=7)}
    found = increment_of([raw("old", 6), raw("new", 7)], begin)
    assert [line.text for line in found.lines] == ["new"]
    assert found.lost is None


def test_a_line_without_end_waits_unless_it_is_the_last_of_all() -> None:
    part = raw("part", 5, whole=False)
    assert increment_of([part], {}).lines == ()
    (line,) = increment_of([part], {}, final=True).lines
    assert line.text == "part"


def test_until_leaves_the_next_run_to_the_next_run() -> None:
    found = increment_of([raw("old", 5), raw("new", 9)], {}, until_ns=9)
    assert [line.text for line in found.lines] == ["old"]


def test_lines_behind_the_last_one_are_new_though_the_clock_was_set_back() -> None:
    read = cursors_after(raw("a", 90), raw("b", 100))
    found = increment_of(
        [raw("a", 90), raw("b", 100), raw("c", 40), raw("d", 50)], read
    )
    assert [line.text for line in found.lines] == ["c", "d"]
    assert found.lost is None
    later = [raw("a", 90), raw("b", 100), raw("c", 40), raw("d", 50), raw("e", 60)]
    assert new_texts(later, dict(found.cursors)) == ["e"]


SECOND_NS = 1_000_000_000
BEGAN_NS = 1_795_780_800 * SECOND_NS


class StoredLog:
    """Lines in the order in which they were stored, asked for as an engine is asked."""

    def __init__(self, seconds: list[int]) -> None:
        self.stamps = [BEGAN_NS + at * SECOND_NS for at in seconds]
        self.asked: list[int | None] = []

    def open(
        self,
        _engine: object,
        _container_id: str,
        *,
        since: int,
        until_ns: int | None = None,
        tail: int | None = None,
    ) -> AbstractContextManager[io.BytesIO]:
        """The engine cuts by ``tail`` first."""
        assert until_ns is None
        self.asked.append(tail)
        kept = list(enumerate(self.stamps))[-(tail or len(self.stamps)) :]
        return nullcontext(
            io.BytesIO(
                b"".join(
                    frame(1, at, b"line %d\n" % number)
                    for number, at in kept
                    if at >= since
                )
            )
        )


@pytest.mark.parametrize("many", [3, 3000])
@pytest.mark.parametrize("back_s", [1, 25, 4000])
def test_a_clock_that_is_set_back_loses_and_doubles_nothing(
    monkeypatch: pytest.MonkeyPatch, many: int, back_s: int
) -> None:
    log = StoredLog(list(range(5000, 5000 + many)))
    monkeypatch.setattr(logs, "_open", log.open)
    cursors: dict[str, StreamCursor] = {}
    read: list[str] = []
    for step in range(4):
        now_ns = log.stamps[-1] + SECOND_NS // 2
        # A short way back is not seen by who looks at the clock now and then.
        part = logs.LogRange(clock_ns=now_ns if back_s > 30 else None)
        for found in logs.read_since(cast("Engine", None), "c", cursors, part):
            read += [line.text for line in found.lines]
            assert found.lost is None
            cursors = dict(found.cursors)
        last = log.stamps[-1] - (back_s * SECOND_NS if step == 0 else 0)
        log.stamps += [last + at * SECOND_NS // 4 for at in range(1, many)]
    assert read == [f"line {number}" for number in range(many + 3 * (many - 1))]
    assert log.asked[-1] is not None
