"""From what people write for an engine version to the profiles it means."""

import re
from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.engines.definition import EngineProfile
from deployments.planning.engines.profile import profiles_of
from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, text
from deployments.planning.versions import FINAL, Version, parse_version

NEWEST_WORDS = frozenset({"latest", "nightly", "main", "dev", "newest"})
_WRITTEN = re.compile(
    r"v?(?P<numbers>\d+(?:\.\d+){0,3})"
    r"(?P<stage>(?:\.post\d+|rc\d+))?"
    r"(?P<open>\.(?:x|\*))?"
    r"(?P<dev>\.dev\d+\S*)?"
    r"(?P<upward>\+|\s*(?:and|or)\s+(?:later|newer|above))?"
    r"(?P<rest>[-+ ].*)?",
    re.IGNORECASE,
)


class Fit(StrEnum):
    """How the profile fits what was written.

    ``NEAREST`` is a release between known ones, or a development version; ``NEWER`` and ``OLDER``
    lie outside all profiles; ``NEWEST`` was no number (``latest``).
    """

    EXACT = "exact"
    RANGE = "range"
    NEAREST = "nearest"
    NEWER = "newer"
    OLDER = "older"
    NEWEST = "newest"


_NOTES = {
    fit: sentence.template
    for fit, sentence in {
        Fit.RANGE: text("{written} covers several releases; checked against {used}."),
        Fit.NEAREST: text(
            "{written} has no profile of its own; checked against {used}."
        ),
        Fit.NEWER: text(
            "{written} is newer than all profiles; checked against {used}."
        ),
        Fit.OLDER: text(
            "{written} is older than all profiles; checked against {used}."
        ),
        Fit.NEWEST: text(
            "{written} names no release; checked against {used}, the newest known."
        ),
    }.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What a written version means.

    ``profile`` is the one to check against: for ``0.11.0+`` the oldest that it covers, for
    ``0.20.x`` the newest. ``profiles`` are all that it covers, oldest first.
    """

    written: str
    fit: Fit
    profile: EngineProfile
    profiles: tuple[EngineProfile, ...]

    @property
    def note(self) -> Text | None:
        """One sentence where the profile is not of exactly this version, else ``None``."""
        template = _NOTES.get(self.fit)
        if template is None:
            return None
        return Text(template, {"written": self.written, "used": self._used})

    @property
    def _used(self) -> str:
        return f"{self.profile.engine} {self.profile.version}"


def resolve_version(engine: str, written: str) -> Resolution:
    """Find the profiles of ``0.11.0+``, ``0.20.x``, ``0.12``, ``v0.23.0rc1-a3`` and the like.

    Raises:
        PlanningError: the engine is unknown, or the text is no version.
    """
    known = profiles_of(engine)
    asked = written.strip()
    if asked.casefold().partition("-")[0] in NEWEST_WORDS:
        return _resolution(asked, Fit.NEWEST, known[-1:])
    found = _WRITTEN.fullmatch(asked)
    if found is None:
        raise PlanningError(
            text(
                "{written} is not an engine version; write 0.32.0, 0.20.x or 0.11.0+.",
                written=repr(written),
            )
        )
    return _numbered(asked, found, known)


def _numbered(
    asked: str, found: re.Match[str], known: tuple[EngineProfile, ...]
) -> Resolution:
    wanted = _version(found)
    if found["upward"]:
        later = tuple(one for one in known if parse_version(one.version) >= wanted)
        return _chosen(asked, wanted, later, known, first=True)
    short = found["numbers"].count(".") < 2 and found["stage"] is None
    if found["open"] or short:
        prefix = wanted.release[: found["numbers"].count(".") + 1]
        covered = tuple(
            one
            for one in known
            if parse_version(one.version).release[: len(prefix)] == prefix
        )
        return _chosen(asked, wanted, covered, known, first=False)
    exact = tuple(one for one in known if parse_version(one.version) == wanted)
    if exact and not found["dev"]:
        return _resolution(asked, Fit.EXACT, exact)
    return _outside(asked, wanted, known)


def _version(found: re.Match[str]) -> Version:
    numbers, stage = found["numbers"], found["stage"] or ""
    if "." not in numbers:
        numbers = f"{numbers}.0"
    return parse_version(f"{numbers}{stage.lower()}")


def _chosen(
    asked: str,
    wanted: Version,
    covered: tuple[EngineProfile, ...],
    known: tuple[EngineProfile, ...],
    *,
    first: bool,
) -> Resolution:
    if not covered:
        return _outside(asked, wanted, known)
    finals = tuple(one for one in covered if parse_version(one.version).stage >= FINAL)
    offered = finals or covered
    chosen = covered[0] if first else offered[-1]
    fit = Fit.EXACT if len(covered) == 1 and not first else Fit.RANGE
    return Resolution(written=asked, fit=fit, profile=chosen, profiles=covered)


def _outside(
    asked: str, wanted: Version, known: tuple[EngineProfile, ...]
) -> Resolution:
    before = tuple(one for one in known if parse_version(one.version) <= wanted)
    if not before:
        return _resolution(asked, Fit.OLDER, known[:1])
    fit = Fit.NEWER if len(before) == len(known) else Fit.NEAREST
    return _resolution(asked, fit, before[-1:])


def _resolution(
    asked: str, fit: Fit, profiles: tuple[EngineProfile, ...]
) -> Resolution:
    return Resolution(written=asked, fit=fit, profile=profiles[-1], profiles=profiles)
