"""Places where tests kill the executor; without ``settings.FAULT_POINTS`` they do nothing."""

import os
import signal

from django.conf import settings


def fault_point(place: str) -> None:
    """Die here, as a worker does whose machine loses power, if a test asked for ``PLACE:kill9``."""
    if f"{place}:kill9" in getattr(settings, "FAULT_POINTS", ()):
        os.kill(os.getpid(), signal.SIGKILL)
