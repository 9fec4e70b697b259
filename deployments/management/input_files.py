"""Input files of the reading commands: a path or standard input, as bytes."""

import sys
from pathlib import Path

from django.core.management.base import CommandError

UNUSABLE_INPUT = 2
LARGEST_INPUT_BYTES = 512 * 1024 * 1024


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
        raise CommandError(
            f"The file {name!r} cannot be read: {error.strerror}.",
            returncode=UNUSABLE_INPUT,
        ) from error
