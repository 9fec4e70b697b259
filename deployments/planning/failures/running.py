"""Running: engines that fail while they capture graphs or serve."""

from deployments.planning.failures.signature import FailureSeverity, Signature
from deployments.planning.text import text

CRITICAL = FailureSeverity.CRITICAL
INFO = FailureSeverity.INFO
WARNING = FailureSeverity.WARNING

RUNNING = (
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
        pattern=r"operation not permitted when stream is capturing|[Ss]treamCaptureUnsupported|No valid cudagraph sizes after rounding|ACL graph capture failed",
        cause=text("Graph capture failed with this drafter or these capture sizes."),
        fix=text(
            "Use capture sizes in multiples of num_speculative_tokens + 1, or run eagerly."
        ),
        source="vllm#48749; vllm-ascend acl_graph",
        shows="RuntimeError: CUDA error: operation not permitted when stream is capturing",
        misses="INFO Graph capturing finished in 12 secs, took 0.71 GiB",
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
        shows="ValueError: The min_p and logit_bias sampling parameters are not yet supported with speculative decoding.",
        misses="INFO SamplingParams(min_p=0.0)",
    ),
    Signature(
        code="WORKER_STUCK",
        category="crash",
        severity=INFO,
        anchors=("No available shared memory broadcast block",),
        pattern=r"No available shared memory broadcast block found in \d+ seconds",
        cause=text(
            "A worker has not answered for a minute: compilation and loading do that, a hang does, too."
        ),
        fix=text(
            "Nothing while the engine starts; under load look for the first failing rank."
        ),
        source="vLLM 0.32.0, recorded in a healthy start",
        shows="INFO [shm_broadcast.py:681] No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are hanging or doing some time-consuming work (e.g. compilation).",
        misses="INFO shared memory broadcast ready",
    ),
    Signature(
        code="ILLEGAL_MEMORY_ACCESS",
        category="crash",
        severity=CRITICAL,
        anchors=("illegal memory access",),
        pattern=r"illegal memory access",
        cause=text(
            "A kernel read outside its memory; while drafting it is often a context longer than the drafter's, or a long context with MTP on a hybrid model."
        ),
        fix=text(
            "Limit --max-model-len to what the drafter has, draft fewer tokens, or use a newer release."
        ),
        source="vllm#57941, #40756, #50021",
        shows="torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
        misses="INFO memory access pattern: sequential",
    ),
    Signature(
        code="SAMPLE_TOKENS_TIMEOUT",
        category="crash",
        severity=CRITICAL,
        anchors=("RPC call to ",),
        pattern=r"RPC call to (?P<call>sample_tokens|execute_model) timed out",
        cause=text("A worker did not answer {call} in time: it hangs."),
        fix=text("Use a newer release; until then draft 1 token or run eagerly."),
        source="vllm#40926, #41530",
        shows="TimeoutError: RPC call to sample_tokens timed out.",
        misses="DEBUG RPC call to sample_tokens took 3 ms",
    ),
    Signature(
        code="GRAMMAR_REJECTS_DRAFTS",
        category="structured-output",
        severity=CRITICAL,
        anchors=(
            "Failed to advance FSM",
            "grammar rejected tokens",
        ),
        pattern=r"Failed to advance FSM|grammar rejected tokens",
        cause=text("The grammar of structured output rejects drafted tokens."),
        fix=text("Use vLLM 0.28.0 or later, or draft nothing for structured output."),
        source="vllm#46118, #44006, #53777",
        shows="ERROR [backend_xgrammar.py:155] Failed to advance FSM for request cmpl-1 for tokens 128. Please file an issue.",
        misses="INFO grammar compiled for request cmpl-1",
        versions="< 0.28",
    ),
    Signature(
        code="TOOL_CALL_CUT",
        category="tool-calls",
        severity=WARNING,
        anchors=(
            "Unterminated string",
            "tool call",
            "tool_call",
        ),
        pattern=r"Unterminated string|[Mm]alformed tool.call|Error in extracting tool call",
        cause=text("A tool call was cut while several tokens came at once."),
        fix=text(
            "Draft 1 token, or use a version whose parser takes several tokens a step."
        ),
        source="vllm-ascend#7580; vllm#41967, #35800",
        shows="json.decoder.JSONDecodeError: Unterminated string starting at: line 1 column 12 (char 11)",
        misses="INFO tool call parser: hermes",
    ),
    Signature(
        code="METRICS_COUNTER_NEGATIVE",
        category="no-metrics",
        severity=WARNING,
        anchors=("Counters can only be incremented",),
        pattern=r"Counters can only be incremented by non-negative amounts",
        cause=text(
            "A counter was told to go down; the metrics of this engine are not to be trusted."
        ),
        fix=text("Use a newer release."),
        source="vllm-ascend#7489",
        shows="ValueError: Counters can only be incremented by non-negative amounts.",
        misses="INFO counter incremented by 3",
    ),
    Signature(
        code="KV_PAGE_SIZES_DIFFER",
        category="draft-loading",
        severity=CRITICAL,
        anchors=("unify_kv_cache_spec_page_size",),
        pattern=r"in unify_kv_cache_spec_page_size",
        cause=text(
            "The cache pages of drafter and target model cannot be made equally large."
        ),
        fix=text("Use a newer release, another drafter, or another --block-size."),
        source="vllm#46480, #43626",
        shows='  File "/usr/local/lib/python3.12/dist-packages/vllm/v1/core/kv_cache_utils.py", line 880, in unify_kv_cache_spec_page_size',
        misses="INFO kv cache page size 16384",
    ),
    Signature(
        code="ENGINE_READY_TIMEOUT",
        category="crash",
        severity=CRITICAL,
        anchors=(
            "Timed out waiting for engine",
            "VLLM_ENGINE_READY_TIMEOUT_S",
        ),
        pattern=r"Timed out waiting for engine(?: core)? processes? to start|did not (?:complete|respond|become ready).{0,120}VLLM_ENGINE_READY_TIMEOUT_S",
        cause=text(
            "The engine core did not start in time; loading large weights takes longer than 10 minutes."
        ),
        fix=text("Raise VLLM_ENGINE_READY_TIMEOUT_S to 1800 or more."),
        source="vLLM sources; recipes",
        shows="TimeoutError: Timed out waiting for engine core processes to start. This is often caused by slow weight loading for large models. Waited 600s (configured by VLLM_ENGINE_READY_TIMEOUT_S).",
        misses="INFO VLLM_ENGINE_READY_TIMEOUT_S=3600",
    ),
    Signature(
        code="SPEC_ATTENTION_UNSUPPORTED",
        category="unsupported-method",
        severity=CRITICAL,
        anchors=("Unsupported attention metadata type for speculative",),
        pattern=r"Unsupported attention metadata type for speculative",
        cause=text(
            "The attention backend cannot draft more than 1 token on this platform."
        ),
        fix=text("Use --attention-backend TRITON_ATTN, or draft 1 token."),
        source="vllm#28222, #53983, #31714",
        shows="ValueError: Unsupported attention metadata type for speculative decoding with num_speculative_tokens > 1: <class 'AiterFlashAttentionMetadata'>",
        misses="INFO Using AiterFlashAttention backend",
        platforms=("amd",),
    ),
    Signature(
        code="MTP_GRAPH_UNSUPPORTED",
        category="ascend-graph",
        severity=CRITICAL,
        anchors=("does not support speculative decoding with MTP",),
        pattern=r"(?:CUDA|ACL|NPU) ?[Gg]raph does not support speculative decoding with MTP",
        cause=text(
            "The drafter of MTP cannot be captured in a graph on this platform and release."
        ),
        fix=text('Add "enforce_eager": true to the speculative configuration.'),
        source="field guide; vllm-ascend#10196, #10700",
        shows="RuntimeError: CUDA graph does not support speculative decoding with MTP",
        misses="INFO CUDA graph supports speculative decoding with EAGLE",
    ),
    Signature(
        code="DYNAMIC_COUNT_CAPTURE",
        category="cudagraph",
        severity=CRITICAL,
        anchors=("InputBatch.make_dummy",),
        pattern=r"InputBatch\.make_dummy",
        cause=text("Capturing graphs failed with counts that change with the batch."),
        fix=text("Set cudagraph_mode to PIECEWISE, or one num_speculative_tokens."),
        source="vllm#48494, #49548",
        shows="AssertionError in InputBatch.make_dummy during speculator capture",
        misses="DEBUG make_dummy batch of 8",
        versions=">= 0.24",
    ),
)
