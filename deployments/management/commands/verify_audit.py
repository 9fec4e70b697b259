"""``manage.py verify_audit [FILE]``: whether nobody changed, removed or swapped an entry."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from deployments.management.input_files import UNUSABLE_INPUT, read_input_blocks
from deployments.planning.canonical import Json
from deployments.selectors.audit_chain import (
    Broken,
    Verdict,
    check_database,
    check_links,
    is_still_here,
)


class Command(BaseCommand):
    """Follow the chain of this panel, or of an export, and name the first entry that is broken."""

    help = "Verify the chain of audit entries; exit code 1 says that it is broken."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take an export, and the form of the answer."""
        parser.add_argument(
            "file",
            nargs="?",
            default="",
            help="what export_audit printed, or - for standard input; without it, the database",
        )
        parser.add_argument(
            "--alone",
            action="store_true",
            help="do not ask the database whether it still has the last entry of the file",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Answer; exit code 1 when the chain is broken.

        Raises:
            CommandError: the file or the database cannot be read; exit code 2.
        """
        try:
            found = _verdict(options["file"], alone=options["alone"])
        except DatabaseError as error:
            raise CommandError(
                "The database cannot be read: run manage.py migrate first, or give --alone.",
                returncode=UNUSABLE_INPUT,
            ) from error
        if options["json"]:
            self.stdout.write(json.dumps(asdict(found)))
        else:
            self.stdout.write(_sentence(found))
        if found.broken is not None:
            raise SystemExit(1)


def _verdict(file: str, *, alone: bool) -> Verdict:
    if not file:
        return check_database()
    found = check_links(_lines(file))
    if alone or found.broken is not None or is_still_here(found):
        return found
    why = "the database has another entry in its place, or none"
    return Verdict(
        entries=found.entries,
        digest=found.digest,
        broken=Broken(sequence=found.entries, why=why),
    )


def _lines(file: str) -> Iterator[dict[str, Json]]:
    rest = b""
    number = 0
    for block in read_input_blocks(file):
        *whole, rest = (rest + block).split(b"\n")
        for line in whole:
            number += 1
            yield _entry(line, number)
    if rest.strip():
        yield _entry(rest, number + 1)


def _entry(line: bytes, number: int) -> dict[str, Json]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        raise CommandError(
            f"Line {number} is no JSON object: give a file that export_audit wrote.",
            returncode=UNUSABLE_INPUT,
        )
    return entry


def _sentence(found: Verdict) -> str:
    if found.broken is not None:
        return f"Broken at entry {found.broken.sequence}: {found.broken.why}."
    end = f", the last is {found.digest}" if found.digest else ""
    return f"{found.entries} entries, every one holds{end}."
