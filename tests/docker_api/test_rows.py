"""Long answers are read without an object for every line, and say what the long way says."""

import io
import random
import struct
from collections.abc import Sequence
from dataclasses import replace

import pytest

from deployments.docker_api import logs
from deployments.docker_api.frames import STREAMS, join_lines, read_frames, timestamp_ns
from deployments.docker_api.increments import Reading, StreamCursor, increment_of
from deployments.docker_api.log_lines import LogLine, amount_of, lines_holding
from deployments.docker_api.rows import Again, LogRows, RowReader, stamp_of

MARKS_TEXT = ("metrics:", "Engine ", " plain")
MARKS = tuple(mark.encode() for mark in MARKS_TEXT)
FIRST_NS = 1_795_780_800_000_000_000
WORDS = (
    b"",
    b"plain",
    b"metrics: 1",
    b"bl\xffnk \xe2\x96\x88\r",
    b"x" * 9000,
    b"Engine 0",
)


def frame(kind: int, ts_ns: int, payload: bytes) -> bytes:
    """One frame as the engine sends it."""
    body = stamp_of(ts_ns) + b" " + payload
    return struct.pack(">BxxxL", kind, len(body)) + body


def answer_of(chance: random.Random, lines: int) -> tuple[bytes, list[tuple[int, int]]]:
    """Lines of both streams, slightly out of order between them, and where each stands."""
    places = [
        (chance.choice((1, 1, 2)), FIRST_NS + 1000 * number + chance.randrange(3000))
        for number in range(lines)
    ]
    places = list(dict.fromkeys(places))
    frames = [frame(kind, at, chance.choice(WORDS) + b"\n") for kind, at in places]
    return b"".join(frames), places


def rows_of(data: bytes) -> LogRows:
    """An answer that is rows."""
    rows = RowReader(io.BytesIO(data), MARKS).rows(1 << 30)
    assert isinstance(rows, LogRows)
    return rows


