"""Machine: devices, drivers, ports, disks, packages and the network between devices."""

from deployments.planning.failures.signature import FailureSeverity, Signature
from deployments.planning.text import text

CRITICAL = FailureSeverity.CRITICAL
INFO = FailureSeverity.INFO
WARNING = FailureSeverity.WARNING

MACHINE = (
    Signature(
        code="PORT_IN_USE",
        category="port",
        severity=CRITICAL,
        anchors=("ddress already in use",),
        pattern=r"[Aa]ddress already in use",
        cause=text("The port that the engine should listen on is taken on this host."),
        fix=text(
            "Stop what uses the port, or choose another one. On Ascend, kv_port must lie outside 20000 to 20000 + 1000 x devices."
        ),
        source="vLLM 0.32.0, recorded",
        shows="OSError: [Errno 98] Address already in use",
        misses="INFO Starting vLLM API server on http://0.0.0.0:8000",
    ),
    Signature(
        code="DEVICE_NOT_FOUND",
        category="device",
        severity=CRITICAL,
        anchors=(
            "Failed to infer device type",
            "No CUDA GPUs are available",
        ),
        pattern=r"Failed to infer device type|No CUDA GPUs are available",
        cause=text("The engine sees no accelerator in its container."),
        fix=text(
            "Check the devices, the runtime and the driver mounts of the container; on Ascend also that the CANN environment is set."
        ),
        source="vllm-ascend FAQ Q6; CUDA runtime",
        shows="RuntimeError: Failed to infer device type, please set the environment variable `VLLM_LOGGING_LEVEL=DEBUG`",
        misses="INFO Automatically detected platform cuda.",
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
        shows="torch._inductor.exc.InductorError: CppCompileError: C++ compile error",
        misses="INFO torch.compile takes 12.1 s in total",
    ),
    Signature(
        code="ILLEGAL_INSTRUCTION",
        category="crash",
        severity=CRITICAL,
        anchors=("(exit code: -4)", "Illegal instruction"),
        pattern=r"died unexpectedly \(exit code: -4\)|Fatal Python error: Illegal instruction",
        cause=text(
            "A process of the engine ran an instruction that the processor or the system refuses."
        ),
        fix=text(
            "With vLLM for the CPU leave out --enforce-eager, or add --block-size 16: on processors with AMX, vLLM 0.32.0 with --enforce-eager uses registers that it never asked Linux for. Else use an image built for this processor."
        ),
        source="vLLM 0.32.0 (CPU), recorded",
        shows="(EngineCore pid=26) ERROR 12-01 01:50:17 [multiproc_executor.py:315] Worker proc VllmWorker-0 died unexpectedly (exit code: -4), shutting down executor.",
        misses="INFO worker terminated (exit code: 0)",
    ),
    Signature(
        code="PROXY_ANSWERED_BEFORE_SERVER",
        category="other",
        severity=INFO,
        anchors=(
            "Empty reply from server",
            "Connection reset by peer",
        ),
        pattern=r"curl: \((?:52\) Empty reply from server|56\) Recv failure: Connection reset by peer)",
        cause=text(
            "Docker's proxy accepts connections before the server listens; while it starts this is ordinary."
        ),
        fix=text("Wait until /health answers 200."),
        source="Docker Engine, recorded",
        shows="curl: (52) Empty reply from server",
        misses="curl: (7) Failed to connect to localhost port 8000",
    ),
    Signature(
        code="DEVICES_TOO_FEW",
        category="device",
        severity=CRITICAL,
        anchors=(
            "larger than the number of available",
            "World size (",
        ),
        pattern=r"[Ww]orld size \(?(?P<size>\d+)\)? is larger than the number of available|larger than the number of available (?:GPU|NPU|device)s?",
        cause=text("Fewer devices are visible than the parallel sizes need ({size})."),
        fix=text("Show the process more devices, or lower the parallel sizes."),
        source="vLLM sources; vllm-ascend FAQ",
        shows="ValueError: World size (8) is larger than the number of available GPUs (4) in this node.",
        misses="INFO world_size=8 rank=0",
    ),
    Signature(
        code="DRIVER_TOO_OLD",
        category="device",
        severity=CRITICAL,
        anchors=(
            "driver on your system is too old",
            "CUDA driver version is insufficient",
            "forward compatibility was attempted",
        ),
        pattern=r"driver on your system is too old|CUDA driver version is insufficient|forward compatibility was attempted on non supported HW",
        cause=text("The host's driver is older than the image's CUDA."),
        fix=text("Update the driver, or use an image for its CUDA version."),
        source="CUDA runtime",
        shows="RuntimeError: The NVIDIA driver on your system is too old (found version 12020).",
        misses="INFO NVIDIA driver version: 580.65",
    ),
    Signature(
        code="NO_KERNEL_FOR_DEVICE",
        category="device",
        severity=CRITICAL,
        anchors=("no kernel image is available",),
        pattern=r"no kernel image is available for execution on the device",
        cause=text("The image holds no kernels for this generation of devices."),
        fix=text("Use an image that was built for it."),
        source="CUDA runtime",
        shows="torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device",
        misses="INFO image vllm/vllm-openai:v0.32.0",
    ),
    Signature(
        code="NCCL_FAILED",
        category="environment",
        severity=CRITICAL,
        anchors=(
            "NCCL error",
            "ncclUnhandledCudaError",
            "ncclSystemError",
            "ncclRemoteError",
            "collective operation timeout",
        ),
        pattern=r"NCCL error|nccl(?:UnhandledCuda|System|Remote)Error|Watchdog caught collective operation timeout",
        cause=text(
            "The devices do not reach each other: network, shared memory or a rank that failed first."
        ),
        fix=text(
            "Set NCCL_DEBUG=INFO and NCCL_SOCKET_IFNAME, use --ipc=host, and look for the first failing rank."
        ),
        source="NCCL",
        shows="torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:94, unhandled system error, NCCL version 2.27.5",
        misses="INFO vLLM is using nccl==2.27.5",
    ),
    Signature(
        code="DISK_FULL",
        category="environment",
        severity=CRITICAL,
        anchors=("No space left on device",),
        pattern=r"^(?!.{0,4000}/dev/shm).{0,4000}No space left on device",
        cause=text("A disk of the container is full."),
        fix=text("Free space, or mount the caches from a larger disk."),
        source="Linux, every version",
        shows="OSError: [Errno 28] No space left on device: '/root/.cache/vllm/torch_compile_cache'",
        misses="OSError: [Errno 28] No space left on device: '/dev/shm/psm_1'",
    ),
    Signature(
        code="FILE_PERMISSION",
        category="mount",
        severity=CRITICAL,
        anchors=("PermissionError",),
        pattern=r"PermissionError: \[Errno 13\] Permission denied: '(?P<path>[^']{1,300})'",
        cause=text("The container's user may not use {path}."),
        fix=text("Change the owner or the mount, or the user of the container."),
        source="Linux, every version",
        shows="PermissionError: [Errno 13] Permission denied: '/root/.cache/huggingface/token'",
        misses="PermissionError: [Errno 1] Operation not permitted",
    ),
    Signature(
        code="PACKAGE_MISSING",
        category="missing-package",
        severity=CRITICAL,
        anchors=("No module named '",),
        pattern=r"(?:Error: |(?m:^))No module named '(?P<package>(?!vllm\._C|vllm'|torch_npu|vllm_ascend)[\w.]{1,100})'",
        cause=text("The image lacks the package {package}."),
        fix=text("Install it in the image."),
        source="Python, every version",
        shows="ModuleNotFoundError: No module named 'nixl'",
        misses="ModuleNotFoundError: No module named 'vllm._C'",
    ),
    Signature(
        code="ENGINE_BUILD_BROKEN",
        category="broken-image",
        severity=CRITICAL,
        anchors=(
            "No module named '",
            "undefined symbol",
        ),
        pattern=r"(?:Error: |(?m:^))No module named '(?:vllm\._C|vllm|torch_npu|vllm_ascend)\w*'|vllm.{0,80}undefined symbol",
        cause=text(
            "The engine in the image is incomplete, or was built for another PyTorch."
        ),
        fix=text("Use an official image, or install matching versions."),
        source="vLLM, every version",
        shows="ImportError: /usr/local/lib/python3.12/dist-packages/vllm/_C.abi3.so: undefined symbol: _ZN3c104cuda9SetDeviceEi",
        misses="ImportError: libfoo.so: undefined symbol: bar",
    ),
    Signature(
        code="ATTENTION_HEADS_INDIVISIBLE",
        category="tensor-parallel",
        severity=CRITICAL,
        anchors=("attention heads (",),
        pattern=r"attention heads \((?P<heads>\d+)\) must be divisible by tensor parallel size \((?P<size>\d+)\)",
        cause=text("{heads} attention heads cannot be split over {size} devices."),
        fix=text("Choose a tensor parallel size that divides the heads."),
        source="vLLM, every version",
        shows="ValueError: Total number of attention heads (40) must be divisible by tensor parallel size (16).",
        misses="INFO attention heads: 40",
    ),
    Signature(
        code="STATS_LOG_OFF",
        category="no-metrics",
        severity=WARNING,
        anchors=("disabling stats logging",),
        pattern=r"disabling stats logging to avoid incomplete stats",
        cause=text(
            "With several API servers the engine prints no acceptance lines, since each server would know a part only."
        ),
        fix=text("Read acceptance from /metrics, or start with one API server."),
        source="vLLM sources",
        shows="WARNING AsyncLLM created with api_server_count more than 1; disabling stats logging to avoid incomplete stats.",
        misses="INFO AsyncLLM created with log_stats=True",
    ),
    Signature(
        code="DEVICE_RUNTIME_MISSING",
        category="device",
        severity=CRITICAL,
        anchors=("could not select device driver",),
        pattern=r"could not select device driver",
        cause=text(
            "The Docker Engine of the host cannot give a container its devices."
        ),
        fix=text(
            "Install the NVIDIA Container Toolkit on the host, configure Docker with it, and restart the Docker Engine."
        ),
        source="Docker Engine, every version",
        shows='docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
        misses='INFO device driver "nvidia" selected',
    ),
)
