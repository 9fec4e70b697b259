"""What is new and what is missing, decided on lines alone."""

from deployments.docker_api.frames import RawLine
from deployments.docker_api.increments import LostLines, StreamCursor, increment_of


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
