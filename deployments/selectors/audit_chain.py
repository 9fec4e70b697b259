"""The chain of audit entries: what a digest covers, and whether every link still holds."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any

from deployments.models import AuditEntry, AuditHead
from deployments.planning.canonical import Json, digest_of
from deployments.planning.errors import PlanningError

FORMAT = 1
"""Of the content that digests cover; a later one would be read beside this."""
CHUNK_ROWS = 1000
TOLD_EVERY = 20_000
FIELDS = (
    "sequence",
    "id",
    "at",
    "actor_id",
    "actor_name",
    "team_id",
    "team_name",
    "action",
    "object_kind",
    "object_id",
    "object_name",
    "within_id",
    "before",
    "after",
    "reason",
    "address",
    "agent",
    "previous",
)
"""What a digest covers, in the order of ``_content``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The first link that does not hold, and why."""

    sequence: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How many entries hold, the digest of the last of them, and what is broken, if anything."""

    entries: int
    digest: str
    broken: Broken | None = None


def content_of(entry: AuditEntry) -> dict[str, Json]:
    """Everything that the digest of an entry covers."""
    return _content(*(getattr(entry, name) for name in FIELDS))


def _content(*values: Any) -> dict[str, Json]:  # noqa: ANN401 - as the columns are
    row = dict(zip(FIELDS, values, strict=True))
    actor, team = row.pop("actor_id"), row.pop("team_id")
    return {
        **row,
        "format": FORMAT,
        "id": str(row["id"]),
        "at": row["at"].astimezone(UTC).isoformat(timespec="microseconds"),
        "actor": actor,
        "team": None if team is None else str(team),
    }


def exported(entry: AuditEntry) -> dict[str, Json]:
    """An entry as exports hold it: its content and its digest."""
    return {**content_of(entry), "digest": entry.digest}


def whole_chain(after: int = 0) -> Iterator[dict[str, Json]]:
    """Every entry after that number as exports hold it, the first first; in little memory."""
    rows = AuditEntry.objects.filter(sequence__gt=after).order_by("sequence")
    for *values, digest in rows.values_list(*FIELDS, "digest").iterator(
        chunk_size=CHUNK_ROWS
    ):
        yield {**_content(*values), "digest": digest}


def check_links(
    lines: Iterable[Mapping[str, Json]],
    known: Verdict | None = None,
    tell: Callable[[int], None] | None = None,
) -> Verdict:
    """Follow a chain from its first entry, or from what is known to hold, until a link does not.

    ``tell`` is told now and then how many entries hold.
    """
    number, digest = (known.entries, known.digest) if known else (0, "")
    for line in lines:
        why = _trouble(line, number + 1, digest)
        if why:
            return _broken(Verdict(entries=number, digest=digest), number + 1, why)
        number, digest = number + 1, str(line["digest"])
        if tell is not None and number % TOLD_EVERY == 0:
            tell(number)
    return Verdict(entries=number, digest=digest)


def check_database(
    known: Verdict | None = None, tell: Callable[[int], None] | None = None
) -> Verdict:
    """Follow the chain of this panel, and compare its end with the one that was kept.

    From ``known`` on, where an earlier run found so many entries to hold: their last must still be
    there, and what is before it is not read again. Others may add entries meanwhile.
    """
    before = _kept_end()
    if known is not None and not is_still_here(known):
        why = "it is not the entry that held when it was verified before"
        return _broken(known, known.entries, why)
    found = check_links(whole_chain(known.entries if known else 0), known, tell)
    if found.broken is not None:
        return found
    if found.entries < before.sequence:
        return _broken(
            found,
            found.entries + 1,
            f"the end was cut off: {before.sequence} entries were written",
        )
    if _kept_end().sequence < found.entries or not is_still_here(
        Verdict(entries=before.sequence, digest=before.digest)
    ):
        return _broken(found, found.entries, "the kept end is another")
    return found


def kept_entries() -> int:
    """How many entries were written, as the end of the chain has it."""
    return _kept_end().sequence


def _kept_end() -> AuditHead:
    return AuditHead.objects.first() or AuditHead()


def _broken(found: Verdict, sequence: int, why: str) -> Verdict:
    return replace(found, broken=Broken(sequence=sequence, why=why))


def is_still_here(verdict: Verdict) -> bool:
    """Whether the panel's own chain has the last entry of an export, unchanged."""
    rows = AuditEntry.objects.filter(sequence=verdict.entries, digest=verdict.digest)
    return not verdict.entries or rows.exists()


def _trouble(line: Mapping[str, Json], sequence: int, previous: str) -> str:
    """Why a line is not the next link; empty if it is."""
    found = line.get("sequence")
    if found != sequence:
        return f"entry {sequence} is missing: {found} stands in its place"
    content = {key: value for key, value in line.items() if key != "digest"}
    try:
        holds = digest_of(content) == line.get("digest")
    except PlanningError:
        holds = False
    if not holds:
        return "its content is not what its digest covers"
    if line.get("previous") != previous:
        return "it does not follow the entry before it"
    return ""
