"""Every known failure, by subject; a code names one."""

from collections.abc import Mapping

from deployments.planning.failures.apart import APART
from deployments.planning.failures.ascend_faults import ASCEND_FAULTS
from deployments.planning.failures.ascend_limits import ASCEND_LIMITS
from deployments.planning.failures.combinations import COMBINATIONS
from deployments.planning.failures.consequences import CONSEQUENCES
from deployments.planning.failures.machine import MACHINE
from deployments.planning.failures.memory import MEMORY
from deployments.planning.failures.refusals import REFUSALS
from deployments.planning.failures.running import RUNNING
from deployments.planning.failures.settings import SETTINGS
from deployments.planning.failures.signature import Signature
from deployments.planning.failures.weights import WEIGHTS

KNOWN_FAILURES: tuple[Signature, ...] = (
    *REFUSALS,
    *SETTINGS,
    *COMBINATIONS,
    *WEIGHTS,
    *MEMORY,
    *MACHINE,
    *RUNNING,
    *APART,
    *ASCEND_LIMITS,
    *ASCEND_FAULTS,
    *CONSEQUENCES,
)

BY_CODE: Mapping[str, Signature] = {one.code: one for one in KNOWN_FAILURES}
