"""Memory: of devices, of the host, and shared between processes."""

from deployments.planning.failures.signature import FailureSeverity, Signature
from deployments.planning.text import text

CRITICAL = FailureSeverity.CRITICAL
WARNING = FailureSeverity.WARNING

MEMORY = (
    Signature(
        code="DEVICE_OUT_OF_MEMORY",
        category="memory",
        severity=CRITICAL,
        anchors=("out of memory",),
        pattern=r"(?P<device>CUDA|HIP|NPU|XPU) out of memory",
        cause=text(
            "The {device} device has too little memory for weights, drafter, KV cache and graphs together."
        ),
        fix=text(
            "Lower --gpu-memory-utilization, --max-num-seqs, --max-model-len or num_speculative_tokens, or use more devices or a quantised checkpoint."
        ),
        source="vllm#8731, #22624",
        shows="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has a total capacity of 139.72 GiB of which 1.10 GiB is free.",
        misses="WARNING requests are out of memory budget and wait",
    ),
    Signature(
        code="SHARED_MEMORY_TOO_SMALL",
        category="memory",
        severity=CRITICAL,
        anchors=("/dev/shm",),  # noqa: S108 - words of a log line
        pattern=r"Insufficient space in /dev/shm.{0,80}?: (?P<needed>[\d.]+ \w+) required, (?P<free>[\d.]+ \w+) free|No space left on device.{0,200}/dev/shm|/dev/shm.{0,200}No space left on device",
        cause=text(
            "The container's /dev/shm is too small (needed {needed}, free {free})."
        ),
        fix=text(
            "Give the container more shared memory (--shm-size, shm_size) or --ipc=host."
        ),
        source="vLLM 0.32.0, recorded; Docker's default is 64 MiB",
        shows="OSError: [Errno 28] No space left on device: '/dev/shm/psm_x'",
        misses="OSError: [Errno 28] No space left on device: '/data/x'",
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
        pattern=r"larger than the available KV cache memory|No available memory for the cache blocks|on kv cache allocation is less than requested memory for kv",
        cause=text(
            "What is left of the memory does not hold the KV cache that was asked for."
        ),
        fix=text(
            "Lower --max-model-len, raise --gpu-memory-utilization, or free memory: a smaller drafter, fewer graph sizes, more devices. With vLLM for the CPU lower VLLM_CPU_KVCACHE_SPACE."
        ),
        source="vLLM 0.32.0, recorded; vllm#54418",
        shows="ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
        misses="INFO GPU KV cache size: 64,000 tokens",
    ),
    Signature(
        code="HOST_OUT_OF_MEMORY",
        category="memory",
        severity=CRITICAL,
        anchors=(
            "MemoryError",
            "Cannot allocate memory",
        ),
        pattern=r"^(?:MemoryError|.*\[Errno 12\] Cannot allocate memory)",
        cause=text("The host or the container's limit has too little main memory."),
        fix=text(
            "Raise the memory limit of the container or use a host with more memory."
        ),
        source="Python, every version",
        shows="OSError: [Errno 12] Cannot allocate memory",
        misses="torch.OutOfMemoryError: allocator statistics",
    ),
    Signature(
        code="CPU_SIDE_KILLED",
        category="memory",
        severity=CRITICAL,
        anchors=(
            "exit code -9",
            "exit code: -9",
            "SIGKILL",
        ),
        pattern=r"(?:exited|died|terminated|failed)\b.{0,80}(?:exit code:? -9\b|signal 9\b|SIGKILL)",
        cause=text(
            "A process of the engine was killed from outside, mostly because main memory ran out."
        ),
        fix=text(
            "Raise the memory limit of the container or use a host with more memory."
        ),
        source="Linux, every version",
        shows="ERROR Process EngineCore_DP0 died unexpectedly with exit code: -9, SIGKILL",
        misses="INFO worker terminated with exit code 0",
    ),
    Signature(
        code="GRAPH_MEMORY_NEGATIVE",
        category="memory",
        severity=WARNING,
        anchors=("Estimated CUDA graph memory: -",),
        pattern=r"Estimated CUDA graph memory: -\d",
        cause=text(
            "The estimate of graph memory is negative, so the KV cache takes too much."
        ),
        fix=text(
            "Set VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0, or give --kv-cache-memory-bytes."
        ),
        source="vllm#44740",
        shows="INFO [gpu_worker.py:412] Estimated CUDA graph memory: -1.25 GiB total",
        misses="INFO [gpu_worker.py:412] Estimated CUDA graph memory: 1.25 GiB total",
    ),
    Signature(
        code="DEVICE_MEMORY_TAKEN",
        category="memory",
        severity=CRITICAL,
        anchors=(
            "less than desired GPU memory utilization",
            "less than desired CPU memory utilization",
        ),
        pattern=r"(?:Free memory on device|Available memory on node).{0,160}is less than desired [GC]PU memory utilization",
        cause=text("Something else already uses the memory that the engine wants."),
        fix=text(
            "Stop what runs there, or lower --gpu-memory-utilization. vLLM for the CPU takes 92 % of main memory unless VLLM_CPU_KVCACHE_SPACE says how much."
        ),
        source="vLLM, 0.10 and newer; for the CPU vLLM 0.32.0, recorded",
        shows="ValueError: Free memory on device cuda:0 (9.21/79.1 GiB) on startup is less than desired GPU memory utilization (0.9, 71.19 GiB).",
        misses="INFO Free memory on device cuda:0 (78.5/79.1 GiB)",
    ),
)
