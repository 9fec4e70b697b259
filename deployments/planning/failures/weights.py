"""Weights: files that are missing, damaged, or do not belong to each other."""

from deployments.planning.failures.signature import FailureSeverity, Signature
from deployments.planning.text import text

CRITICAL = FailureSeverity.CRITICAL
INFO = FailureSeverity.INFO
WARNING = FailureSeverity.WARNING

WEIGHTS = (
    Signature(
        code="MTP_WEIGHTS_MISSING",
        category="missing-weights",
        severity=CRITICAL,
        anchors=("weights were not initialized from checkpoint",),
        pattern=r"weights were not initialized from checkpoint.{0,1000}(?:mtp|shared_head|embed_tokens)",
        cause=text("The checkpoint lacks the weights of its MTP layers."),
        fix=text(
            "Use a checkpoint that kept the MTP layers when it was quantised, or turn speculation off."
        ),
        source="vllm#25993, vllm-ascend#6754",
        shows="ValueError: Following weights were not initialized from checkpoint: {'model.layers.78.shared_head.head.weight', 'model.embed_tokens.weight'}",
        misses="ValueError: Following weights were not initialized from checkpoint: {'model.layers.3.mlp.gate.weight'}",
    ),
    Signature(
        code="MODEL_PATH_MISSING",
        category="mount",
        severity=CRITICAL,
        anchors=(
            "Invalid repository ID or local directory",
            "Repo id must be in the form",
            "is not a local folder and is not a valid model identifier",
        ),
        pattern=r"(?:(?:Invalid repository ID or local directory specified|'namespace/repo_name'): '|OSError: )(?P<path>[^']{1,500}?)(?:'| is not a local folder)",
        cause=text("The model or drafter {path} is not in the container."),
        fix=text(
            "Mount the directory that holds {path} and check the path inside the container."
        ),
        source="vLLM 0.32.0, recorded; vllm-ascend#10801",
        shows="Value error, Invalid repository ID or local directory specified: '/models/does-not-exist'.",
        misses="INFO model: /models/target",
    ),
    Signature(
        code="VOCABULARY_MISMATCH",
        category="draft-loading",
        severity=CRITICAL,
        anchors=(
            "should have the same vocabulary size",
            "assert all(vocab_sizes",
        ),
        pattern=r"same vocabulary size(?:. Target model vocab_size=(?P<target>\d+)\. Draft model vocab_size=(?P<draft>\d+))?|assert all\(vocab_sizes",
        cause=text(
            "Drafter and target model have different vocabularies (drafter {draft}, target {target} tokens)."
        ),
        fix=text("Use a drafter of the same model family and tokenizer."),
        source="vLLM 0.32.0, recorded; vllm#5203",
        shows="Value error, Target and draft model should have the same vocabulary size. Target model vocab_size=1024. Draft model vocab_size=512. Using models with different tokenizers can cause out-of-bounds errors during speculative decoding.",
        misses="INFO vocab_size=1024",
    ),
    Signature(
        code="DRAFTER_SHAPE_MISMATCH",
        category="draft-loading",
        severity=CRITICAL,
        anchors=(
            "CHECK_EQ(mat1",
            "cannot be multiplied",
            "== input_embeds.shape",
        ),
        pattern=r"CHECK_EQ\(mat1\.size.{0,40} failed|shapes cannot be multiplied|hidden_states\.shape\[-1\] == input_embeds\.shape\[-1\]",
        cause=text("The drafter was made for a target model with another hidden size."),
        fix=text("Use the drafter of exactly this target model."),
        source="vLLM 0.32.0, recorded; vllm#18906",
        shows="RuntimeError: CHECK_EQ(mat1.size(ndim - 1), K) failed. 384 vs 768",
        misses="DEBUG mat1 (384, 768)",
    ),
    Signature(
        code="MTP_TENSOR_NAMES",
        category="missing-weights",
        severity=CRITICAL,
        anchors=("KeyError",),
        pattern=r"KeyError: .{0,80}(?:mtp_block|weight_scale_inv|e_proj)",
        cause=text(
            "The MTP tensors of the checkpoint have other names or another quantisation than this release expects."
        ),
        fix=text(
            "Use a newer release, or a checkpoint whose MTP layer is kept in BF16 or FP8."
        ),
        source="vllm#52111, #43455, #36331",
        shows="KeyError: 'model.layers.61.mtp_block.self_attn.q_a_proj.weight'",
        misses="KeyError: 'finish_reason'",
    ),
    Signature(
        code="MTP_QUANTISATION_UNDESCRIBED",
        category="missing-weights",
        severity=CRITICAL,
        anchors=("KeyError",),
        pattern=r"KeyError: .{0,20}model\.layers\.\d{1,3}\.self_attn\.\w{1,40}\.weight'",
        cause=text(
            "The quantisation description of the checkpoint lacks the MTP layer."
        ),
        fix=text(
            "Quantise again with the MTP layer, or use weights whose MTP layer stays in floating point."
        ),
        source="vllm-ascend#5794",
        shows="KeyError: 'model.layers.92.self_attn.q_proj.weight'",
        misses="KeyError: 'model.layers'",
        platforms=("ascend",),
    ),
    Signature(
        code="DRAFTER_EMBEDDING_MISSING",
        category="draft-loading",
        severity=CRITICAL,
        anchors=("embed_tokens.weight'",),
        pattern=r"KeyError: '(?:model\.)?embed_tokens\.weight'",
        cause=text("The EAGLE head has another format than this release loads."),
        fix=text("Use vLLM 0.9.1 or later and the head of exactly this target model."),
        source="vllm#18906",
        shows="KeyError: 'embed_tokens.weight'",
        misses="INFO Sharing embed_tokens.weight with the target model",
    ),
    Signature(
        code="DRAFTER_PARAMETER_UNKNOWN",
        category="draft-loading",
        severity=CRITICAL,
        anchors=("There is no module or parameter named",),
        pattern=r"There is no module or parameter named '?(?P<name>[\w.]{1,120})",
        cause=text(
            "The weights hold {name}, which the model class does not have: drafter and architecture do not fit."
        ),
        fix=text("Check the drafter's architecture and the release it was made for."),
        source="vllm#54526",
        shows="ValueError: There is no module or parameter named 'midlayer.hidden_norm' in LlamaForCausalLM",
        misses="ValueError: There is no module named here",
    ),
    Signature(
        code="EAGLE_WITHOUT_LM_HEAD",
        category="draft-loading",
        severity=CRITICAL,
        anchors=("has no attribute 'lm_head'",),
        pattern=r"'\w{0,64}Eagle\w{0,64}' object has no attribute 'lm_head'",
        cause=text("This release does not load the EAGLE head of Llama 4."),
        fix=text("Use a newer release."),
        source="vllm#29109",
        shows="AttributeError: 'EagleLlama4ForCausalLM' object has no attribute 'lm_head'",
        misses="AttributeError: 'LlamaModel' object has no attribute 'lm_head'",
    ),
    Signature(
        code="DRAFT_POSITIONS_SHORT",
        category="draft-loading",
        severity=CRITICAL,
        anchors=("index out of bounds: 0 <=",),
        pattern=r"index out of bounds: 0 <= .{1,60} < 2048",
        cause=text("The drafter knows 2,048 positions, and a prompt is longer."),
        fix=text(
            "Use vLLM 0.27.1 or later, or raise max_position_embeddings in the drafter's config.json."
        ),
        source="vllm#48894, #21986, #23072",
        shows="/pytorch/aten/src/ATen/native/cuda/Indexing.cu: Assertion `index out of bounds: 0 <= tmp14 < 2048` failed.",
        misses="Assertion `index out of bounds: 0 <= tmp14 < 131072` failed.",
        versions="< 0.27",
    ),
    Signature(
        code="ROTATED_WEIGHTS_UNKNOWN",
        category="draft-loading",
        severity=CRITICAL,
        anchors=("rot.weight",),
        pattern=r"(?:ValueError|KeyError).{0,120}rot\.weight",
        cause=text("The drafter's rotation weight is unknown to this release."),
        fix=text("Use a newer vllm-ascend."),
        source="vllm-ascend#10317",
        shows="ValueError: There is no parameter for 'model.layers.78.rot.weight' (rot.weight)",
        misses="INFO loading rot.weight",
        platforms=("ascend",),
    ),
    Signature(
        code="SAFETENSORS_DAMAGED",
        category="mount",
        severity=CRITICAL,
        anchors=(
            "SafetensorError",
            "deserializing header",
        ),
        pattern=r"SafetensorError|Error while deserializing header",
        cause=text("A weight file is cut off or damaged."),
        fix=text(
            "Compare sizes and checksums with the source, and copy the file again."
        ),
        source="safetensors, every version",
        shows="safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
        misses="INFO Loading safetensors checkpoint shards: 100% Completed",
    ),
    Signature(
        code="WEIGHT_FILES_MISSING",
        category="mount",
        severity=CRITICAL,
        anchors=("Cannot find any model weights with",),
        pattern=r"Cannot find any model weights with `?(?P<path>[^`\s]{1,300})",
        cause=text("{path} holds no weight files."),
        fix=text(
            "Mount the directory with the weights, and check that the download is complete."
        ),
        source="vLLM, every version",
        shows="RuntimeError: Cannot find any model weights with `/models/kimi-k2.6-eagle3`",
        misses="INFO Using model weights format ['*.safetensors']",
    ),
    Signature(
        code="MODEL_CONFIG_MISSING",
        category="mount",
        severity=CRITICAL,
        anchors=(
            "file named config.json",
            "Can't load the configuration of",
        ),
        pattern=r"does not appear to have a file named config\.json|Can't load the configuration of '(?P<path>[^']{1,300})'",
        cause=text("The directory of the model or drafter has no config.json."),
        fix=text(
            "Check the mount and the path: one directory too high or too low is common."
        ),
        source="Transformers, every version",
        shows="OSError: /models does not appear to have a file named config.json. Checkout 'https://huggingface.co//models/tree/main' for available files.",
        misses="INFO Loading config.json",
    ),
    Signature(
        code="HUB_ACCESS_DENIED",
        category="environment",
        severity=CRITICAL,
        anchors=(
            "gated repo",
            "GatedRepoError",
            "401 Client Error",
            "RepositoryNotFoundError",
        ),
        pattern=r"access a gated repo|GatedRepoError|401 Client Error.{0,200}huggingface|RepositoryNotFoundError",
        cause=text(
            "The hub does not give the repository to this account, or there is none of that name."
        ),
        fix=text(
            "Set HF_TOKEN of an account that accepted the terms, check the name, or mount the files."
        ),
        source="huggingface_hub, every version",
        shows="huggingface_hub.errors.GatedRepoError: 403 Client Error. Cannot access gated repo for url https://huggingface.co/meta-llama/x/resolve/main/config.json.",
        misses='INFO: 10.0.0.1:5 - "POST /v1/completions HTTP/1.1" 401 Unauthorized',
    ),
    Signature(
        code="HUB_UNREACHABLE",
        category="environment",
        severity=CRITICAL,
        anchors=(
            "couldn't connect to 'https://huggingface.co'",
            "LocalEntryNotFoundError",
            "huggingface.co",
        ),
        pattern=r"couldn't connect to 'https://huggingface\.co'|LocalEntryNotFoundError|(?:Max retries exceeded|Failed to resolve).{0,200}huggingface\.co|huggingface\.co.{0,200}Max retries exceeded",
        cause=text(
            "The host has no way to the hub, and the files are not in its cache."
        ),
        fix=text(
            "Mount the files and give the absolute path, for target and drafter alike."
        ),
        source="huggingface_hub, every version; vllm-ascend#10801",
        shows="OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files.",
        misses="INFO Downloading from https://huggingface.co/Qwen/Qwen3-0.6B",
    ),
    Signature(
        code="GEMMA_ASSISTANT_AS_DRAFT_MODEL",
        category="unsupported-method",
        severity=WARNING,
        anchors=("SpeculativeConfig(method='draft_model'",),
        pattern=r"SpeculativeConfig\(method='draft_model', model='[^']{0,200}[Gg]emma-?4[^']{0,80}assistant",
        cause=text(
            "This release takes the Gemma 4 assistant for an ordinary draft model."
        ),
        fix=text("Use vLLM 0.21 or later with the method mtp."),
        source="vLLM documentation",
        shows="speculative_config=SpeculativeConfig(method='draft_model', model='google/gemma-4-31B-it-assistant', num_spec_tokens=3)",
        misses="speculative_config=SpeculativeConfig(method='draft_model', model='Qwen/Qwen3-0.6B', num_spec_tokens=3)",
        versions="< 0.21",
    ),
    Signature(
        code="GEMMA_ASSISTANT_KV",
        category="disaggregation",
        severity=CRITICAL,
        anchors=("KeyError",),
        pattern=r"KeyError: 'draft_model\.layers",
        cause=text(
            "The KV connector does not know the layers of the Gemma 4 assistant."
        ),
        fix=text(
            "Use a newer release; until then draft without prefill and decode apart."
        ),
        source="vllm#54926, #51718",
        shows="KeyError: 'draft_model.layers.0.self_attn.attn'",
        misses="KeyError: 'draft_model'",
    ),
    Signature(
        code="LM_HEAD_NOT_SHARED",
        category="draft-loading",
        severity=WARNING,
        anchors=("no accessible lm_head",),
        pattern=r"Target model has no accessible lm_head",
        cause=text(
            "The drafter cannot use the target model's output layer; its tokens may be wrong."
        ),
        fix=text("Watch the acceptance; use a drafter with its own lm_head."),
        source="vllm-ascend sources",
        shows="WARNING [spec_decode/base] Target model has no accessible lm_head for sharing",
        misses="INFO [spec_decode/base] Loading EAGLE LM head weights from the target model.",
        platforms=("ascend",),
    ),
    Signature(
        code="SPEC_QUANTIZATION_IGNORED",
        category="other",
        severity=INFO,
        anchors=("Speculative quantization is set but Ascend",),
        pattern=r"Speculative quantization is set but Ascend",
        cause=text(
            "quantization in the speculative configuration is ignored on Ascend: the target model's counts."
        ),
        fix=text("Leave the key out."),
        source="vllm-ascend sources",
        shows="WARNING Speculative quantization is set but Ascend automatically uses the main model's quantization",
        misses="INFO quantization: ascend",
        platforms=("ascend",),
    ),
)
