"""Signatures of engines that fail while they load or run."""

from deployments.planning.text import text
from deployments.telemetry.diagnosis.values import DiagnosisSeverity, Signature

CRITICAL = DiagnosisSeverity.CRITICAL
WARNING = DiagnosisSeverity.WARNING
INFO = DiagnosisSeverity.INFO

RUN_SIGNATURES = (
    Signature(
        code="DEVICE_OUT_OF_MEMORY",
        category="memory",
        severity=CRITICAL,
        anchors=("out of memory",),
        pattern=r"(?P<device>CUDA|HIP|NPU|XPU) out of memory",
        cause=text(
            "The {device} device has too little memory for weights, drafter, KV cache and graphs "
            "together."
        ),
        fix=text(
            "Lower --gpu-memory-utilization, --max-num-seqs, --max-model-len or "
            "num_speculative_tokens, or use more devices or a quantised checkpoint."
        ),
        source="vllm#8731, #22624",
    ),
    Signature(
        code="SHARED_MEMORY_TOO_SMALL",
        category="memory",
        severity=CRITICAL,
        anchors=("/dev/shm",),  # noqa: S108 - words of a log line
        pattern=r"Insufficient space in /dev/shm.{0,80}?: (?P<needed>[\d.]+ \w+) required, "
        r"(?P<free>[\d.]+ \w+) free"
        r"|No space left on device.{0,200}/dev/shm|/dev/shm.{0,200}No space left on device",
        cause=text(
            "The container's /dev/shm is too small (needed {needed}, free {free})."
        ),
        fix=text(
            "Give the container more shared memory (--shm-size, shm_size) or --ipc=host."
        ),
        source="vLLM 0.32.0, recorded; Docker's default is 64 MiB",
    ),
    Signature(
        code="KV_CACHE_TOO_SMALL",
        category="memory",
        severity=CRITICAL,
        anchors=(
            "KV cache memory",
            "cache blocks",
            "kv cache allocation",
            "KV cache is needed",
        ),
        pattern=r"larger than the available KV cache memory"
        r"|No available memory for the cache blocks"
        r"|on kv cache allocation is less than requested memory for kv",
        cause=text(
            "What is left of the memory does not hold the KV cache that was asked for."
        ),
        fix=text(
            "Lower --max-model-len, raise --gpu-memory-utilization, or free memory: a smaller "
            "drafter, fewer graph sizes, more devices."
        ),
        source="vLLM 0.32.0, recorded; vllm#54418",
    ),
    Signature(
        code="HOST_OUT_OF_MEMORY",
        category="memory",
        severity=CRITICAL,
        anchors=("MemoryError", "Cannot allocate memory"),
        pattern=r"^(?:MemoryError|.*\[Errno 12\] Cannot allocate memory)",
        cause=text("The host or the container's limit has too little main memory."),
        fix=text(
            "Raise the memory limit of the container or use a host with more memory."
        ),
        source="Python, every version",
    ),
    Signature(
        code="PORT_IN_USE",
        category="port",
        severity=CRITICAL,
        anchors=("ddress already in use",),
        pattern=r"[Aa]ddress already in use",
        cause=text("The port that the engine should listen on is taken on this host."),
        fix=text(
            "Stop what uses the port, or choose another one. On Ascend, kv_port must lie outside "
            "20000 to 20000 + 1000 x devices."
        ),
        source="vLLM 0.32.0, recorded",
    ),
    Signature(
        code="DEVICE_NOT_FOUND",
        category="device",
        severity=CRITICAL,
        anchors=(
            "Failed to infer device type",
            "No CUDA GPUs are available",
            "libatb.so",
        ),
        pattern=r"Failed to infer device type|No CUDA GPUs are available"
        r"|libatb\.so: cannot open",
        cause=text("The engine sees no accelerator in its container."),
        fix=text(
            "Check the devices, the runtime and the driver mounts of the container; on Ascend "
            "also that the CANN environment is set."
        ),
        source="vllm-ascend FAQ Q6; CUDA runtime",
    ),
    Signature(
        code="CUDA_GRAPH_CAPTURE_FAILED",
        category="cudagraph",
        severity=CRITICAL,
        anchors=(
            "stream is capturing",
            "StreamCaptureUnsupported",
            "No valid cudagraph sizes",
            "ACL graph capture failed",
        ),
        pattern=r"operation not permitted when stream is capturing"
        r"|cudaErrorStreamCaptureUnsupported|No valid cudagraph sizes after rounding"
        r"|ACL graph capture failed",
        cause=text("Graph capture failed with this drafter or these capture sizes."),
        fix=text(
            "Use capture sizes in multiples of num_speculative_tokens + 1, or run eagerly."
        ),
        source="vllm#48749; vllm-ascend acl_graph",
    ),
    Signature(
        code="COMPILER_MISSING",
        category="broken-image",
        severity=CRITICAL,
        anchors=("CppCompileError",),
        pattern=r"CppCompileError",
        cause=text(
            "The image has no working C++ compiler, but the engine compiles the model."
        ),
        fix=text(
            "Use an image with g++ and its libraries, or run with --enforce-eager."
        ),
        source="vLLM 0.32.0 (CPU), recorded",
    ),
    Signature(
        code="DRAFTER_SHAPE_MISMATCH",
        category="draft-loading",
        severity=CRITICAL,
        anchors=("CHECK_EQ(mat1", "cannot be multiplied", "== input_embeds.shape"),
        pattern=r"CHECK_EQ\(mat1\.size.{0,40} failed"
        r"|shapes cannot be multiplied"
        r"|hidden_states\.shape\[-1\] == input_embeds\.shape\[-1\]",
        cause=text("The drafter was made for a target model with another hidden size."),
        fix=text("Use the drafter of exactly this target model."),
        source="vLLM 0.32.0, recorded; vllm#18906",
    ),
    Signature(
        code="PIPELINE_PARALLEL_UNSUPPORTED",
        category="pipeline-parallel",
        severity=CRITICAL,
        anchors=("Pipeline parallelism is not supported",),
        pattern=r"Pipeline parallelism is not supported for this model",
        cause=text(
            "The drafter does not support pipeline parallelism (before vLLM 0.30 it inherits the "
            "size of the target model)."
        ),
        fix=text("Use tensor parallelism, or upgrade."),
        source="vllm#52069",
    ),
    Signature(
        code="KV_TRANSFER_FAILED",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("Mooncake transfer failed", "Failed to register memory"),
        pattern=r"Mooncake transfer failed|Failed to register memory",
        cause=text("The KV cache does not get from the prefill to the decode engine."),
        fix=text(
            "Repair the network path between the hosts before touching speculation settings."
        ),
        source="vllm-ascend#2970, #4866",
    ),
    Signature(
        code="MIN_P_REFUSED",
        category="other",
        severity=WARNING,
        anchors=("not yet supported with speculative decoding",),
        pattern=r"min_p.{0,80}not yet supported with speculative decoding",
        cause=text(
            "Clients send sampling parameters that do not work with speculation."
        ),
        fix=text("Have the clients send neither min_p nor logit_bias."),
        source="vllm#42744",
    ),
    Signature(
        code="WORKER_STUCK",
        category="crash",
        severity=INFO,
        anchors=("No available shared memory broadcast block",),
        pattern=r"No available shared memory broadcast block found in \d+ seconds",
        cause=text(
            "A worker has not answered for a minute: compilation and loading do that, a hang "
            "does, too."
        ),
        fix=text(
            "Nothing while the engine starts; under load look for the first failing rank."
        ),
        source="vLLM 0.32.0, recorded in a healthy start",
    ),
    Signature(
        code="WORKER_FAILED",
        category="crash",
        severity=CRITICAL,
        anchors=("WorkerProc initialization failed",),
        pattern=r"WorkerProc initialization failed",
        cause=text("A worker process failed while it started."),
        fix=text("Read the first ERROR line above: the root cause comes first."),
        source="vLLM 0.32.0, recorded",
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
        general=True,
    ),
)
