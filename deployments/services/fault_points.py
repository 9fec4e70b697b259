"""Places where tests kill or freeze a worker; without ``settings.FAULT_POINTS`` they do nothing."""

import os
import signal

from django.conf import settings

_ACTS = {"kill9": signal.SIGKILL, "freeze": signal.SIGSTOP}


def fault_point(place: str) -> None:
    """Die or freeze here, as if the machine lost power or stood still, if a test asked for it.

    The setting holds texts such as ``after:CREATE:kill9``.
    """
    wanted = getattr(settings, "FAULT_POINTS", ())
    for act, number in _ACTS.items():
        if f"{place}:{act}" in wanted:
            os.kill(os.getpid(), number)
