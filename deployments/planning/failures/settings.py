"""Settings: methods, keys and connectors that a release does not have."""

from deployments.planning.failures.signature import FailureSeverity, Signature
from deployments.planning.text import text

CRITICAL = FailureSeverity.CRITICAL

SETTINGS = (
    Signature(
        code="SPEC_ARGUMENT_UNEXPECTED",
        category="unknown-flag",
        severity=CRITICAL,
        anchors=("unexpected keyword argument '",),
        pattern=r"SpeculativeConfig.{0,60}unexpected keyword argument '(?P<key>\w{1,64})'|unexpected keyword argument '(?P<old>enforce_eager|method)'",
        cause=text(
            "This release is too old for a key of the speculative configuration."
        ),
        fix=text("Upgrade, or leave the key out."),
        source="vLLM sources, to 0.9.0",
        shows="TypeError: SpeculativeConfig.__init__() got an unexpected keyword argument 'enforce_eager'",
        misses="TypeError: generate() got an unexpected keyword argument 'temperature'",
        versions="<= 0.9.0",
    ),
    Signature(
        code="SPEC_COUNT_NONE",
        category="k-limit",
        severity=CRITICAL,
        anchors=("'>' not supported between",),
        pattern=r"'>' not supported between instances of 'NoneType' and 'int'",
        cause=text(
            "The configuration was compared without a number: num_speculative_tokens is most likely missing beside a model."
        ),
        fix=text("Add num_speculative_tokens to the speculative configuration."),
        source="vLLM 0.32.0, run",
        shows="TypeError: '>' not supported between instances of 'NoneType' and 'int'",
        misses="TypeError: '>' not supported between instances of 'str' and 'int'",
        versions="0.32",
    ),
    Signature(
        code="EAGLE3_TARGET_NOT_ALLOWED",
        category="unsupported-method",
        severity=CRITICAL,
        anchors=("agle3 is only supported for",),
        pattern=r"[Ee]agle3 is only supported for",
        cause=text(
            "This release allows EAGLE-3 for a short list of target models only."
        ),
        fix=text("Use vLLM 0.22 or later, or another method."),
        source="vllm#31254",
        shows="ValueError: Eagle3 is only supported for ['llama', 'qwen', 'minicpm', 'gpt_oss'] models. Got self.target_model_config.hf_text_config.model_type='glm4_moe'",
        misses="INFO eagle3 drafter loaded for LlamaForCausalLM",
        versions="<= 0.21",
    ),
    Signature(
        code="EAGLE3_INTERFACE_MISSING",
        category="unsupported-method",
        severity=CRITICAL,
        anchors=("does not support EAGLE3 interface",),
        pattern=r"Model does not support EAGLE3 interface",
        cause=text(
            "The class of the target model does not hand its hidden states to an EAGLE-3 head."
        ),
        fix=text("Use a newer release or the method mtp."),
        source="vLLM sources",
        shows="RuntimeError: Model does not support EAGLE3 interface but aux_hidden_state_outputs was requested",
        misses="INFO Model supports EAGLE3 interface",
    ),
    Signature(
        code="DRAFT_ARCHITECTURE_UNKNOWN",
        category="draft-loading",
        severity=CRITICAL,
        anchors=("are not supported for now",),
        pattern=r"Model architectures \[(?P<architecture>[^\]]{0,80}(?:MTP|Eagle|Medusa|DFlash|DSpark|MLPSpeculator)[^\]]{0,80})\] are not supported for now",
        cause=text(
            "This release does not know the drafter's architecture {architecture}."
        ),
        fix=text("Use a newer release."),
        source="vLLM sources",
        shows="ValueError: Model architectures ['Eagle3MiniMaxForCausalLM'] are not supported for now. Supported architectures: dict_keys([...])",
        misses="ValueError: Model architectures ['FooForCausalLM'] are not supported for now.",
    ),
    Signature(
        code="TARGET_ARCHITECTURE_UNKNOWN",
        category="other",
        severity=CRITICAL,
        anchors=("are not supported for now",),
        pattern=r"Model architectures \[(?P<architecture>(?![^\]]{0,80}(?:MTP|Eagle|Medusa|DFlash|DSpark|MLPSpeculator))[^\]]{1,160})\] are not supported for now",
        cause=text(
            "This release does not know the model's architecture {architecture}."
        ),
        fix=text("Use a newer release."),
        source="vLLM sources",
        shows="ValueError: Model architectures ['Qwen4ForCausalLM'] are not supported for now. Supported architectures: dict_keys([...])",
        misses="INFO Resolved architecture: Qwen3ForCausalLM",
    ),
    Signature(
        code="DRAFT_MODEL_NOT_IN_RELEASE",
        category="unsupported-method",
        severity=CRITICAL,
        anchors=("Speculative decoding with draft model is not",),
        pattern=r"Speculative decoding with draft model is not",
        cause=text("This release cannot draft with a draft model (V1 before 0.16)."),
        fix=text("Use vLLM 0.16 or later, or eagle3 or ngram."),
        source="vllm#21797, #24322",
        shows="NotImplementedError: Speculative decoding with draft model is not supported yet. Please consider using other speculative decoding methods such as ngram, medusa, eagle, or deepseek_mtp.",
        misses="INFO Speculative decoding with draft model Qwen/Qwen3-0.6B",
        versions="0.10 - 0.14",
    ),
    Signature(
        code="DRAFT_LENGTH_TOO_LONG",
        category="draft-loading",
        severity=CRITICAL,
        anchors=("cannot be larger than",),
        pattern=r"max_model_len=\d+ cannot be larger than (?:draft|target)_max_model_len",
        cause=text(
            "The drafter's max_model_len is larger than the drafter or the target model allows."
        ),
        fix=text("Lower max_model_len in the speculative configuration."),
        source="vLLM sources",
        shows="ValueError: speculative_max_model_len=8192 cannot be larger than draft_max_model_len=2048",
        misses="ValueError: top_k cannot be larger than vocab_size",
    ),
    Signature(
        code="REJECTION_METHOD_UNKNOWN",
        category="unknown-flag",
        severity=CRITICAL,
        anchors=("Input should be 'standard'",),
        pattern=r"Input should be 'standard', 'synthetic'",
        cause=text(
            "rejection_sample_method has a name that this release does not know; it was renamed in 0.21."
        ),
        fix=text("Use standard, synthetic or block."),
        source="vLLM 0.32.0, run",
        shows="  Input should be 'standard', 'synthetic' or 'block' [type=literal_error, input_value='strict', input_type=str]",
        misses="  Input should be 'auto', 'bfloat16' or 'float16' [type=literal_error]",
        versions=">= 0.21",
    ),
    Signature(
        code="KV_KEY_REMOVED",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("Unexpected keyword argument",),
        pattern=r"(?P<key>kv_rank|kv_parallel_size|kv_ip|kv_buffer_size) Unexpected keyword argument",
        cause=text("{key} of --kv-transfer-config was removed in 0.32.0."),
        fix=text("Remove kv_rank, kv_parallel_size, kv_ip and kv_buffer_size."),
        source="vLLM 0.32.0 sources",
        shows="kv_parallel_size\n  Unexpected keyword argument [type=unexpected_keyword_argument, input_value=2, input_type=int]",
        misses="kv_role\n  Input should be 'kv_producer', 'kv_both' or 'kv_consumer'",
        versions=">= 0.32.0",
    ),
    Signature(
        code="CONNECTOR_UNKNOWN",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("Unsupported connector type",),
        pattern=r"Unsupported connector type: (?P<connector>\w{1,64})",
        cause=text(
            "This release has no KV connector {connector}; P2pNcclConnector was removed in 0.24."
        ),
        fix=text("Use NixlConnector, or on Ascend MooncakeConnectorV1."),
        source="vLLM 0.32.0, run; vllm#44854",
        shows="ValueError: Unsupported connector type: P2pNcclConnector",
        misses="INFO Creating v1 connector with name: NixlConnector",
    ),
    Signature(
        code="KV_ROLE_MISSING",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("specify kv_role",),
        pattern=r"Please specify kv_role when kv_connector",
        cause=text("A KV connector is named without a role."),
        fix=text("Add kv_role: kv_producer for prefill, kv_consumer for decode."),
        source="vLLM 0.32.0, run",
        shows="Value error, Please specify kv_role when kv_connector is set, supported roles are ['kv_producer', 'kv_both', 'kv_consumer']",
        misses="INFO kv_connector NixlConnector with kv_role kv_producer",
    ),
    Signature(
        code="SPEC_FLAGS_EXCLUSIVE",
        category="unknown-flag",
        severity=CRITICAL,
        anchors=("are mutually exclusive",),
        pattern=r"--spec\S{0,60}.{0,200} are mutually exclusive",
        cause=text(
            "The same setting of speculation is given twice, as a flag and in the configuration."
        ),
        fix=text("Keep one of the two."),
        source="vLLM sources",
        shows="ValueError: --spec-method and --speculative-config are mutually exclusive",
        misses="ValueError: --tokenizer and --skip-tokenizer-init are mutually exclusive",
    ),
    Signature(
        code="ENTRYPOINT_REPEATED",
        category="unknown-flag",
        severity=CRITICAL,
        anchors=("unrecognized arguments:",),
        pattern=r"error: unrecognized arguments: (?:vllm )?serve\b",
        cause=text("The image starts “vllm serve” itself, and the command repeats it."),
        fix=text("Give the arguments alone, or override the entrypoint."),
        source="vLLM images 0.11.1 and newer",
        shows="vllm: error: unrecognized arguments: serve Qwen/Qwen3-32B",
        misses="vllm: error: unrecognized arguments: --serve-fast",
        versions=">= 0.11.1",
    ),
)
