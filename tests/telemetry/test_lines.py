"""Prefixes come off, whoever put them there; hostile bytes do no harm."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.telemetry.logs.lines import (
    LONGEST_LINE_BYTES,
    parse_line,
    read_lines,
    without_escapes,
)

HEADER = "(APIServer pid=7) INFO 11-29 15:31:40 [metrics.py:120] "
MESSAGE = "SpecDecoding metrics: Accepted: 1 tokens"


@pytest.mark.parametrize(
    ("prefix", "source", "outer_time"),
    [
        ("", None, None),
        ("vllm-1  | ", "vllm-1", None),
        ("2026-05-18T11:19:54.338370303Z ", None, "2026-05-18T11:19:54.338370303Z"),
        ("2026-05-18 11:19:54.338 | ", None, "2026-05-18 11:19:54.338"),
        ("vllm-1 | 2026-05-18T11:19:54Z ", "vllm-1", "2026-05-18T11:19:54Z"),
        ("[pod/glm-0/vllm] ", "pod/glm-0/vllm", None),
        ("glm-0 vllm ", "glm-0 vllm", None),
        ("\x1b[0;36m", None, None),
        ("Processed prompts:  50%|#####     | 5/10 [00:16<00:16]", None, None),
    ],
)
def test_every_prefix_comes_off(
    prefix: str, source: str | None, outer_time: str | None
) -> None:
    line = parse_line(prefix + HEADER + MESSAGE, 4)
    assert line.message == MESSAGE
    assert (line.process, line.pid, line.level) == ("APIServer", 7, "INFO")
    assert (line.log_time, line.place) == ("11-29 15:31:40", "metrics.py:120")
    assert (line.number, line.source, line.outer_time) == (4, source, outer_time)


@pytest.mark.parametrize(
    "text",
    [
        "INFO 10-16 19:05:47 metrics.py:367] hello",
        "INFO 06-06 14:20:34 [loggers.py:116] hello",
    ],
)
def test_older_headers_have_no_process(text: str) -> None:
    line = parse_line(text)
    assert line.message == "hello"
    assert line.process is None
    assert line.level == "INFO"


def test_access_line_keeps_its_process() -> None:
    line = parse_line(
        '(APIServer pid=1) INFO:     192.0.2.1:4 - "GET / HTTP/1.1" 200 OK'
    )
    assert line.process == "APIServer"
    assert line.log_time is None


def test_plain_text_is_its_own_message() -> None:
    line = parse_line("Traceback (most recent call last):")
    assert line.message == "Traceback (most recent call last):"
    assert not line.has_header


def test_carriage_return_is_no_line_end() -> None:
    pieces = [(line.number, line.message) for line in read_lines(b"a\rb\r\n\nc")]
    assert pieces == [(1, "a"), (1, "b"), (3, "c")]


def test_pieces_of_a_kubernetes_runtime_are_joined_per_stream() -> None:
    data = (
        b"2026-05-18T11:20:04.1Z stderr P one \n"
        b"2026-05-18T11:20:04.2Z stdout F other\n"
        b"2026-05-18T11:20:04.3Z stderr F two\n"
    )
    lines = [(line.number, line.message) for line in read_lines(data)]
    assert lines == [(2, "other"), (1, "one two")]


def test_last_piece_without_its_end_is_not_lost() -> None:
    (line,) = read_lines(b"2026-05-18T11:20:04.1Z stdout P half")
    assert line.message == "half"


def test_long_line_is_cut() -> None:
    (line,) = read_lines(b"x" * (2 * LONGEST_LINE_BYTES))
    assert len(line.message) == LONGEST_LINE_BYTES


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    (line,) = read_lines(b"\xff\xfe \x00bad")
    assert line.message == "\ufffd\ufffd bad"


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31mred\x1b[0m",
        "\x1b]0;title\x07red",
        "\x1b]8;;http://x\x1b\\red",
        "\x1bcred",
    ],
)
def test_terminal_escapes_are_gone(text: str) -> None:
    assert without_escapes(text).endswith("red")
    assert "\x1b" not in without_escapes(text)


@given(st.binary(max_size=2000))
def test_any_bytes_can_be_read(data: bytes) -> None:
    assert all("\n" not in line.message for line in read_lines(data))


def json_line(log: str) -> bytes:
    words = {"log": log, "stream": "stderr", "time": "2026-11-29T15:04:05.123456789Z"}
    return json.dumps(words).encode()


def test_dockers_own_log_file_is_read_and_its_pieces_are_joined() -> None:
    """Docker splits a line behind 16 kB; only the last piece has the newline."""
    text = (
        '(APIServer pid=7) INFO 11-29 15:04:05 [metrics.py:120] "a" \x1b[1mb\x1b[0m c'
    )
    cut = text.index('"a"') + 1
    log = [text[:cut], text[cut:], "\n", "\n", "d\re\n", "f"]
    first, *others = read_lines(b"\n".join(map(json_line, log)))
    assert (first.message, first.process, first.pid) == ('"a" b c', "APIServer", 7)
    assert first.outer_time == "2026-11-29T15:04:05.123456789Z"
    assert [(line.number, line.message) for line in others] == [
        (5, "d"),
        (5, "e"),
        (6, "f"),
    ]


def test_other_json_is_left_as_it_is() -> None:
    for text in ('{"log": 3}', '{"log":"cut', '{"log":"x","level":"INFO"}', "{}"):
        assert [line.message for line in read_lines(text.encode())] == [text]


def test_stamps_within_a_long_line_come_off() -> None:
    """``docker logs --timestamps`` has one every 16,384 bytes of a line, in the middle of words."""
    stamp = "2026-11-29T15:04:05.123456789Z "
    message = "x" * 16_380 + "SpecDecoding metrics: " + "y" * 20_000 + " end"
    pieces = [message[at : at + 16_384] for at in range(0, len(message), 16_384)]
    data = "".join(f"{stamp}{piece}" for piece in pieces).encode()
    for prefix in (b"", b"engine-1  | "):
        (line,) = read_lines(prefix + data + b"\n")
        assert line.message == message
    short = f"{stamp}x {stamp}y".encode()
    assert next(read_lines(short)).message == f"x {stamp}y"
