"""Apart: prefill and decode that do not understand each other, and ranks that disagree."""

from deployments.planning.failures.signature import FailureSeverity, Signature
from deployments.planning.text import text

CRITICAL = FailureSeverity.CRITICAL
WARNING = FailureSeverity.WARNING

APART = (
    Signature(
        code="KV_TRANSFER_FAILED",
        category="disaggregation",
        severity=CRITICAL,
        anchors=(
            "Mooncake transfer failed",
            "Failed to register memory",
        ),
        pattern=r"Mooncake transfer failed|Failed to register memory",
        cause=text("The KV cache does not get from the prefill to the decode engine."),
        fix=text(
            "Repair the network path between the hosts before touching speculation settings."
        ),
        source="vllm-ascend#2970, #4866",
        shows="RuntimeError: Mooncake transfer failed, ret: -1",
        misses="INFO Mooncake transfer took 12 ms",
    ),
    Signature(
        code="RANKS_DISAGREE",
        category="data-parallel",
        severity=CRITICAL,
        anchors=(
            "num_tokens_across_dp_cpu",
            "AssertionError: 4096 20",
        ),
        pattern=r"[Aa]ssert.{0,80}num_tokens_across_dp_cpu|AssertionError: 4096 20\b",
        cause=text("The data parallel ranks disagree on the batch while drafting."),
        fix=text("Use one data parallel rank, or a later version."),
        source="vllm#56281",
        shows="    assert num_tokens_across_dp_cpu is not None",
        misses="DEBUG num_tokens_across_dp_cpu: tensor([8, 8])",
        versions="0.28 - 0.29",
    ),
    Signature(
        code="NIXL_HASH_MISMATCH",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("NIXL compatibility hash mismatch",),
        pattern=r"NIXL compatibility hash mismatch",
        cause=text(
            "Prefill and decode differ in release, model, cache type or speculation."
        ),
        fix=text(
            "Give both the same version, model, drafter and cache type; num_speculative_tokens may differ."
        ),
        source="vllm#29503; dynamo#10027",
        shows="RuntimeError: NIXL compatibility hash mismatch. Local: 3f2a, Remote: 9b1c. Prefill and decode instances have incompatible configurations.",
        misses="INFO NIXL compatibility hash: 3f2a",
        versions=">= 0.13",
    ),
    Signature(
        code="NIXL_MISSING",
        category="missing-package",
        severity=CRITICAL,
        anchors=("NIXL is not available",),
        pattern=r"NIXL is not available",
        cause=text("The image lacks the package nixl."),
        fix=text("Install nixl, or use an image with the connectors."),
        source="vLLM sources",
        shows="RuntimeError: NIXL is not available",
        misses="INFO NIXL is available",
    ),
    Signature(
        code="KV_BLOCKS_EXPIRED",
        category="disaggregation",
        severity=WARNING,
        anchors=(
            "Releasing expired KV blocks",
            "Potentially invalid KV blocks",
        ),
        pattern=r"Releasing expired KV blocks for request|Potentially invalid KV blocks for unrecognized request",
        cause=text(
            "Decode fetched too late and prefill gave the blocks away: answers can be wrong with status 200."
        ),
        fix=text(
            "Raise kv_lease_duration to 120 s or more, and give decode more capacity."
        ),
        source="vllm#20139, #21753, #21570",
        shows="WARNING [nixl_connector.py:1201] Releasing expired KV blocks for request cmpl-9 which were retrieved by 0 decode worker(s) within 480 seconds.",
        misses="DEBUG Releasing KV blocks for request cmpl-9",
    ),
    Signature(
        code="NIXL_HANDSHAKE_FAILED",
        category="disaggregation",
        severity=CRITICAL,
        anchors=(
            "NIXL handshake",
            "nixl handshake",
        ),
        pattern=r"(?i:nixl handshake).{0,200}(?:[Ff]ailed|refused|timed? ?out)",
        cause=text("Decode does not reach the side channel of prefill."),
        fix=text(
            "Set VLLM_NIXL_SIDE_CHANNEL_HOST to the node's address and a port of its own for each instance."
        ),
        source="vLLM documentation",
        shows="ERROR [nixl_connector.py:905] NIXL handshake with localhost:5600 failed: Connection refused",
        misses="DEBUG NIXL handshake took 12 ms",
    ),
    Signature(
        code="KV_LAYOUT_DIFFERS",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("expects same kv_cache_layout",),
        pattern=r"expects same kv_cache_layout",
        cause=text("Prefill and decode keep the cache in different layouts."),
        fix=text("Set the same layout (VLLM_KV_CACHE_LAYOUT) on both."),
        source="vLLM sources",
        shows="AssertionError: Heterogeneous TP expects same kv_cache_layout",
        misses="INFO kv_cache_layout: HND",
    ),
    Signature(
        code="NIXL_PEER_RESTARTED",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("NIXL agent engine ID mismatch",),
        pattern=r"NIXL agent engine ID mismatch",
        cause=text("The other side was restarted and has another identity."),
        fix=text("Restart both sides."),
        source="vllm#43523",
        shows="RuntimeError: Remote NIXL agent engine ID mismatch. Expected 1a, received 2b.",
        misses="INFO NIXL agent engine ID 1a",
    ),
    Signature(
        code="P2P_PROXY_MISSING",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("does not contain hostname and port",),
        pattern=r"Request id .{1,200} does not contain hostname and port",
        cause=text("The request did not come through the connector's own proxy."),
        fix=text("Send requests to the proxy, or use NixlConnector."),
        source="vllm#44062",
        shows="ValueError: Request id cmpl-8d does not contain hostname and port",
        misses="INFO Request id cmpl-8d finished",
        versions="0.9.2 - 0.23",
    ),
    Signature(
        code="MOONCAKE_BOOTSTRAP_UNREACHABLE",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("Mooncake bootstrap server",),
        pattern=r"Failed to register .{0,200}Mooncake bootstrap server",
        cause=text("The bootstrap server of Mooncake does not answer (port 8998)."),
        fix=text("Set VLLM_MOONCAKE_BOOTSTRAP_PORT and open it between the hosts."),
        source="vLLM sources",
        shows="ERROR Failed to register worker 0 with the Mooncake bootstrap server at 10.0.0.1:8998",
        misses="INFO Mooncake bootstrap server listens on 8998",
    ),
    Signature(
        code="REMOTE_LAYER_MISSING",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("Remote KV metadata does not contain layer",),
        pattern=r"Remote KV metadata does not contain layer",
        cause=text("Decode has a drafter that prefill lacks, or another one."),
        fix=text("Give prefill the same drafter, with 1 token or the same count."),
        source="vllm-ascend sources, Mooncake connector",
        shows="RuntimeError: Remote KV metadata does not contain layer 'model.layers.61.mtp.self_attn'.",
        misses="DEBUG Remote KV metadata contains 62 layers",
        platforms=("ascend",),
    ),
    Signature(
        code="ENGINE_ID_CONFLICT",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("Conflict engine id",),
        pattern=r"Conflict engine id (?P<identity>\S{1,80}) with local engine id",
        cause=text("Two instances have the same engine_id {identity}."),
        fix=text("Give each instance its own engine_id, or leave it out."),
        source="vllm-ascend sources, Mooncake connector",
        shows="AssertionError: Conflict engine id 0 with local engine id 0.",
        misses="INFO engine id 0",
        platforms=("ascend",),
    ),
    Signature(
        code="PREFILL_PARALLEL_TOO_SMALL",
        category="disaggregation",
        severity=CRITICAL,
        anchors=(
            "prefill_tp_size:",
            "Prefill TP size must be",
        ),
        pattern=r"prefill_tp_size: \d+ must be greater than or equal to the decode_tp_size|Prefill TP size must be (?:divisible|greater)",
        cause=text("Prefill's tensor parallel size does not fit decode's."),
        fix=text("Make it a multiple of decode's."),
        source="vllm-ascend sources, Mooncake connector",
        shows="AssertionError: prefill_tp_size: 4 must be greater than or equal to the decode_tp_size: 8",
        misses="INFO prefill_tp_size: 8",
        platforms=("ascend",),
    ),
    Signature(
        code="REQUEST_FORCE_FREED",
        category="disaggregation",
        severity=WARNING,
        anchors=("Force freed expired request",),
        pattern=r"Force freed expired request",
        cause=text(
            "Decode did not confirm a transfer, and prefill freed the request after its time."
        ),
        fix=text(
            "Look at decode's log; raise VLLM_MOONCAKE_ABORT_REQUEST_TIMEOUT to 480."
        ),
        source="vllm-ascend sources, Mooncake connector",
        shows="INFO [mooncake_connector.py:236] Force freed expired request: cmpl-3 Request exceeded timeout threshold (480 seconds)",
        misses="INFO Freed request cmpl-3",
        platforms=("ascend",),
    ),
    Signature(
        code="TRANSFER_TIMED_OUT",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("data transfer timeout",),
        pattern=r"Sync batch data transfer timeout",
        cause=text("A transfer between the hosts did not finish in time."),
        fix=text(
            "Repair the network path between the hosts before touching speculation settings."
        ),
        source="Mooncake, as vllm-ascend uses it",
        shows="E1129 10:11:12 ascend_direct_transport.cpp:512] Sync batch data transfer timeout after 3000000000 ns",
        misses="I1129 Connected to segment: 10.0.0.1:20001, cost:812 us",
        platforms=("ascend",),
    ),
    Signature(
        code="C8_CACHE_UNSUPPORTED",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("does not support C8 KV cache",),
        pattern=r"MooncakeConnector does not support C8 KV cache quantization",
        cause=text(
            "The connector does not move an int8 cache of models with grouped attention heads."
        ),
        fix=text("Use MooncakeLayerwiseConnector."),
        source="vllm-ascend sources",
        shows="ValueError: MooncakeConnector does not support C8 KV cache quantization on GQA models",
        misses="INFO C8 KV cache quantization enabled",
        platforms=("ascend",),
    ),
    Signature(
        code="SCHEDULER_ROLE_WRONG",
        category="disaggregation",
        severity=CRITICAL,
        anchors=(
            "recompute_scheduler_enable",
            "enable_balance_scheduling",
        ),
        pattern=r"recompute_scheduler_enable can only be enabled on|enable_balance_scheduling only supports",
        cause=text("The scheduler option belongs to another role."),
        fix=text(
            "The recompute scheduler is for decode, balance scheduling for combined roles; remove it here."
        ),
        source="vllm-ascend sources",
        shows="ValueError: recompute_scheduler_enable can only be enabled on PD-disaggregated D nodes",
        misses="INFO recompute_scheduler_enable: true",
        platforms=("ascend",),
    ),
    Signature(
        code="RECOMPUTE_ON_HYBRID",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("do not support recompute mode",),
        pattern=r"Hybrid models do not support recompute mode kv load failure policy",
        cause=text(
            "kv_load_failure_policy recompute does not work with hybrid models."
        ),
        fix=text("Set kv_load_failure_policy to fail."),
        source="vllm-ascend sources",
        shows="NotImplementedError: Hybrid models do not support recompute mode kv load failure policy now.",
        misses="INFO kv_load_failure_policy: recompute",
        platforms=("ascend",),
    ),
)
