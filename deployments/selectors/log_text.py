"""The lines of a log as a text file, with a head that says what it is."""

from datetime import UTC, datetime

from deployments.models import Deployment
from deployments.selectors.log_lines import ShownLine
from deployments.selectors.logs import LogQuery, log_panes, replica_title


def log_text(row: Deployment, query: LogQuery) -> str:
    """Time stamps of the engine in UTC, the replica where there are several, and the text.

    Control characters are shown as signs, as on the page. The text is as long as the tails are,
    at most one million characters for each replica.
    """
    panes = log_panes(query)
    read_at = next((pane.read_at for pane in panes if pane.read_at), None)
    said = read_at.astimezone(UTC).isoformat(timespec="seconds") if read_at else "never"
    lines = [line for pane in panes for line in pane.lines]
    names = "; ".join(replica_title(one) for one in query.replicas) or "no replica"
    first = (
        f"# {row.name}: {names}; {query.run.value} run; read {said}; {len(lines)} lines"
    )
    head = [first, *([] if lines else [EMPTY])]
    return "\n".join([*head, *map(_text, lines), ""])


EMPTY = "# The panel holds none of these lines now: open the log page, then download."


def _text(line: ShownLine) -> str:
    moment = datetime.fromtimestamp(line.ts_ns // 1_000_000_000, tz=UTC)
    stamp = f"{moment:%Y-%m-%dT%H:%M:%S}.{line.ts_ns % 1_000_000_000:09d}Z"
    source = f" [{line.source}]" if line.source else ""
    return f"{stamp}{source} {'# ' if line.note else ''}{line.text}"
