"""Stamps without year and zone, and the time of their file."""

from datetime import UTC, datetime

import pytest

from deployments.telemetry.logs.file_times import SECOND_NS, moments_of, zone_of


def ns(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND_NS


@pytest.mark.parametrize(
    ("stamp", "modified", "zone_s"),
    [
        ("11-29 17:37:00", "2026-11-29T17:37:04", 0),
        ("11-30 01:37:00", "2026-11-29T17:37:04", 8 * 3600),
        ("11-29 12:07:00", "2026-11-29T17:37:30", -5 * 3600 - 1800),
        ("01-01 01:00:00", "2026-12-31T17:00:01", 8 * 3600),
        ("12-31 23:59:58", "2027-01-01T00:00:00", 0),
        ("11-29 17:30:00", "2026-11-29T17:37:04", None),
        ("02-30 17:30:00", "2026-11-29T17:37:04", None),
        (None, "2026-11-29T17:37:04", None),
    ],
)
def test_the_zone_is_how_far_the_last_stamp_is_ahead(
    stamp: str | None, modified: str, zone_s: int | None
) -> None:
    assert zone_of(stamp, ns(modified)) == zone_s


def test_lines_have_their_own_time_in_utc() -> None:
    stamps = ["11-30 01:36:50", None, "11-30 01:37:00", "11-30 01:36:59"]
    found = moments_of(stamps, ns("2026-11-29T17:37:04"), 8 * 3600)
    first, last = ns("2026-11-29T17:36:50"), ns("2026-11-29T17:37:00")
    assert found == [first, first, last, last]
    assert moments_of([None], ns("2026-11-29T17:37:04"), 0) == [
        ns("2026-11-29T17:37:04")
    ]


def test_no_line_is_later_than_its_file_or_earlier_than_the_one_before() -> None:
    modified = ns("2026-11-29T17:37:04")
    found = moments_of(
        ["11-29 17:36:00", "11-29 17:35:00", "11-29 18:00:00"], modified, 0
    )
    assert found == [ns("2026-11-29T17:36:00")] * 2 + [modified]
    assert moments_of(["11-29 17:36:00", None], modified, None)[1] == found[0]
