"""Combinations: settings that work alone and not together, or that cost something together."""

from deployments.planning.failures.signature import FailureSeverity, Signature
from deployments.planning.text import text

CRITICAL = FailureSeverity.CRITICAL
INFO = FailureSeverity.INFO
WARNING = FailureSeverity.WARNING

COMBINATIONS = (
    Signature(
        code="PIPELINE_PARALLEL_UNSUPPORTED",
        category="pipeline-parallel",
        severity=CRITICAL,
        anchors=("Pipeline parallelism is not supported",),
        pattern=r"Pipeline parallelism is not supported for this model",
        cause=text(
            "The drafter does not support pipeline parallelism (before vLLM 0.30 it inherits the size of the target model)."
        ),
        fix=text("Use tensor parallelism, or upgrade."),
        source="vllm#52069",
        shows="NotImplementedError: Pipeline parallelism is not supported for this model. Supported models implement the `SupportsPP` interface.",
        misses="INFO pipeline_parallel_size=1",
    ),
    Signature(
        code="ASYNC_SCHEDULING_METHOD",
        category="async-scheduling",
        severity=CRITICAL,
        anchors=("async scheduling is only supported with",),
        pattern=r"async scheduling is only supported with EAGLE/MTP",
        cause=text("Asynchronous scheduling does not work with this way of drafting."),
        fix=text("Leave --async-scheduling out."),
        source="vLLM 0.32.0, run",
        shows="Value error, Currently, async scheduling is only supported with EAGLE/MTP kind of speculative decoding",
        misses="INFO Asynchronous scheduling is enabled.",
    ),
    Signature(
        code="FAST_PREFILL_REFUSED",
        category="unsupported-method",
        severity=CRITICAL,
        anchors=("Fast prefill optimization for KV sharing",),
        pattern=r"Fast prefill optimization for KV sharing is not",
        cause=text("--kv-sharing-fast-prefill does not work with EAGLE."),
        fix=text("Leave --kv-sharing-fast-prefill out."),
        source="vLLM sources",
        shows="NotImplementedError: Fast prefill optimization for KV sharing is not compatible with EAGLE as EAGLE requires correct logits for all tokens",
        misses="INFO Fast prefill optimization for KV sharing enabled",
    ),
    Signature(
        code="LOGITS_PROCESSORS_REFUSED",
        category="other",
        severity=CRITICAL,
        anchors=("Custom logits processors are not supported",),
        pattern=r"Custom logits processors are not supported when speculative",
        cause=text("Custom logits processors do not work while drafting."),
        fix=text("Remove the logits processors, or turn speculation off."),
        source="vLLM sources, to 0.32",
        shows="ValueError: Custom logits processors are not supported when speculative decoding is enabled.",
        misses="INFO Loaded custom logits processors: []",
    ),
    Signature(
        code="LORA_TOKEN_BUDGET",
        category="lora",
        severity=CRITICAL,
        anchors=("Consider increasing max_num_batched_tokens",),
        pattern=r"Consider increasing max_num_batched_tokens or",
        cause=text(
            "With LoRA the token budget has to hold every sequence with its drafted tokens."
        ),
        fix=text("Set --max-num-batched-tokens to at least max_num_seqs x (k+1)."),
        source="vLLM 0.32.0, run; vllm#21068",
        shows="Value error, max_num_batched_tokens=256 is too small for LoRA. Consider increasing max_num_batched_tokens or decreasing num_speculative_tokens",
        misses="WARNING max_num_batched_tokens (2048) is small",
    ),
    Signature(
        code="TOKEN_BUDGET_NEGATIVE",
        category="token-budget",
        severity=CRITICAL,
        anchors=("max_num_scheduled_tokens is set to -",),
        pattern=r"max_num_scheduled_tokens is set to -(?P<tokens>\d+)",
        cause=text(
            "Nothing is left of the token budget after the drafts' share (minus {tokens})."
        ),
        fix=text(
            "Raise --max-num-batched-tokens to 8192 or more, or lower num_speculative_tokens or --max-num-seqs."
        ),
        source="vllm#50708, #44815",
        shows="WARNING [vllm.py:812] max_num_scheduled_tokens is set to -1792 based on the speculative decoding settings.",
        misses="WARNING [vllm.py:812] max_num_scheduled_tokens is set to 6144 based on the speculative decoding settings.",
        versions="0.20 - 0.26",
    ),
    Signature(
        code="TOKEN_BUDGET_TIGHT",
        category="token-budget",
        severity=INFO,
        anchors=("max_num_scheduled_tokens is set to ",),
        pattern=r"max_num_scheduled_tokens is set to (?P<tokens>\d+) based on the speculative",
        cause=text(
            "Drafts take a share of the token budget: {tokens} tokens are left for each step."
        ),
        fix=text("Raise --max-num-batched-tokens, if prompts wait."),
        source="vllm#50708; vllm-ascend#13439",
        shows="WARNING [vllm.py:812] max_num_scheduled_tokens is set to 60 based on the speculative decoding settings. This may lead to suboptimal performance.",
        misses="INFO max_num_batched_tokens is set to 8192",
    ),
    Signature(
        code="TRUST_REMOTE_CODE",
        category="other",
        severity=CRITICAL,
        anchors=("trust_remote_code=True",),
        pattern=r"(?:pass the argument|setting) `trust_remote_code=True`",
        cause=text(
            "The model brings its own code, which the engine does not run unasked."
        ),
        fix=text("If the repository is trusted, add --trust-remote-code."),
        source="Transformers, every version",
        shows="ValueError: The repository contains custom code which must be executed to correctly load the model. Please pass the argument `trust_remote_code=True` to allow custom code to be run.",
        misses="INFO non-default args: {'trust_remote_code': True}",
    ),
    Signature(
        code="STATS_SWITCHED_OFF",
        category="no-metrics",
        severity=WARNING,
        anchors=("disable_log_stats",),
        pattern=r"non-default args: \{.{0,1500}'disable_log_stats': True",
        cause=text(
            "Statistics are switched off: neither the log nor the metrics show what is accepted."
        ),
        fix=text("Leave --disable-log-stats out."),
        source="vLLM, every version",
        shows="INFO [utils.py:253] non-default args: {'model': '/models/x', 'disable_log_stats': True}",
        misses="INFO [utils.py:253] non-default args: {'model': '/models/x', 'disable_log_stats': False}",
    ),
    Signature(
        code="DYNAMIC_COUNT_DROPPED",
        category="k-limit",
        severity=WARNING,
        anchors=("Disabling num_speculative_tokens_per_batch_size",),
        pattern=r"Disabling num_speculative_tokens_per_batch_size and falling back",
        cause=text(
            "The schedule of counts by batch size is dropped, because there are several data parallel ranks."
        ),
        fix=text("Set one num_speculative_tokens."),
        source="vLLM sources",
        shows="WARNING Disabling num_speculative_tokens_per_batch_size and falling back to num_speculative_tokens=3",
        misses="INFO num_speculative_tokens_per_batch_size: [[1, 8, 3]]",
        versions=">= 0.24",
    ),
    Signature(
        code="METHOD_NAME_DEPRECATED",
        category="other",
        severity=INFO,
        anchors=("is deprecated and replaced with mtp",),
        pattern=r"method `(?P<method>\w{1,64})` is deprecated and replaced with mtp",
        cause=text(
            "{method} is an old spelling of mtp; the engine takes it all the same."
        ),
        fix=text("Write mtp."),
        source="vLLM 0.32.0, recorded",
        shows="WARNING [speculative.py:401] method `deepseek_mtp` is deprecated and replaced with mtp.",
        misses="WARNING [speculative.py:401] option `foo` is deprecated",
    ),
    Signature(
        code="MTP_LAYER_REUSED",
        category="k-limit",
        severity=INFO,
        anchors=("forward on same MTP layer",),
        pattern=r"multiple times of forward on same MTP layer",
        cause=text(
            "More tokens are drafted than the model has MTP layers; each further token is accepted less often."
        ),
        fix=text(
            "Compare with 1 token first, and keep what the rates by position pay for."
        ),
        source="vLLM sources; vllm-ascend guide",
        shows="WARNING Enabling num_speculative_tokens > 1 will run multiple times of forward on same MTP layer,which may result in lower acceptance rate",
        misses="INFO MTP layer loaded once",
    ),
    Signature(
        code="SYNTHETIC_ON_CPU",
        category="unsupported-method",
        severity=CRITICAL,
        anchors=("Synthetic acceptance not supported",),
        pattern=r"Synthetic acceptance not supported with CPU sampling",
        cause=text(
            "Synthetic acceptance does not work on the CPU: the engine dies at the first request."
        ),
        fix=text("Leave rejection_sample_method out."),
        source="vLLM 0.32.0 (CPU), recorded",
        shows="AssertionError: Synthetic acceptance not supported with CPU sampling",
        misses="INFO Synthetic acceptance rates: [0.8, 0.5, 0.2]",
        platforms=("cpu",),
    ),
    Signature(
        code="PINNED_MEMORY_MISSING",
        category="unsupported-method",
        severity=CRITICAL,
        anchors=("pin_memory=True requires",),
        pattern=r"pin_memory=True requires a CUDA or other accelerator",
        cause=text(
            "The method needs an accelerator's pinned memory, and this machine has none."
        ),
        fix=text("Use the method ngram in place of ngram_gpu on a CPU."),
        source="vLLM 0.32.0 (CPU), recorded",
        shows="RuntimeError: pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on this system.",
        misses="WARNING pin_memory=False is used on this platform",
        platforms=("cpu",),
    ),
    Signature(
        code="BENCHMARK_DATASET_MISSING",
        category="other",
        severity=CRITICAL,
        anchors=("dataset_path must be provided",),
        pattern=r"dataset_path must be provided for loading data",
        cause=text("The benchmark was started without its dataset file."),
        fix=text("Add --dataset-path, or use the dataset random."),
        source="vLLM sources",
        shows="ValueError: dataset_path must be provided for loading data.",
        misses="INFO dataset_path: /data/sharegpt.json",
    ),
)
