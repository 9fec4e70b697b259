"""Ascend faults: operators, graphs and collectives that fail on NPUs."""

from deployments.planning.failures.signature import FailureSeverity, Signature
from deployments.planning.text import text

CRITICAL = FailureSeverity.CRITICAL

ASCEND_FAULTS = (
    Signature(
        code="GRAPH_REPLAY_FAILED",
        category="ascend-graph",
        severity=CRITICAL,
        anchors=("107030",),
        pattern=r"(?:rtMemcpy|ACL|acl|replay|error|ret).{0,200}\b107030\b",
        cause=text("Replaying a graph failed with MTP (error 107030)."),
        fix=text(
            'Use a newer release, or add "enforce_eager": true to the speculative configuration.'
        ),
        source="vllm-ascend#8587, #10630, #14347",
        shows="RuntimeError: ACL graph replay: rtMemcpy failed, ret=107030",
        misses="INFO request 107030 finished",
        platforms=("ascend",),
    ),
    Signature(
        code="VARLEN_SEGMENT",
        category="crash",
        severity=CRITICAL,
        anchors=("exceeds varlen segment length",),
        pattern=r"numAcceptedTokens\[\d+\]=\d+ exceeds varlen segment length",
        cause=text(
            "More tokens were accepted than the segment of the hybrid model holds."
        ),
        fix=text("Draft fewer tokens, or use a newer release."),
        source="vllm-ascend#9956, #10372",
        shows="RuntimeError: numAcceptedTokens[0]=4 exceeds varlen segment length=3",
        misses="DEBUG numAcceptedTokens[0]=2",
        platforms=("ascend",),
    ),
    Signature(
        code="STACK_MISMATCH",
        category="ascend-version",
        severity=CRITICAL,
        anchors=(
            "get_draft_attn_causal",
            "TransData",
            "old Ascend HDK/CANN",
        ),
        pattern=r"get_draft_attn_causal|find func by type TransData|old Ascend HDK/CANN stack",
        cause=text(
            "Driver, CANN, vLLM and vllm-ascend in the image do not belong together."
        ),
        fix=text(
            "Use the official image, and the driver that its CANN release asks for."
        ),
        source="vllm-ascend#5361, #13976; FAQ",
        shows="AttributeError: module 'vllm.v1.attention' has no attribute 'get_draft_attn_causal'",
        misses="INFO CANN 8.3.RC2",
        platforms=("ascend",),
    ),
    Signature(
        code="SUFFIX_SAMPLER_FAILED",
        category="crash",
        severity=CRITICAL,
        anchors=("507035",),
        pattern=r"507035",
        cause=text(
            "The rejection sampler failed on the device (error 507035); suffix drafting with full graphs does that."
        ),
        fix=text("Use another method, or a newer release."),
        source="vllm-ascend#9278",
        shows="RuntimeError: ACL stream synchronize failed, error code:507035 (RejectionSampler.parse_output)",
        misses="INFO port 50703",
        platforms=("ascend",),
    ),
    Signature(
        code="SLOT_MAPPING_SHAPE",
        category="crash",
        severity=CRITICAL,
        anchors=("slot_mapping",),
        pattern=r"slot_mapping.{0,120}(?:shape|size).{0,40}(?:mismatch|\d+ (?:vs|!=) \d+)|(?:shape|size).{0,40}mismatch.{0,80}slot_mapping",
        cause=text(
            "The slots of drafted tokens do not fit under decode context parallelism with long prompts."
        ),
        fix=text("Draft fewer tokens, or use a newer release."),
        source="vllm-ascend#13710",
        shows="RuntimeError: slot_mapping shape mismatch: 256 vs 260",
        misses="DEBUG slot_mapping shape: [256]",
        platforms=("ascend",),
    ),
    Signature(
        code="KV_SPLIT_METADATA",
        category="crash",
        severity=CRITICAL,
        anchors=("_get_kv_split_metadata",),
        pattern=r"in _get_kv_split_metadata",
        cause=text(
            "Splitting the cache failed with prefill and decode apart, context parallelism and MTP together."
        ),
        fix=text("Use a newer release."),
        source="vllm-ascend#13934",
        shows='  File "/vllm-workspace/vllm-ascend/vllm_ascend/distributed/mooncake_connector.py", line 1712, in _get_kv_split_metadata',
        misses="DEBUG kv split metadata ok",
        versions="0.26.0rc",
        platforms=("ascend",),
    ),
    Signature(
        code="INDEXER_ADDRESS",
        category="crash",
        severity=CRITICAL,
        anchors=("LightningIndexerQuant",),
        pattern=r"LightningIndexerQuant.{0,400}(?:invalid|error|failed)",
        cause=text(
            "The sparse attention's indexer read outside its memory under decode context parallelism."
        ),
        fix=text("Use a newer release."),
        source="vllm-ascend#14320",
        shows="RuntimeError: LightningIndexerQuant MTE invalid GM address",
        misses="INFO op LightningIndexerQuant registered",
        versions="0.26.0rc",
        platforms=("ascend",),
    ),
    Signature(
        code="MOE_DISPATCH_TIMEOUT",
        category="environment",
        severity=CRITICAL,
        anchors=("MoeDistributeDispatch",),
        pattern=r"(?:5070(?:14|15|34)|aicore timeout|timed? ?out).{0,400}MoeDistributeDispatch|MoeDistributeDispatch.{0,400}(?:5070(?:14|15|34)|aicore timeout|timed? ?out|failed)",
        cause=text(
            "A rank of expert parallelism stalled: another rank failed first, or driver and firmware are too old."
        ),
        fix=text(
            "Find the first failing rank, align the drivers, and raise HCCL_CONNECT_TIMEOUT."
        ),
        source="vllm-ascend#4972, #7582, #9887",
        shows="RuntimeError: The error code is 507014, aicore timeout, kernel MoeDistributeDispatchV2",
        misses="INFO op MoeDistributeDispatchV2 loaded",
        platforms=("ascend",),
    ),
    Signature(
        code="HCCL_SOCKET_TIMEOUT",
        category="environment",
        severity=CRITICAL,
        anchors=(
            "EI0006",
            "Getting socket times out",
        ),
        pattern=r"EI0006|Getting socket times out",
        cause=text(
            "A rank did not reach the others in time: it is late or absent, or the network interface is the wrong one."
        ),
        fix=text("Name the network interfaces, and raise HCCL_CONNECT_TIMEOUT."),
        source="vllm-ascend#5461, #9447, #2248",
        shows="EI0006: Getting socket times out. Reason: 1. The remote does not initiate a connect request.",
        misses="INFO HCCL_CONNECT_TIMEOUT=1200",
        platforms=("ascend",),
    ),
    Signature(
        code="STREAMS_EXHAUSTED",
        category="ascend-graph",
        severity=CRITICAL,
        anchors=(
            "EL0009",
            "207008",
            "Stream resources are insufficient",
            "Alloc sq cq fail",
        ),
        pattern=r"EL0009|\b207008\b.{0,200}[Ss]tream|Stream resources are insufficient|Alloc sq cq fail",
        cause=text(
            "Too many graphs are captured for the device's streams, or its driver is too old."
        ),
        fix=text("Capture fewer sizes, use FULL_DECODE_ONLY, or update HDK and CANN."),
        source="vllm-ascend FAQ Q17 and sources",
        shows="EL0009: Stream resources are insufficient. Failed to create stream.",
        misses="INFO streams: 32",
        platforms=("ascend",),
    ),
    Signature(
        code="ENGINE_VERSION_UNREADABLE",
        category="ascend-version",
        severity=CRITICAL,
        anchors=("InvalidVersion",),
        pattern=r"InvalidVersion: Invalid version: '(?P<version>[^']{1,80})'",
        cause=text(
            "The installed vLLM calls itself {version}, which is no version number."
        ),
        fix=text("Set VLLM_VERSION to the release."),
        source="vllm-ascend FAQ Q11",
        shows="packaging.version.InvalidVersion: Invalid version: 'dev'",
        misses="INFO vLLM version 0.23.0",
        platforms=("ascend",),
    ),
    Signature(
        code="CONTAINER_NOT_PRIVILEGED",
        category="device",
        severity=CRITICAL,
        anchors=("operation not permitted",),
        pattern=r"(?:docker|OCI runtime|runc).{0,300}operation not permitted",
        cause=text("Docker may not set up the container's shared memory or devices."),
        fix=text("Run it with --privileged=true, or without --shm-size."),
        source="vllm-ascend FAQ Q20",
        shows='docker: Error response from daemon: OCI runtime create failed: mounting "shm": operation not permitted.',
        misses="bash: operation not permitted",
        platforms=("ascend",),
    ),
    Signature(
        code="ASCEND_DRIVER_MISSING",
        category="device",
        severity=CRITICAL,
        anchors=(
            "libascend_hal.so",
            "dcmi",
        ),
        pattern=r"libascend_hal\.so: cannot open|dcmi (?:model|module) initialized failed",
        cause=text("The driver's files are not in the container."),
        fix=text("Mount the driver's directories and npu-smi as the platform asks."),
        source="vllm-ascend FAQ",
        shows="ImportError: libascend_hal.so: cannot open shared object file: No such file or directory",
        misses="INFO libascend_hal.so loaded",
        platforms=("ascend",),
    ),
    Signature(
        code="CANN_LIBRARY_MISSING",
        category="ascend-version",
        severity=CRITICAL,
        anchors=("libatb.so",),
        pattern=r"libatb\.so: cannot open",
        cause=text("The environment of CANN is not set in the container."),
        fix=text(
            "Source set_env.sh of ascend-toolkit and of nnal/atb, or use the official image."
        ),
        source="vllm-ascend FAQ Q6",
        shows="ImportError: libatb.so: cannot open shared object file: No such file or directory",
        misses="INFO libatb.so loaded",
        platforms=("ascend",),
    ),
)