def cursors_of(
    chance: random.Random, data: bytes, places: Sequence[tuple[int, int]]
) -> dict[str, StreamCursor]:
    """Cursors as an earlier reader left them: at a line, at a time, or none."""
    left = []
    for number in chance.sample(range(len(places)), 2):
        early = list(join_lines(read_frames(io.BytesIO(data))))[: number + 1]
        left.append(increment_of(early, {}).cursors)
    return chance.choice(
        (
            {},
            {"stderr": StreamCursor(timestamp_ns=places[len(places) // 2][1])},
            dict(left[0]),
            {**left[0], **left[1]},
            {name: replace(one, line_hash="gone") for name, one in left[0].items()},
        )
    )


@pytest.mark.parametrize("seed", range(40))
def test_both_ways_find_the_same(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    data, places = answer_of(chance, 300)
    rows, cursors = rows_of(data), cursors_of(chance, data, places)
    until = chance.choice((None, places[200][1]))
    found = Reading(cursors, until_ns=until).rows(rows)
    lines = join_lines(read_frames(io.BytesIO(data)))
    wanted = increment_of(lines, cursors, until_ns=until)
    assert rows.are_distinct
    assert tuple(found.lines) == wanted.lines
    assert replace(found, lines=()) == replace(wanted, lines=())
    for name in STREAMS.values():
        assert amount_of(found.lines, name) == amount_of(wanted.lines, name)
    words = MARKS_TEXT
    some = list(lines_holding(found.lines, words))
    assert some == list(lines_holding(wanted.lines, words))
    assert all(any(word in line.text for word in words) for line in some)


@pytest.mark.parametrize(
    "odd",
    [
        frame(1, FIRST_NS, b"no end"),
        frame(1, FIRST_NS, b"x" * 16_384) + frame(1, FIRST_NS, b"y\n"),
        struct.pack(">BxxxL", 1, 40)
        + b"not a stamp, but of its length "
        + b"line 123\n",
        struct.pack(">BxxxL", 2, 6) + b"words\n",
    ],
    ids=["no newline", "pieces", "no stamp", "short"],
)
def test_an_answer_with_another_frame_is_read_the_long_way_from_its_beginning(
    odd: bytes,
) -> None:
    data = frame(1, FIRST_NS, b"one\n") * 5000 + odd + frame(2, FIRST_NS, b"two\n")
    again = RowReader(io.BytesIO(data)).rows(1 << 30)
    assert isinstance(again, Again)
    lines = list(join_lines(read_frames(again)))
    assert lines == list(join_lines(read_frames(io.BytesIO(data))))


class Long(RowReader):
    """An answer that is read the long way."""

    def rows(self, _most_bytes: int) -> Again:
        return Again(b"", self._answer)


@pytest.mark.parametrize("most", [1, 1000, 20_000])
def test_an_answer_is_cut_where_the_long_way_cuts_it(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(logs, "MOST_BYTES", most)
    data, places = answer_of(random.Random(most), 400)  # noqa: S311
    short = logs.Answer(io.BytesIO(data))
    monkeypatch.setattr(logs, "RowReader", Long)
    long = logs.Answer(io.BytesIO(data))
    lines = 0
    while True:
        one, other = short.part(), long.part()
        assert one.lines == other.lines
        assert (one.cut, one.frames) == (other.cut, other.frames)
        assert one.first_ts_ns == other.first_ts_ns
        lines += len(one.lines)
        if not one.cut:
            break
    assert lines == len(places)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("fewest", [1, 1 << 30], ids=["rows", "lines"])
def test_an_answer_in_parts_says_what_it_says_at_once(
    monkeypatch: pytest.MonkeyPatch, seed: int, fewest: int
) -> None:
    """Some lines share a stamp, also where one part ends and the next begins."""
    chance = random.Random(seed)  # noqa: S311
    monkeypatch.setattr(logs, "MOST_BYTES", chance.choice((1, 40, 2000)))
    monkeypatch.setattr(logs, "MANY", fewest)
    data, places = answer_of(chance, 200)
    data += b"".join(
        frame(1, FIRST_NS + 1_000_000 + number // 3, chance.choice(WORDS) + b"\n")
        for number in range(30)
    )
    cursors = cursors_of(chance, data, places)
    whole = increment_of(join_lines(read_frames(io.BytesIO(data))), cursors)
    answer, reading = logs.Answer(io.BytesIO(data), MARKS_TEXT), Reading(cursors)
    lines: list[LogLine] = []
    lost, cut, last = [], True, None
    while cut:
        found = answer.part()
        cut, last = found.cut, found.increment(reading)
        lines += last.lines
        lost += [last.lost] if last.lost else []
    assert last is not None
    assert tuple(lines) == whole.lines
    assert last.cursors == whole.cursors
    assert bool(lost) == bool(whole.lost)


def test_a_cut_answer_of_fewer_frames_than_asked_for_proves_nothing() -> None:
    """It may hold all that was asked for, behind where it was cut, and begin too late."""
    part = logs.Part(frames=5, first_ts_ns=100, cut=True)
    assert not part.begins_before(50, 256)
    assert part.begins_before(150, 256)
    assert logs.Part(frames=5, first_ts_ns=100).begins_before(50, 256)


def test_a_length_beyond_reason_is_not_waited_for() -> None:
    data = struct.pack(">BxxxL", 1, 1 << 31) + bytes(100_000)
    assert isinstance(RowReader(io.BytesIO(data)).rows(1 << 30), Again)


def test_two_lines_of_one_stamp_are_told() -> None:
    twice = frame(1, FIRST_NS, b"a\n") + frame(1, FIRST_NS, b"b\n")
    assert not rows_of(twice).are_distinct
    assert rows_of(frame(1, FIRST_NS, b"a\n") + frame(2, FIRST_NS, b"b\n")).are_distinct


def test_a_frame_that_is_cut_off_is_no_line() -> None:
    data = frame(1, FIRST_NS, b"one\n") + frame(1, FIRST_NS + 1, b"two\n")
    for length in range(len(data)):
        assert len(rows_of(data[:length])) == int(length >= len(data) // 2)


def test_stamps_are_those_of_the_engine() -> None:
    assert stamp_of(FIRST_NS + 7) == b"2026-11-27T12:00:00.000000007Z"
    assert timestamp_ns(stamp_of(FIRST_NS + 7).decode()) == FIRST_NS + 7


@pytest.mark.parametrize("kind", [0, 3])
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_frame_of_another_kind_among_alike_ones_is_not_passed_over(
    kind: int, place: int
) -> None:
    frames = [frame(1, FIRST_NS + number, b"alike\n") for number in range(4)]
    frames[place] = bytes([kind]) + frames[place][1:]
    assert isinstance(RowReader(io.BytesIO(b"".join(frames))).rows(1 << 30), Again)


@pytest.mark.parametrize("said", [36, 38])
def test_a_length_that_is_not_its_lines_is_not_believed(said: int) -> None:
    one = frame(1, FIRST_NS, b"alike\n")
    wrong = one[:4] + struct.pack(">L", said) + one[8:]
    assert len(one) == 8 + 37
    assert isinstance(RowReader(io.BytesIO(one + wrong + one)).rows(1 << 30), Again)
