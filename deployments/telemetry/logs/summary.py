"""Summary: the block that vLLM's offline example scripts print at the end."""

import re
from dataclasses import dataclass

_COUNTER = re.compile(
    r"^(?P<name>num_drafts|num_draft_tokens|num_accepted_tokens|mean acceptance length)"
    r": ?(?P<value>\d{1,15}(?:\.\d{1,6})?)\s*$"
)
_POSITION = re.compile(
    r"^acceptance at token (?P<position>\d{1,4}): ?(?P<value>\d(?:\.\d{1,6})?)\s*$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineSummary:
    """Totals of one offline run; ``None`` is a line that was not printed."""

    accepted: int | None
    drafted: int | None
    num_drafts: int | None
    num_speculative_tokens: int | None
    acceptance_rate: float | None
    mean_acceptance_length: float | None
    per_position: tuple[float, ...] | None


class SummaryReader:
    """Collects the lines of the block; a block that comes again replaces the one before."""

    def __init__(self) -> None:
        self._values: dict[str, float] = {}
        self._positions: list[float] = []

    def read(self, message: str) -> None:
        """Read one message."""
        counter = _COUNTER.match(message)
        if counter:
            if counter["name"] == "num_drafts":
                self._values, self._positions = {}, []
            self._values[counter["name"]] = float(counter["value"])
            return
        position = _POSITION.match(message)
        if position:
            if int(position["position"]) == 0:
                self._positions = []
            self._positions.append(float(position["value"]))

    @property
    def summary(self) -> OfflineSummary | None:
        """The block, ``None`` when the log has none."""
        if not self._values and not self._positions:
            return None
        accepted = self._count("num_accepted_tokens")
        drafted = self._count("num_draft_tokens")
        drafts = self._count("num_drafts")
        count = len(self._positions) or None
        if drafted and drafts and drafted % drafts == 0:
            count = drafted // drafts
        length = self._values.get("mean acceptance length")
        if accepted is not None and drafts:
            length = 1 + accepted / drafts
        return OfflineSummary(
            accepted=accepted,
            drafted=drafted,
            num_drafts=drafts,
            num_speculative_tokens=count,
            acceptance_rate=accepted / drafted
            if accepted is not None and drafted
            else None,
            mean_acceptance_length=length,
            per_position=tuple(self._positions) or None,
        )

    def _count(self, name: str) -> int | None:
        value = self._values.get(name)
        return None if value is None else int(value)
