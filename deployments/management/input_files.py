"""Input files of the reading commands: a path or standard input, as bytes."""

import sys
from collections.abc import Iterator
from pathlib import Path

from django.core.management.base import CommandError

UNUSABLE_INPUT = 2
LARGEST_INPUT_BYTES = 512 * 1024 * 1024
BLOCK_BYTES = 1024 * 1024


def read_input(name: str) -> bytes:
    """Return the content of a file; ``-`` is standard input.

    Raises:
        CommandError: the file cannot be read; exit code 2.
    """
    if name == "-":
        return sys.stdin.buffer.read(LARGEST_INPUT_BYTES)
    try:
        with Path(name).open("rb") as file:
            return file.read(LARGEST_INPUT_BYTES)
    except OSError as error:
        raise _unreadable(name, error) from error


def read_input_blocks(name: str) -> Iterator[bytes]:
    """Yield the content of a file of any size in pieces; ``-`` is standard input.

    Raises:
        CommandError: the file cannot be read; exit code 2.
    """
    if name == "-":
        yield from iter(lambda: sys.stdin.buffer.read(BLOCK_BYTES), b"")
        return
    try:
        with Path(name).open("rb") as file:
            yield from iter(lambda: file.read(BLOCK_BYTES), b"")
    except OSError as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: OSError) -> CommandError:
    return CommandError(
        f"The file {name!r} cannot be read: {error.strerror}.",
        returncode=UNUSABLE_INPUT,
    )
