"""When the lines of a log file were written: their stamps have no year and no zone, the file's time has both."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

QUARTER_S = 900
"""Every zone is some quarters of an hour from UTC."""
FARTHEST_S = 14 * 3600
SLACK_S = 120
"""A file's time is that of its last line, give or take what came after the last stamp."""
SECOND_NS = 10**9


def zone_of(stamp: str | None, modified_ns: int) -> int | None:
    """How many seconds the last stamp of a file is ahead of UTC, ``None`` where it cannot be told.

    ``stamp`` is ``MM-DD HH:MM:SS``; ``modified_ns`` when the file was written to last, since 1970.
    """
    moment = _nearest(stamp, modified_ns // SECOND_NS)
    if moment is None:
        return None
    ahead = moment - modified_ns // SECOND_NS
    zone_s = round(ahead / QUARTER_S) * QUARTER_S
    if abs(zone_s) > FARTHEST_S or abs(ahead - zone_s) > SLACK_S:
        return None
    return zone_s


def moments_of(
    stamps: Sequence[str | None], modified_ns: int, zone_s: int | None
) -> list[int]:
    """Nanoseconds since 1970 of each line, never after the file's own time and never going back.

    Without a zone the stamps are taken to be UTC, as engines in containers write them; a line
    without a stamp has the time of the one before it, the first ones that of the file.
    """
    found: list[int] = []
    for stamp in stamps:
        moment = _nearest(stamp, modified_ns // SECOND_NS)
        if moment is None:
            found.append(found[-1] if found else modified_ns)
            continue
        at_ns = min((moment - (zone_s or 0)) * SECOND_NS, modified_ns)
        found.append(max(at_ns, found[-1]) if found else at_ns)
    return found


def _nearest(stamp: str | None, near_s: int) -> int | None:
    """The stamp, read as UTC, in the year that brings it nearest."""
    if stamp is None:
        return None
    near = datetime.fromtimestamp(near_s, UTC)
    moments = []
    for year in (near.year - 1, near.year, near.year + 1):
        try:
            moment = datetime.strptime(f"{year}-{stamp} +0000", "%Y-%m-%d %H:%M:%S %z")
        except ValueError:
            continue
        moments.append(moment)
    # A log is older than its file's time, but for the zone.
    past = [one for one in moments if one <= near + timedelta(seconds=FARTHEST_S)]
    return int(max(past).timestamp()) if past else None
