"""Consequences: lines that follow a failure and name no cause of their own."""

from deployments.planning.failures.signature import FailureSeverity, Signature
from deployments.planning.text import text

CRITICAL = FailureSeverity.CRITICAL

CONSEQUENCES = (
    Signature(
        code="WORKER_FAILED",
        category="crash",
        severity=CRITICAL,
        anchors=("WorkerProc initialization failed",),
        pattern=r"WorkerProc initialization failed",
        cause=text("A worker process failed while it started."),
        fix=text("Read the first ERROR line above: the root cause comes first."),
        source="vLLM 0.32.0, recorded",
        shows="Exception: WorkerProc initialization failed due to an exception in a background process. See stack trace for root cause.",
        misses="INFO WorkerProc initialized",
        general=True,
    ),
    Signature(
        code="CONFIG_REFUSED",
        category="other",
        severity=CRITICAL,
        anchors=("validation error",),
        pattern=r"(?P<number>\d+) validation errors? for (?P<config>\w{1,64})",
        cause=text("The engine refuses its configuration ({config})."),
        fix=text("Read the lines below this one: they name the value."),
        source="vLLM 0.32.0, recorded",
        shows="pydantic_core._pydantic_core.ValidationError: 1 validation error for SpeculativeConfig",
        misses="INFO validation of SpeculativeConfig done",
        general=True,
    ),
    Signature(
        code="ENGINE_START_FAILED",
        category="crash",
        severity=CRITICAL,
        anchors=("Engine core initialization failed",),
        pattern=r"Engine core initialization failed",
        cause=text("The engine core did not start."),
        fix=text("Read the first ERROR line above: the root cause comes first."),
        source="vLLM 0.32.0, recorded",
        shows="RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore': 1}",
        misses="INFO Engine core initialized",
        general=True,
    ),
    Signature(
        code="WORKER_DIED",
        category="crash",
        severity=CRITICAL,
        anchors=("died unexpectedly",),
        pattern=r"Worker proc \S+ died unexpectedly",
        cause=text(
            "A worker process of the engine ended without a word of its own: the system ended it."
        ),
        fix=text(
            "Look into the host's kernel log for this time. Mostly main memory ran out; with vLLM for the CPU and --enforce-eager add --block-size 16."
        ),
        source="vLLM 0.32.0, recorded",
        shows="(EngineCore pid=26) ERROR 12-01 01:48:59 [multiproc_executor.py:315] Worker proc VllmWorker-0 died unexpectedly (exit code: None), shutting down executor.",
        misses="INFO Worker proc VllmWorker-0 is ready",
        general=True,
    ),
    Signature(
        code="ENGINE_DIED",
        category="crash",
        severity=CRITICAL,
        anchors=("EngineDeadError",),
        pattern=r"EngineDeadError",
        cause=text(
            "The engine core died while it served; the process can end with exit code 0."
        ),
        fix=text("Read the first ERROR line above: the root cause comes first."),
        source="vLLM 0.32.0, recorded",
        shows="vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.",
        misses="INFO EngineCore ready",
        general=True,
    ),
    Signature(
        code="NPU_DEVICE_ERROR",
        category="crash",
        severity=CRITICAL,
        anchors=(
            "error code is 507",
            "error code:507",
            "error code: 507",
        ),
        pattern=r"error code(?: is|:) ?(?P<number>507(?!035)\d{3})",
        cause=text("A kernel on the NPU failed (error {number})."),
        fix=text(
            "Look for the first failing rank, and in $HOME/ascend/log/debug for its reason."
        ),
        source="CANN",
        shows="RuntimeError: ACL stream synchronize failed, error code is 507011",
        misses="INFO error code 0",
        platforms=("ascend",),
        general=True,
    ),
    Signature(
        code="HANDSHAKE_WITH_FRONT_END",
        category="crash",
        severity=CRITICAL,
        anchors=("Did not receive response from front-end",),
        pattern=r"Did not receive response from front-end process within",
        cause=text(
            "The engine core did not hear from the server process, which failed or hangs."
        ),
        fix=text("Read the first ERROR line above: the root cause comes first."),
        source="vLLM sources",
        shows="RuntimeError: Did not receive response from front-end process within 5 minutes",
        misses="INFO front-end process connected",
        general=True,
    ),
)
