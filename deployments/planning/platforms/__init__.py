"""Hardware families: one module each, and the registry that finds them by name."""

from deployments.planning.errors import PlanningError
from deployments.planning.platforms.amd import Amd
from deployments.planning.platforms.ascend_310p import ASCEND_310P
from deployments.planning.platforms.ascend_950 import ASCEND_950
from deployments.planning.platforms.ascend_a2 import ASCEND_A2
from deployments.planning.platforms.ascend_a3 import ASCEND_A3
from deployments.planning.platforms.cpu import Cpu, Practice
from deployments.planning.platforms.nvidia import Nvidia
from deployments.planning.platforms.platform import Platform
from deployments.planning.text import listed, text

PLATFORMS: dict[str, Platform] = {
    platform.name: platform
    for platform in (
        Nvidia(),
        Amd(),
        ASCEND_A2,
        ASCEND_A3,
        ASCEND_950,
        ASCEND_310P,
        Cpu(),
    )
}
PRACTICE: Platform = Practice()


def find_platform(name: str) -> Platform:
    """Return the platform of a host.

    Raises:
        PlanningError: this panel cannot plan for it.
    """
    try:
        return PLATFORMS[name]
    except KeyError:
        known = listed(PLATFORMS)
        raise PlanningError(
            text(
                "This panel cannot plan for the platform {name} yet; it plans for {known}.",
                name=repr(name),
                known=known,
            )
        ) from None
