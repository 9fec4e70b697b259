"""Refusals: what vLLM says to a command line or a configuration before anything is loaded."""

from deployments.planning.failures.signature import FailureSeverity, Signature
from deployments.planning.text import text

CRITICAL = FailureSeverity.CRITICAL

REFUSALS = (
    Signature(
        code="SPEC_JSON_INVALID",
        category="quoting",
        severity=CRITICAL,
        anchors=(
            "cannot be converted to <function loads",
            "invalid loads value",
        ),
        pattern=r"argument (?P<flag>--[\w-]+)\S*: (?:Value .*cannot be converted to|invalid loads value)",
        cause=text(
            "The value of {flag} is no JSON. Often the shell took the double quotes away, or single quotes, True or None stand inside."
        ),
        fix=text(
            "Give {flag} valid JSON as one argument: double quotes inside, single quotes around it in a shell, the list form in Compose."
        ),
        source="vLLM 0.32.0, recorded; ArcticInference#29",
        shows="vllm serve: error: argument --speculative-config/-sc: Value {method: ngram} cannot be converted to <function loads at 0x7fdc51ad9120>.",
        misses="vllm serve: error: argument --port: invalid int value: 'x'",
    ),
    Signature(
        code="ARGUMENTS_UNKNOWN",
        category="unknown-flag",
        severity=CRITICAL,
        anchors=("unrecognized arguments:",),
        pattern=r"error: unrecognized arguments: (?P<arguments>(?!(?:vllm )?serve\b).{1,300})",
        cause=text("This engine version does not know the arguments {arguments}."),
        fix=text(
            "Remove or rename them for this version; speculation is set with --speculative-config alone."
        ),
        source="vLLM 0.32.0, recorded",
        shows="vllm: error: unrecognized arguments: --num-speculative-tokens 3 --speculative-model /models/draft",
        misses="INFO non-default args: {'model': 'x'}",
    ),
    Signature(
        code="ARGUMENT_INVALID",
        category="unknown-flag",
        severity=CRITICAL,
        anchors=("error: argument ",),
        pattern=r"error: argument (?P<flag>--?[\w/-]+): (?P<reason>(?!Value .*<function loads|invalid loads value).{1,300})",
        cause=text("The engine refuses the value of {flag}: {reason}"),
        fix=text("Correct the value of {flag}."),
        source="argparse, every version",
        shows="vllm serve: error: argument --port: invalid int value: 'x'",
        misses="vllm serve: error: argument --speculative-config/-sc: Value {x} cannot be converted to <function loads at 0x7f>.",
    ),
    Signature(
        code="SPEC_METHOD_UNKNOWN",
        category="unsupported-method",
        severity=CRITICAL,
        anchors=("Input should be 'ngram', 'medusa'",),
        pattern=r"Input should be 'ngram', 'medusa'.*input_value='(?P<method>[^']{1,64})'",
        cause=text("This engine version has no speculative method called {method}."),
        fix=text(
            "Choose a method from its list; names are lower case, such as mtp, eagle3, draft_model, ngram or suffix."
        ),
        source="vLLM 0.32.0, recorded",
        shows="  Input should be 'ngram', 'medusa', 'mlp_speculator' or 'draft_model' [type=literal_error, input_value='ngrams', input_type=str]",
        misses="  Input should be 'auto' or 'float16' [type=literal_error, input_value='ngrams', input_type=str]",
    ),
    Signature(
        code="SPEC_METHOD_UNSUPPORTED",
        category="unsupported-method",
        severity=CRITICAL,
        anchors=("Unsupported speculative method",),
        pattern=r"Unsupported speculative method: '(?P<method>(?!mtp)[^']{1,64})'",
        cause=text("The engine cannot use the method {method} with this target model."),
        fix=text("Choose a method that this version supports for the target model."),
        source="vLLM 0.32.0, run",
        shows="NotImplementedError: Unsupported speculative method: 'mlp_speculator'",
        misses="NotImplementedError: Unsupported speculative method: 'mtp'",
    ),
    Signature(
        code="MTP_MISSING",
        category="missing-weights",
        severity=CRITICAL,
        anchors=("Unsupported speculative method: 'mtp'",),
        pattern=r"Unsupported speculative method: 'mtp'",
        cause=text(
            "The target model has no multi-token prediction layers that this version knows."
        ),
        fix=text(
            "Use a checkpoint with MTP layers, or another method such as eagle3 or ngram."
        ),
        source="vLLM 0.32.0, recorded",
        shows="NotImplementedError: Unsupported speculative method: 'mtp'",
        misses="INFO method `deepseek_mtp` is deprecated and replaced with mtp.",
    ),
    Signature(
        code="SPEC_KEY_UNKNOWN",
        category="unknown-flag",
        severity=CRITICAL,
        anchors=("Unexpected keyword argument",),
        pattern=r"(?:\b(?P<key>(?!kv_(?:rank|parallel_size|ip|buffer_size) )\w{1,64}) Unexpected keyword argument|^Unexpected keyword argument)",
        cause=text(
            "The speculative configuration has a key that this version does not know: {key}."
        ),
        fix=text("Remove the key or use the name that this version has for it."),
        source="vLLM 0.16 and newer; recorded with 0.32.0",
        shows="prompt_lookup_maximum\n  Unexpected keyword argument [type=unexpected_keyword_argument, input_value=4, input_type=int]",
        misses="kv_rank\n  Unexpected keyword argument [type=unexpected_keyword_argument, input_value=0, input_type=int]",
    ),
    Signature(
        code="SPEC_COUNT_MISSING",
        category="k-limit",
        severity=CRITICAL,
        anchors=("num_speculative_tokens",),
        pattern=r"num_speculative_tokens must be provided|but `num_speculative_tokens` was not provided",
        cause=text(
            "The speculative configuration does not say how many tokens to draft."
        ),
        fix=text("Add num_speculative_tokens to the speculative configuration."),
        source="vLLM 0.32.0, recorded",
        shows="Value error, num_speculative_tokens must be provided with speculative model unless the draft model config contains an n_predict parameter.",
        misses="INFO num_speculative_tokens: 3",
    ),
    Signature(
        code="SPEC_COUNT_INVALID",
        category="k-limit",
        severity=CRITICAL,
        anchors=(
            "Input should be greater than 0",
            "Input should be a valid integer",
        ),
        pattern=r"num_speculative_tokens Input should be (?P<rule>[^\[]{1,100}\S)",
        cause=text("num_speculative_tokens should be {rule}."),
        fix=text("Give a whole number of 1 or more."),
        source="vLLM 0.32.0, recorded",
        shows="num_speculative_tokens\n  Input should be greater than 0 [type=greater_than, input_value=0, input_type=int]",
        misses="port\n  Input should be greater than 0 [type=greater_than, input_value=0, input_type=int]",
    ),
    Signature(
        code="SPEC_COUNT_NOT_DIVISIBLE",
        category="k-limit",
        severity=CRITICAL,
        anchors=("must be divisible by n_predict",),
        pattern=r"num_speculative_tokens:(?P<count>\d+) must be divisible by n_predict=(?P<depth>\d+)",
        cause=text(
            "The model has {depth} MTP layers, and {count} is no multiple of that."
        ),
        fix=text("Set num_speculative_tokens to a multiple of {depth}."),
        source="vLLM 0.32.0, recorded",
        shows="Value error, num_speculative_tokens:3 must be divisible by n_predict=2",
        misses="INFO n_predict=2",
    ),
    Signature(
        code="DRAFTER_NOT_GIVEN",
        category="missing-drafter",
        severity=CRITICAL,
        anchors=("but without speculative model",),
        pattern=r"num_speculative_tokens was provided but without speculative model",
        cause=text("The method needs a drafter, but the configuration names none."),
        fix=text("Add the drafter's path as model, or use a method without a drafter."),
        source="vLLM 0.32.0, recorded",
        shows="Value error, num_speculative_tokens was provided but without speculative model.",
        misses="INFO speculative model: /models/eagle3",
    ),
    Signature(
        code="DRAFT_PARALLEL_SIZE",
        category="tensor-parallel",
        severity=CRITICAL,
        anchors=(
            "draft_tensor_parallel_size",
            "'tensor_parallel_size' is not a valid",
        ),
        pattern=r"speculative_draft_tensor_parallel_size=\d+ cannot be other value|'draft_tensor_parallel_size' and 'tensor_parallel_size' must be the same|'tensor_parallel_size' is not a valid argument in the speculative_config",
        cause=text(
            "The tensor parallel size of the drafter does not fit the target model."
        ),
        fix=text(
            "Set draft_tensor_parallel_size to 1 or to the size of the target model."
        ),
        source="vLLM 0.32.0, recorded",
        shows="Value error, speculative_draft_tensor_parallel_size=2 cannot be other value than 1 or target model tensor_parallel_size",
        misses="INFO draft_tensor_parallel_size=1",
    ),
    Signature(
        code="LOOKUP_RANGE",
        category="k-limit",
        severity=CRITICAL,
        anchors=("must be <= prompt_lookup_max",),
        pattern=r"prompt_lookup_min=\d+ must be <= prompt_lookup_max=\d+",
        cause=text("prompt_lookup_min is larger than prompt_lookup_max."),
        fix=text("Lower prompt_lookup_min or raise prompt_lookup_max."),
        source="vLLM 0.32.0, recorded",
        shows="Value error, prompt_lookup_min=5 must be <= prompt_lookup_max=2",
        misses="INFO prompt_lookup_min=2, prompt_lookup_max=5",
    ),
    Signature(
        code="CONTEXT_TOO_LONG",
        category="token-budget",
        severity=CRITICAL,
        anchors=("is greater than the derived max_model_len",),
        pattern=r"User-specified max_model_len \((?P<length>\d+)\) is greater than the derived",
        cause=text("The model was not made for a context of {length} tokens."),
        fix=text(
            "Lower --max-model-len (or max_model_len of the drafter) to what the model has."
        ),
        source="vLLM 0.32.0, recorded",
        shows="Value error, User-specified max_model_len (65536) is greater than the derived max_model_len (max_position_embeddings=2048.0 or model_max_length=None in model's config.json).",
        misses="INFO Using max model len 2048",
    ),
    Signature(
        code="SUFFIX_PACKAGE_MISSING",
        category="missing-package",
        severity=CRITICAL,
        anchors=("Arctic Inference is required",),
        pattern=r"Arctic Inference is required for suffix decoding",
        cause=text("The image lacks the package that suffix decoding needs."),
        fix=text("Use an image with arctic-inference, or the method ngram."),
        source="vLLM 0.32.0, run",
        shows="ImportError: Arctic Inference is required for suffix decoding. Install via `pip install arctic-inference==0.1.1`.",
        misses="INFO Arctic Inference 0.1.1 found",
    ),
)
