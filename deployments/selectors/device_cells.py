"""Devices of a host as cells: runs of neighbours that one replica holds, card by card."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from deployments.models import (
    Device,
    Host,
    Platform,
    Reachability,
    ReleaseState,
    Replica,
)

DEVICES_PER_CARD = {Platform.ASCEND_A3.value: 2}
"""An Atlas A3 card carries two dies, each of which the runtime counts as a device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRun:
    """Neighbouring devices of one holder; ``cards`` groups their numbers as they sit on cards.

    ``kind`` is used, prefill, held (booked by a release that is not live), alien (reported
    unhealthy), stale (free when last seen) or free. ``replica`` is ``None`` for the last three, and
    where another team holds them (``foreign``).
    """

    kind: str
    cards: tuple[tuple[int, ...], ...]
    replica: Replica | None = None
    foreign: bool = False

    @property
    def count(self) -> int:
        """How many devices the run has."""
        return sum(len(card) for card in self.cards)


def cell_runs(
    host: Host,
    devices: Sequence[Device],
    holders: Mapping[int, Replica],
    foreign: Collection[int | None] = (),
) -> tuple[CellRun, ...]:
    """The devices in the order of their numbers, in runs of one holder and one kind.

    Of ``foreign`` ones is not said which deployment holds them.
    """
    unreachable = host.reachability == Reachability.UNREACHABLE

    def key(device: Device) -> tuple[str, str]:
        replica = holders.get(device.number)
        kind = _kind(device, replica, unreachable=unreachable)
        return kind, str(replica.pk) if replica else ""

    per_card = DEVICES_PER_CARD.get(host.platform, 1)
    runs = []
    for (kind, _holder), group in groupby(devices, key=key):
        numbers = [device.number for device in group]
        runs.append(
            CellRun(
                kind=kind,
                cards=tuple(
                    tuple(card)
                    for _card, card in groupby(numbers, key=lambda n: n // per_card)
                ),
                replica=None if numbers[0] in foreign else holders.get(numbers[0]),
                foreign=numbers[0] in foreign,
            )
        )
    return tuple(runs)


def _kind(device: Device, replica: Replica | None, *, unreachable: bool) -> str:
    if replica is None:
        if device.healthy is False:
            return "alien"
        return "stale" if unreachable else "free"
    if replica.release.state != ReleaseState.LIVE:
        return "held"
    return "prefill" if replica.role == "prefill" else "used"
