"""Reading on in a file: whole lines once, another file in its place recognised, what is missing said."""

import base64
import io
import json

import pytest

from deployments.docker_api import file_logs
from deployments.docker_api.file_logs import (
    CONTEXT_BYTES,
    MOST_BYTES,
    FileCursor,
    FileIncrement,
    increment_of_file,
)

NOTHING_READ = FileCursor()


def read(
    content: bytes, cursor: FileCursor = NOTHING_READ, *, final: bool = False
) -> FileIncrement:
    return increment_of_file(io.BytesIO(content), len(content), cursor, final=final)


@pytest.mark.parametrize("head", [b"", b"banner\n" * 5, b"banner\n" * 50_000])
def test_whole_lines_are_read_once(head: bytes) -> None:
    first = read(head + b"one\ntw")
    assert first.data == head + b"one\n"
    second = read(head + b"one\ntwo\nthree\n", first.cursor)
    assert (second.data, second.rotated) == (b"two\nthree\n", False)
    assert second.before == (head + b"one\n")[-CONTEXT_BYTES:]
    assert read(head + b"one\ntwo\nthree\n", second.cursor).data == b""


def test_a_last_line_without_an_end_waits_until_nothing_more_comes() -> None:
    assert read(b"one\ntwo").data == b"one\n"
    assert read(b"one\ntwo", final=True).data == b"one\ntwo"
    assert read(b"two").cursor == FileCursor()


@pytest.mark.parametrize(
    "content",
    [b"", b"on", b"ONE\ntwo\nthree\n", b"one\nTWO\nthree\n", b"three\nfour\nfive\n"],
    ids=["emptied", "cut", "other head", "other end", "another file"],
)
def test_another_file_in_its_place_is_read_from_its_start(content: bytes) -> None:
    cursor = read(b"one\ntwo\n").cursor
    found = read(content, cursor)
    assert (found.rotated, found.data, found.cursor) == (True, b"", FileCursor())
    assert found.more is bool(content)


def test_a_file_that_grew_by_more_than_a_read_takes_several() -> None:
    line = b"x" * 1023 + b"\n"
    content = line * (MOST_BYTES // 1024 + 10) + b"end\n"
    first = read(content)
    assert first.more
    assert len(first.data) == MOST_BYTES
    second = read(content, first.cursor)
    assert (second.more, second.data) == (False, line * 10 + b"end\n")


def header(**found: object) -> str:
    return base64.b64encode(json.dumps(found).encode()).decode()


def test_what_the_engine_says_of_a_file_is_read_with_care() -> None:
    stat = file_logs._stat(  # noqa: SLF001 - what a header may hold
        header(size=5, mode=0o644, mtime="2026-11-29T17:24:29.432574484Z")
    )
    assert stat is not None
    assert (stat.size, stat.modified_ns % 10**9) == (5, 432574484)
    zone = file_logs._stat(header(size=5, mode=0, mtime="2026-11-29T17:24:29+08:00"))  # noqa: SLF001
    assert zone is not None
    assert zone.modified_ns == (stat.modified_ns // 10**9 - 8 * 3600) * 10**9
    for wrong in (
        "",
        "no base64!",
        header(size=5),
        header(size="5", mode=0, mtime=""),
        header(size=5, mode=0x80000000, mtime=""),
        header(size=5, mode=0x08000000, mtime=""),
    ):
        assert file_logs._stat(wrong) is None  # noqa: SLF001
