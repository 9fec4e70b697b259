"""Engine versions that compare: 0.9.2 < 0.23.0rc1 < 0.23.0 < 0.23.0.post1."""

import re
from dataclasses import dataclass

from deployments.planning.errors import PlanningError
from deployments.planning.text import text

FINAL = (1, 0)
_SPELLING = re.compile(
    r"v?(?P<release>\d+(?:\.\d+){1,3})(?:rc(?P<candidate>\d+)|\.post(?P<post>\d+))?"
    r"(?:\+[A-Za-z0-9][A-Za-z0-9.]*)?"
)


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A release number; a release candidate sorts before its release, a post release after it."""

    release: tuple[int, ...]
    stage: tuple[int, int] = FINAL

    def __str__(self) -> str:
        """Return the spelling of the package index, without a leading ``v``."""
        numbers = ".".join(str(number) for number in self.release)
        if self.stage == FINAL:
            return numbers
        kind, number = self.stage
        return f"{numbers}{'rc' if kind == 0 else '.post'}{number}"


def parse_version(spelling: str) -> Version:
    """Read ``0.32.0``, ``v0.23.0rc1`` or ``0.8.5.post1``; a local part (``+acme``) does not count.

    Raises:
        PlanningError: the spelling is none of these.
    """
    match = _SPELLING.fullmatch(spelling.strip())
    if match is None:
        raise PlanningError(
            text(
                "{spelling} is not an engine version; write it as 0.32.0 or 0.23.0rc1.",
                spelling=repr(spelling),
            )
        )
    numbers = [int(part) for part in match["release"].split(".")]
    while len(numbers) < 3:
        numbers.append(0)
    if match["candidate"] is not None:
        return Version(tuple(numbers), (0, int(match["candidate"])))
    if match["post"] is not None:
        return Version(tuple(numbers), (2, int(match["post"])))
    return Version(tuple(numbers))
