"""Where the logs of CANN go on Ascend: a host directory for each replica, with bounds.

CANN bounds what one process writes: ASCEND_HOST_LOG_FILE_NUM files (1 to 1000, 10 by default) of at
most 20 MB in each of its directories ``debug``, ``run`` and ``security``, each with ``plog`` and
``device-N`` (CANN environment variables, 8.0 to 9.0). Nothing of it deletes what earlier processes
left, so the container does that itself before the engine starts.
"""

import re

from deployments.planning.container import LogDirectory
from deployments.planning.errors import PlanningError
from deployments.planning.text import text

PLOGS = "/root/ascend/log"
FILES_OF_A_PROCESS = 3
"""60 MB in each directory of a process: half a minute of debug logs, years of error logs."""
FILES_KEPT = 200
"""At most 4 GB in one replica's directory when its engine starts."""
PLOG_ENVIRONMENT = {
    "ASCEND_HOST_LOG_FILE_NUM": str(FILES_OF_A_PROCESS),
    "ASCEND_PROCESS_LOG_PATH": PLOGS,
}
PRUNE = (
    f"ls -t {PLOGS}/*/*/*.log 2>/dev/null | tail -n +{FILES_KEPT + 1} | "
    'while read -r old; do rm -f -- "$old"; done'
)
"""Deletes all but the newest files. The names are CANN's own: letters, digits, dashes."""
PLAIN_PATH = re.compile(r"(/[A-Za-z0-9._-]+)+")


def plog_directory(log_root: str, container: str) -> LogDirectory:
    """Return the directory of one replica, the same for every revision of its deployment.

    ``container`` is the name that revision 0 would give the replica's container.
    """
    deployment, _mark, replica = container.rpartition("-r0-")
    return LogDirectory(
        source=f"{log_root.rstrip('/')}/{deployment}/{replica}", target=PLOGS
    )


def read_log_root(path: str) -> str:
    """Return the directory that a person named, without a slash at its end.

    Raises:
        PlanningError: it is no plain absolute path.
    """
    root = path.rstrip("/")
    if PLAIN_PATH.fullmatch(root) is None or any(
        part in (".", "..") for part in root.split("/")
    ):
        raise PlanningError(
            text(
                "log_root is the directory on every host for log files, such as /var/log/draftboard; "
                "{path} is none.",
                path=repr(path),
            )
        )
    return root
