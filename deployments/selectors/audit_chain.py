"""The chain of audit entries: what a digest covers, and whether every link still holds."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC

from deployments.models import AuditEntry, AuditHead
from deployments.planning.canonical import Json, digest_of
from deployments.planning.errors import PlanningError

FORMAT = 1
"""Of the content that digests cover; a later one would be read beside this."""
CHUNK_ROWS = 1000


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
    return {
        "format": FORMAT,
        "sequence": entry.sequence,
        "id": str(entry.pk),
        "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "actor": entry.actor_id,
        "actor_name": entry.actor_name,
        "team": None if entry.team_id is None else str(entry.team_id),
        "team_name": entry.team_name,
        "action": entry.action,
        "object_kind": entry.object_kind,
        "object_id": entry.object_id,
        "object_name": entry.object_name,
        "within_id": entry.within_id,
        "before": entry.before,
        "after": entry.after,
        "reason": entry.reason,
        "address": entry.address,
        "agent": entry.agent,
        "previous": entry.previous,
    }


def exported(entry: AuditEntry) -> dict[str, Json]:
    """An entry as exports hold it: its content and its digest."""
    return {**content_of(entry), "digest": entry.digest}


def whole_chain() -> Iterator[dict[str, Json]]:
    """Every entry as exports hold it, the first first."""
    rows = AuditEntry.objects.order_by("sequence")
    return map(exported, rows.iterator(chunk_size=CHUNK_ROWS))


def check_links(lines: Iterable[Mapping[str, Json]]) -> Verdict:
    """Follow a chain from its first entry until a link does not hold."""
    number, digest = 0, ""
    for line in lines:
        why = _trouble(line, number + 1, digest)
        if why:
            return _broken(Verdict(entries=number, digest=digest), number + 1, why)
        number, digest = number + 1, str(line["digest"])
    return Verdict(entries=number, digest=digest)


def check_database() -> Verdict:
    """Follow the chain of this panel, and compare its end with the one that was kept.

    Others may add entries meanwhile.
    """
    before = _kept_end()
    found = check_links(whole_chain())
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
