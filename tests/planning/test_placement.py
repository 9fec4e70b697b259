"""Devices and ports: free ones, aligned blocks, runs that several hosts share."""

import pytest

from deployments.planning.errors import PlanningError
from deployments.planning.placement import HostBook, take_ports_everywhere
from deployments.planning.snapshot import HostSnapshot


def _book(
    count: int = 8, taken: tuple[int, ...] = (), ports: tuple[int, ...] = ()
) -> HostBook:
    host = HostSnapshot(
        name="h",
        platform="nvidia",
        device_count=count,
        taken_devices=taken,
        taken_ports=ports,
    )
    return HostBook(host)


@pytest.mark.parametrize(
    ("taken", "count", "expected"),
    [
        ((), 4, (0, 1, 2, 3)),
        ((0,), 4, (4, 5, 6, 7)),
        ((0, 5), 2, (2, 3)),
        ((3, 7), 3, (0, 1, 2)),
        ((0, 4), 3, (1, 2, 3)),
        ((1, 3, 5), 4, (0, 2, 4, 6)),
        ((), 0, ()),
    ],
)
def test_devices_are_an_aligned_block_where_there_is_one(
    taken: tuple[int, ...], count: int, expected: tuple[int, ...]
) -> None:
    book = _book(taken=taken)
    assert book.take_devices(count) == expected
    assert book.shortages == []


def test_second_taker_gets_other_devices() -> None:
    book = _book()
    assert book.take_devices(4) == (0, 1, 2, 3)
    assert book.take_devices(4) == (4, 5, 6, 7)
    assert book.take_devices(1) == (0,)
    assert book.shortages == [(1, 0)]


def test_ports_step_over_taken_ones() -> None:
    book = _book(ports=(8000, 8001))
    assert book.take_ports(8000) == 8002
    assert book.take_ports(8000) == 8003
    assert book.take_ports(36000, 16, step=100) == 36000
    assert book.take_ports(36000, 16, step=100) == 36100


def test_asked_port_is_kept_and_its_clash_noted() -> None:
    book = _book(ports=(9000,))
    assert book.take_port_exactly(9000) == 9000
    assert book.take_port_exactly(9001) == 9001
    assert book.clashes == [9000]


def test_hosts_of_an_instance_share_their_run() -> None:
    books = (_book(ports=(36003,)), _book(ports=(36105,)))
    assert take_ports_everywhere(books, 36000, 16, step=100) == 36200


def test_no_port_left_is_one_sentence() -> None:
    with pytest.raises(PlanningError, match="no 1 free ports from 65535 on"):
        _book(ports=(65535,)).take_ports(65535)
