"""Frames of the engine's log stream, read without an engine."""

import io
import struct

import pytest

from deployments.docker_api.frames import (
    LONGEST_LINE,
    RawLine,
    join_lines,
    read_frames,
    since_argument,
    timestamp_ns,
)

STAMP = "2026-11-29T17:24:29.432574484Z"
NS = 1_795_973_069_432_574_484


def frame(text: bytes, *, stream: int = 1, stamp: str = STAMP) -> bytes:
    body = stamp.encode() + b" " + text
    return struct.pack(">BxxxL", stream, len(body)) + body


def lines(data: bytes) -> list[RawLine]:
    return list(join_lines(read_frames(io.BytesIO(data))))


def test_a_frame_is_a_line() -> None:
    assert lines(frame(b"hello\n")) == [
        RawLine("stdout", NS, b"hello", truncated=False)
    ]


def test_pieces_of_two_streams_are_joined_apart() -> None:
    data = frame(b"a") + frame(b"x", stream=2) + frame(b"b\n") + frame(b"y\n", stream=2)
    assert [(line.stream, line.data) for line in lines(data)] == [
        ("stdout", b"ab"),
        ("stderr", b"xy"),
    ]


def test_what_has_no_end_yet_comes_last_and_is_marked() -> None:
    part, whole = sorted(
        lines(frame(b"part", stream=2) + frame(b"whole\n")), key=lambda one: one.whole
    )
    assert (part.data, part.whole) == (b"part", False)
    assert (whole.data, whole.whole) == (b"whole", True)


def test_a_cut_answer_loses_only_its_last_frame() -> None:
    data = frame(b"one\n") + frame(b"two\n")
    assert [line.data for line in lines(data[:-3])] == [b"one"]


def test_the_engines_own_words_are_skipped() -> None:
    body = b"Error grabbing logs: invalid character\n"
    data = struct.pack(">BxxxL", 2, len(body)) + body + frame(b"one\n")
    assert [line.data for line in lines(data)] == [b"one"]


def test_a_log_with_a_terminal_is_refused() -> None:
    with pytest.raises(ValueError, match="no log frame"):
        lines(b"plain text, no frames\n")


def test_a_line_keeps_64_kb_at_most() -> None:
    (line,) = lines(frame(b"x" * LONGEST_LINE) + frame(b"y\n"))
    assert (len(line.data), line.truncated) == (LONGEST_LINE, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STAMP, NS),
        ("2026-11-29T17:24:29Z", 1_795_973_069_000_000_000),
        ("2026-11-29T17:24:29.5Z", 1_795_973_069_500_000_000),
        ("2026-11-29T17:24:29.432574484+01:00", None),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000_000_000),
        ("yesterday", None),
        ("", None),
    ],
)
def test_time_stamps(text: str, expected: int | None) -> None:
    assert timestamp_ns(text) == expected


def test_since_has_nine_digits() -> None:
    assert since_argument(1_000_000_007) == "1.000000007"
