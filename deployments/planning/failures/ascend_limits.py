"""Ascend limits: what vllm-ascend refuses, and what it changes by itself."""

from deployments.planning.failures.signature import FailureSeverity, Signature
from deployments.planning.text import text

CRITICAL = FailureSeverity.CRITICAL
INFO = FailureSeverity.INFO
WARNING = FailureSeverity.WARNING

ASCEND_LIMITS = (
    Signature(
        code="ASCEND_COUNT_LIMIT",
        category="k-limit",
        severity=CRITICAL,
        anchors=("decode_threshold exceeded",),
        pattern=r"decode_threshold exceeded npu_fused_infer_attention_score",
        cause=text(
            "num_speculative_tokens is larger than 15, more than the attention operator takes."
        ),
        fix=text("Set num_speculative_tokens to 15 or less."),
        source="vllm-ascend sources",
        shows="AssertionError: decode_threshold exceeded npu_fused_infer_attention_score TND layout's limit of 16, got 17",
        misses="DEBUG decode_threshold: 4",
        platforms=("ascend",),
    ),
    Signature(
        code="ASCEND_PADDED_BATCH",
        category="ascend-graph",
        severity=CRITICAL,
        anchors=("only supports padded drafter batch",),
        pattern=r"only supports padded drafter batch",
        cause=text(
            "disable_padded_drafter_batch does not work with a full graph mode."
        ),
        fix=text("Leave disable_padded_drafter_batch out, or run the drafter eagerly."),
        source="vllm-ascend sources",
        shows="NotImplementedError: Speculative Decoding with cudagraph mode containing full cudagraphs only supports padded drafter batch",
        misses="INFO padded drafter batch: on",
        platforms=("ascend",),
    ),
    Signature(
        code="ASCEND_METHOD_UNKNOWN",
        category="unsupported-method",
        severity=CRITICAL,
        anchors=("Unknown speculative decoding method",),
        pattern=r"Unknown speculative decoding method:? ?(?P<method>[\w-]{0,64})",
        cause=text("vllm-ascend does not draft with the method {method}."),
        fix=text(
            "Choose mtp, eagle3, ngram, suffix, medusa, dflash, dspark or draft_model."
        ),
        source="vllm-ascend sources",
        shows="ValueError: Unknown speculative decoding method: mlp_speculator",
        misses="INFO speculative decoding method: mtp",
        platforms=("ascend",),
    ),
    Signature(
        code="ASCEND_DYNAMIC_COUNT_REFUSED",
        category="k-limit",
        severity=CRITICAL,
        anchors=("Dynamic speculative decoding and decode context",),
        pattern=r"Dynamic speculative decoding and decode context parallelism is not supported",
        cause=text("Counts by batch size do not work with decode context parallelism."),
        fix=text("Set one num_speculative_tokens, or decode context parallel size 1."),
        source="vllm-ascend sources",
        shows="ValueError: Dynamic speculative decoding and decode context parallelism is not supported",
        misses="INFO Dynamic speculative decoding: on",
        platforms=("ascend",),
    ),
    Signature(
        code="ASCEND_DRAFT_PARALLEL",
        category="tensor-parallel",
        severity=CRITICAL,
        anchors=("Invalid draft model parallel config",),
        pattern=r"Invalid draft model parallel config for speculative decoding",
        cause=text(
            "The drafter's tensor parallel size does not fit its KV heads under decode context parallelism."
        ),
        fix=text(
            "Lower the decode context parallel size, or raise draft_tensor_parallel_size."
        ),
        source="vllm-ascend sources",
        shows="ValueError: Invalid draft model parallel config for speculative decoding: tensor parallel size 4 must be greater than total num kv heads 8",
        misses="INFO draft model parallel config: tp=1",
        platforms=("ascend",),
    ),
    Signature(
        code="XLITE_COUNT",
        category="k-limit",
        severity=CRITICAL,
        anchors=("Xlite graph mode only support",),
        pattern=r"Xlite graph mode only support speculative decoding with num_speculative_tokens=1",
        cause=text("Xlite graphs take 1 drafted token only."),
        fix=text("Draft 1 token, or switch Xlite off."),
        source="vllm-ascend sources",
        shows="ValueError: Xlite graph mode only support speculative decoding with num_speculative_tokens=1",
        misses="INFO Xlite graph mode enabled",
        platforms=("ascend",),
    ),
    Signature(
        code="DSPARK_SAMPLING",
        category="unsupported-method",
        severity=CRITICAL,
        anchors=("DSpark probabilistic draft sampling",),
        pattern=r"DSpark probabilistic draft sampling is not supported",
        cause=text("DSpark drafts greedily on this runner."),
        fix=text("Set draft_sample_method to greedy."),
        source="vllm-ascend sources",
        shows="ValueError: DSpark probabilistic draft sampling is not supported on the v1 model runner; use greedy",
        misses="INFO DSpark draft sampling: greedy",
        platforms=("ascend",),
    ),
    Signature(
        code="CAPTURE_NOT_MULTIPLE",
        category="ascend-graph",
        severity=CRITICAL,
        anchors=("must be equal to the last element of actualSequenceLengthQ",),
        pattern=r"queryT\(\d+\) must be equal to the last element of actualSequenceLengthQ",
        cause=text("A capture size is no multiple of num_speculative_tokens + 1."),
        fix=text(
            "Use capture sizes in multiples of num_speculative_tokens + 1, or run eagerly."
        ),
        source="vllm-ascend#6524",
        shows="RuntimeError: When layout is TND, queryT(21) must be equal to the last element of actualSequenceLengthQ(20)",
        misses="DEBUG queryT(20) actualSequenceLengthQ(20)",
        platforms=("ascend",),
    ),
    Signature(
        code="CAPTURE_TOO_SMALL",
        category="ascend-graph",
        severity=CRITICAL,
        anchors=("batchIdx",),
        pattern=r"batchIdx.{0,40}out of range",
        cause=text(
            "A batch with its drafted tokens is larger than the largest captured size."
        ),
        fix=text("Raise max_cudagraph_capture_size to max_num_seqs x (k+1) or more."),
        source="vllm-ascend#8392",
        shows="RuntimeError: batchIdx out of range, batchIdx=42, batchSize=40 (_v_up_proj)",
        misses="DEBUG batchIdx 12",
        platforms=("ascend",),
    ),
    Signature(
        code="CAPTURE_BELOW_DECODE",
        category="ascend-graph",
        severity=WARNING,
        anchors=("is smaller than the potential max tokens",),
        pattern=r"max_cudagraph_capture_size \((?P<size>\d+)\) is smaller than the potential max tokens required for decode \((?P<needed>\d+)\)",
        cause=text(
            "Graphs are captured up to {size} tokens, decode can need {needed}: beyond that it is 3 to 4 times slower."
        ),
        fix=text("Raise max_cudagraph_capture_size to max_num_seqs x (k+1) or more."),
        source="vllm-ascend#8240, #14440",
        shows="WARNING The max_cudagraph_capture_size (512) is smaller than the potential max tokens required for decode (1024)",
        misses="INFO max_cudagraph_capture_size (512)",
        platforms=("ascend",),
    ),
    Signature(
        code="MLA_HEADS_UNSUPPORTED",
        category="tensor-parallel",
        severity=CRITICAL,
        anchors=("MLA only support",),
        pattern=r"numHeads / numKvHeads = \d+, MLA only support",
        cause=text(
            "The tensor parallel size leaves too few heads on each device for the attention operator."
        ),
        fix=text(
            "Lower the tensor parallel size until 32, 64 or 128 heads stay on a device."
        ),
        source="vllm-ascend FAQ Q13",
        shows="EZ9999: Inner Error! numHeads / numKvHeads = 8, MLA only support {32, 64, 128}.",
        misses="INFO numHeads 64",
        platforms=("ascend",),
    ),
    Signature(
        code="LAUNCH_BLOCKING_SET",
        category="environment",
        severity=CRITICAL,
        anchors=("ASCEND_LAUNCH_BLOCKING",),
        pattern=r"incompatible with ASCEND_LAUNCH_BLOCKING",
        cause=text("ASCEND_LAUNCH_BLOCKING=1 was left on; graphs do not work with it."),
        fix=text("Remove ASCEND_LAUNCH_BLOCKING."),
        source="vllm-ascend sources",
        shows="ValueError: ACL graph is incompatible with ASCEND_LAUNCH_BLOCKING=1.",
        misses="INFO ASCEND_LAUNCH_BLOCKING=0",
        platforms=("ascend",),
    ),
    Signature(
        code="CAPTURE_PARALLEL_MULTIPLE",
        category="ascend-graph",
        severity=CRITICAL,
        anchors=("multiples of tp_size",),
        pattern=r"cudagraph_capture_sizes.{0,400}does not contain values that are multiples of tp_size",
        cause=text("No capture size is a multiple of the tensor parallel size."),
        fix=text(
            "Add sizes that are multiples of the tensor parallel size and of k+1."
        ),
        source="vllm-ascend sources",
        shows="ValueError: cudagraph_capture_sizes [1, 2, 4] does not contain values that are multiples of tp_size 8",
        misses="INFO cudagraph_capture_sizes [8, 16]",
        platforms=("ascend",),
    ),
    Signature(
        code="GLM_DRAFTER_EAGER",
        category="ascend-graph",
        severity=INFO,
        anchors=("currently do not support graph mode",),
        pattern=r"GLM series models with speculative decoding currently do not support graph mode",
        cause=text(
            "The drafter of GLM models runs eagerly; the engine switched it by itself."
        ),
        fix=text('Nothing; on older releases set "enforce_eager": true.'),
        source="vllm-ascend sources; #10700, #10196",
        shows="WARNING GLM series models with speculative decoding currently do not support graph mode. The draft model has been automatically switched to eager mode",
        misses="INFO graph mode: FULL_DECODE_ONLY",
        platforms=("ascend",),
    ),
    Signature(
        code="GRAPH_SIZES_THINNED",
        category="ascend-graph",
        severity=INFO,
        anchors=("Adjusted ACL graph batch sizes",),
        pattern=r"Adjusted ACL graph batch sizes for model.{0,60}due to HDK incompatibility",
        cause=text("Fewer sizes are captured than asked for, because of the driver."),
        fix=text("Update the driver, if the batches in use are not among them."),
        source="vllm-ascend sources",
        shows="WARNING Adjusted ACL graph batch sizes for model: 12 -> 4 sizes due to HDK incompatibility",
        misses="INFO ACL graph batch sizes: 4",
        platforms=("ascend-950",),
    ),
)
