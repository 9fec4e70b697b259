"""A worker process that a test can kill: ``python -m tests.faults.worker command|logs ID FAULT...``."""

import sys
import time
import uuid

import django


def main() -> int:
    """Work until nothing is left to do, or a fault point ends the process."""
    django.setup()
    from django.conf import settings  # noqa: PLC0415 - after setup

    from deployments.models import Command, CommandState  # noqa: PLC0415
    from deployments.services.log_reading import read_host_logs  # noqa: PLC0415
    from deployments.services.rollout.executor import run_command  # noqa: PLC0415

    kind, target = sys.argv[1], uuid.UUID(sys.argv[2])
    settings.FAULT_POINTS = tuple(sys.argv[3:])
    if kind == "logs":
        read_host_logs(target)
        return 0
    open_states = {CommandState.READY, CommandState.RUNNING}
    end = time.monotonic() + 90
    while time.monotonic() < end:
        run_command(target)
        if Command.objects.get(pk=target).state not in open_states:
            return 0
        time.sleep(0.1)
    return 1


if __name__ == "__main__":
    sys.exit(main())
