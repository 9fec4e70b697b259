"""Which devices and ports of a host a replica takes, and what stands in the way."""

from dataclasses import dataclass, field

from deployments.planning.errors import PlanningError
from deployments.planning.snapshot import HostSnapshot
from deployments.planning.text import text

LAST_PORT = 65535


@dataclass(slots=True)
class HostBook:
    """What is taken on one host while a plan is being laid out.

    ``shortages`` collects (devices wanted, devices free) and ``clashes`` the ports that were asked
    for by number and are taken.
    """

    host: HostSnapshot
    devices: set[int] = field(default_factory=set)
    ports: set[int] = field(default_factory=set)
    shortages: list[tuple[int, int]] = field(default_factory=list)
    clashes: list[int] = field(default_factory=list)

    @property
    def free(self) -> tuple[int, ...]:
        """Device numbers that nobody holds."""
        taken = self.devices | set(self.host.taken_devices)
        return tuple(
            number for number in range(self.host.device_count) if number not in taken
        )

    def take_devices(self, count: int, *, per_card: int = 1) -> tuple[int, ...]:
        """Take free devices: an aligned block, else a block, else the lowest numbers.

        Cards of ``per_card`` devices are taken whole, and only those of which nobody holds a part.
        With too few free ones the shortage is noted and the lowest numbers of the host are named,
        so that the rest of the plan can still be read.
        """
        count = -(-count // per_card) * per_card
        whole = {number // per_card for number in self.free}
        whole -= {
            number // per_card for number in self.devices | set(self.host.taken_devices)
        }
        free = tuple(number for number in self.free if number // per_card in whole)
        if len(free) < count:
            self.shortages.append((count, len(free)))
            return tuple(range(min(count, self.host.device_count)))
        chosen = _block(free, count)
        self.devices.update(chosen)
        return chosen

    def take_ports(self, first: int, count: int = 1, *, step: int = 1) -> int:
        """Take a run of ports at ``first`` or the next free run ``step`` higher; return its first."""
        start = self.next_free_run(first, count, step=step)
        self.ports.update(range(start, start + count))
        return start

    def next_free_run(self, first: int, count: int, *, step: int) -> int:
        """Return the first port of the next free run.

        Raises:
            PlanningError: no run is free up to the last port.
        """
        start = first
        while any(port in self._taken_ports for port in range(start, start + count)):
            start += step
        if start + count - 1 > LAST_PORT:
            raise PlanningError(
                text(
                    "The host {host} has no {count} free ports from {first} on; free some or choose "
                    "another host.",
                    host=self.host.name,
                    count=count,
                    first=first,
                )
            )
        return start

    def take_port_exactly(self, port: int) -> int:
        """Take the port a person asked for; a clash is noted."""
        if port in self._taken_ports:
            self.clashes.append(port)
        self.ports.add(port)
        return port

    @property
    def _taken_ports(self) -> set[int]:
        return self.ports | set(self.host.taken_ports)


def _block(free: tuple[int, ...], count: int) -> tuple[int, ...]:
    available = set(free)
    starts = sorted(free, key=lambda number: (number % max(count, 1) != 0, number))
    for start in starts:
        block = range(start, start + count)
        if available.issuperset(block):
            return tuple(block)
    return free[:count]


def take_ports_everywhere(
    books: tuple[HostBook, ...], first: int, count: int, *, step: int
) -> int:
    """Take the same run of ports on several hosts; return its first."""
    start = first
    while True:
        starts = {book.next_free_run(start, count, step=step) for book in books}
        if starts == {start}:
            break
        start = max(starts)
    for book in books:
        book.take_ports(start, count, step=step)
    return start
