"""The log file that was named for a deployment, and how far it was read in each container."""

from dataclasses import dataclass

from deployments.models import Deployment, FileLog, FileLogCursor


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLogState:
    """``path`` is empty where nothing was named; ``cursors`` are of runs that are not ended."""

    path: str
    cursors: tuple[FileLogCursor, ...]


def file_log_of(deployment: Deployment) -> FileLogState:
    """Read it in one query, in two where a file was named."""
    named = FileLog.objects.filter(deployment=deployment)
    path = named.values_list("path", flat=True).first()
    if path is None:
        return FileLogState(path="", cursors=())
    rows = FileLogCursor.objects.filter(
        replica__release__deployment=deployment, finished=False
    )
    found = rows.select_related("replica").order_by("replica__role", "replica__rank")
    return FileLogState(path=path, cursors=tuple(found[:64]))
