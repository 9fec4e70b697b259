"""``manage.py verify_audit [FILE]``: whether nobody changed, removed or swapped an entry."""

import json
import re
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
    kept_entries,
)

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class Command(BaseCommand):
    """Follow the chain of this panel, or of an export, and name the first entry that is broken."""

    help = "Verify the chain of audit entries; exit code 1 says that it is broken."
    requires_system_checks: list[str] = []
    entries = 0

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
        parser.add_argument(
            "--after",
            default="",
            metavar="N,DIGEST",
            help="begin after this entry: what an earlier run said of the last that holds",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Answer; exit code 1 when the chain is broken.

        Raises:
            CommandError: the file, the database or the entry to begin after cannot be read; exit
                code 2.
        """
        try:
            found = self._verdict(**options)
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

    def _verdict(self, *, file: str, alone: bool, after: str, **_: Any) -> Verdict:
        if not file:
            self.entries = kept_entries()
            return check_database(_known(after) if after else None, self._tell)
        if after:
            raise CommandError(
                "--after is for the database: a file is read from its first line.",
                returncode=UNUSABLE_INPUT,
            )
        found = check_links(_lines(file))
        if alone or found.broken is not None or is_still_here(found):
            return found
        why = "the database has another entry in its place, or none"
        return Verdict(
            entries=found.entries,
            digest=found.digest,
            broken=Broken(sequence=found.entries, why=why),
        )

    def _tell(self, entries: int) -> None:
        """How far it is, on standard error: the answer alone is on standard output."""
        self.stderr.write(f"{entries} of {self.entries} entries hold ...")
        self.stderr.flush()


def _known(after: str) -> Verdict:
    number, _, digest = after.partition(",")
    if not (number.isascii() and number.isdigit() and _DIGEST.fullmatch(digest)):
        raise CommandError(
            "--after takes a number and a digest, as 200000,sha256:0a1b...; both are in the answer "
            "of an earlier run.",
            returncode=UNUSABLE_INPUT,
        )
    return Verdict(entries=int(number), digest=digest)


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
