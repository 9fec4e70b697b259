"""Speculation: what vLLM 0.32.0 accepts in ``--speculative-config``, with its refusals."""

import pathlib
from dataclasses import dataclass

MTP_SPELLINGS = [
    "deepseek_mtp",
    "dots3_note_mtp",
    "mimo_mtp",
    "mimo_v2_mtp",
    "glm4_moe_mtp",
    "glm4_moe_lite_mtp",
    "glm_ocr_mtp",
    "ernie_mtp",
    "nemotron_h_mtp",
    "exaone_moe_mtp",
    "exaone4_5_mtp",
    "qwen3_next_mtp",
    "qwen4_exp_mtp",
    "qwen3_5_mtp",
    "longcat_flash_mtp",
    "bailing_hybrid_v3_mtp",
    "minimax_m3_mtp",
    "bailing_hybrid_mtp",
    "mtp",
    "kimi_k3_mtp",
    "pangu_ultra_moe_mtp",
    "step3p5_mtp",
    "hy_v3_mtp",
    "hy_v4_mtp",
    "gemma4_mtp",
    "inkling_mtp",
    "glm5_next_mtp",
]
METHODS = [
    *[
        "ngram",
        "medusa",
        "mlp_speculator",
        "draft_model",
        "suffix",
        "custom_class",
        "eagle",
        "eagle3",
    ],
    "extract_hidden_states",
    *MTP_SPELLINGS,
    "dflash",
    "ngram_gpu",
    "dspark",
]
WITHOUT_DRAFTER = frozenset({"ngram", "ngram_gpu", "suffix", "extract_hidden_states"})
IN_CHECKPOINT = frozenset({"mtp", "dspark"})
KEYS = frozenset(
    [
        "method",
        "model",
        "num_speculative_tokens",
        "draft_tensor_parallel_size",
        "tensor_parallel_size",
        "enforce_eager",
        "quantization",
        "moe_backend",
        "attention_backend",
        "kv_cache_dtype",
        "max_model_len",
        "revision",
        "code_revision",
        "index_share_for_mtp_iteration",
        "disable_padded_drafter_batch",
        "disable_eagle_block_drop",
        "use_local_argmax_reduction",
        "use_heterogeneous_vocab",
        "prompt_lookup_max",
        "prompt_lookup_min",
        "parallel_drafting",
        "num_speculative_tokens_per_batch_size",
        "suffix_decoding_max_tree_depth",
        "suffix_decoding_max_cached_requests",
        "suffix_decoding_max_spec_factor",
        "suffix_decoding_min_token_prob",
        "draft_load_config",
        "rejection_sample_method",
        "synthetic_acceptance_rates",
        "synthetic_acceptance_length",
        "draft_sample_method",
        "enable_adaptive_verification",
        "dspark_draft_topk",
    ]
)
_PROBLEM_URL = "https://errors.pydantic.dev/2.14/v"
_MISSING_COUNT = (
    "num_speculative_tokens must be provided with speculative model unless the draft "
    "model config contains an n_predict parameter."
)


class ConfigRefusedError(Exception):
    """The engine refuses its configuration: the last lines of the traceback; exit code 1."""


@dataclass(frozen=True, slots=True)
class Speculation:
    """The resolved speculative configuration; ``spelled`` is the method as it was written."""

    method: str
    spelled: str
    drafter: str | None
    count: int

    def __str__(self) -> str:
        drafter = None if self.method in WITHOUT_DRAFTER else self.drafter
        return (
            f"SpeculativeConfig(method={self.method!r}, model={drafter!r}, "
            f"num_spec_tokens={self.count})"
        )


def resolve(given: object, target: str, tensor_parallel_size: int) -> Speculation:
    """Check a speculative configuration as the real engine does and fill in its defaults.

    Raises:
        ConfigRefusedError: as vLLM 0.32.0 refuses it (recorded on the CPU build).
    """
    if not isinstance(given, dict):
        raise ConfigRefusedError(
            "TypeError: vllm.config.speculative.SpeculativeConfig() argument after ** "
            f"must be a mapping, not {type(given).__name__}"
        )
    config = {str(key).replace("-", "_"): value for key, value in given.items()}
    _refuse_fields(config)
    if config.get("tensor_parallel_size") is not None:
        raise _value_error(
            "'tensor_parallel_size' is not a valid argument in the speculative_config. "
            "Please pass 'draft_tensor_parallel_size' instead."
        )
    speculation = _resolve_drafter(config, target)
    _refuse_lookup(config)
    _refuse_draft_parallel(config, tensor_parallel_size)
    return speculation


def refuse_missing_drafter(speculation: Speculation) -> None:
    """Refuse a drafter given as a path that does not exist.

    Raises:
        ConfigRefusedError: as vLLM 0.32.0 names the missing directory.
    """
    drafter = speculation.drafter
    if drafter and drafter.startswith("/") and not pathlib.Path(drafter).is_dir():
        raise _value_error(
            f"Invalid repository ID or local directory specified: '{drafter}'.\n"
            "Please verify the following requirements:\n"
            "1. Provide a valid Hugging Face repository ID.\n"
            "2. Specify a local directory that contains a recognized configuration file.\n"
            "   - For Hugging Face models: ensure the presence of a 'config.json'.\n"
            "   - For Mistral models: ensure the presence of a 'params.json'.\n"
        )


def _refuse_fields(config: dict[str, object]) -> None:
    problems = [
        _field_problem(key, "Unexpected keyword argument", _UNEXPECTED, value)
        for key, value in config.items()
        if key not in KEYS
    ]
    method = config.get("method")
    if method is not None and method not in METHODS:
        names = ", ".join(f"'{name}'" for name in METHODS[:-1])
        text = f"Input should be {names} or '{METHODS[-1]}'"
        problems.insert(0, _field_problem("method", text, "literal_error", method))
    count = config.get("num_speculative_tokens")
    if count is not None:
        problems += _count_problems(count)
    if problems:
        noun = "error" if len(problems) == 1 else "errors"
        raise ConfigRefusedError(
            f"pydantic_core._pydantic_core.ValidationError: {len(problems)} validation "
            f"{noun} for SpeculativeConfig\n" + "\n".join(problems)
        )


_UNEXPECTED = "unexpected_keyword_argument"


def _count_problems(count: object) -> list[str]:
    name = "num_speculative_tokens"
    try:
        number = int(str(count))
    except ValueError:
        text = (
            "Input should be a valid integer, unable to parse string as an integer"
            if isinstance(count, str)
            else "Input should be a valid integer"
        )
        kind = "int_parsing" if isinstance(count, str) else "int_type"
        return [_field_problem(name, text, kind, count)]
    if number < 1:
        return [
            _field_problem(
                name, "Input should be greater than 0", "greater_than", count
            )
        ]
    return []


def _field_problem(field: str, text: str, kind: str, value: object) -> str:
    return (
        f"{field}\n  {text} [type={kind}, input_value={value!r}, "
        f"input_type={type(value).__name__}]\n"
        f"    For further information visit {_PROBLEM_URL}/{kind}"
    )


def _value_error(text: str) -> ConfigRefusedError:
    return ConfigRefusedError(
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for "
        f"SpeculativeConfig\n  Value error, {text} [type=value_error, "
        "input_value=ArgsKwargs((), {'method':...very_timeout_sec=120))}), "
        f"input_type=ArgsKwargs]\n    For further information visit {_PROBLEM_URL}/value_error"
    )


def _resolve_drafter(config: dict[str, object], target: str) -> Speculation:
    spelled = str(config.get("method") or "")
    method = "mtp" if spelled in MTP_SPELLINGS else spelled
    model = config.get("model")
    drafter = str(model) if model else None
    count = config.get("num_speculative_tokens")
    if method in IN_CHECKPOINT:
        drafter, count = drafter or target, count or 1
    elif method not in WITHOUT_DRAFTER and drafter is None:
        raise _value_error(
            "num_speculative_tokens was provided but without speculative model."
        )
    elif not method:
        method = "eagle3" if "eagle3" in str(drafter).lower() else "draft_model"
    if count is None:
        raise _value_error(
            _MISSING_COUNT
            if method in WITHOUT_DRAFTER
            else "A speculative model was provided, but `num_speculative_tokens` was not "
            "provided."
        )
    return Speculation(method, spelled or method, drafter, int(str(count)))


def _refuse_lookup(config: dict[str, object]) -> None:
    shortest, longest = config.get("prompt_lookup_min"), config.get("prompt_lookup_max")
    if isinstance(shortest, int) and isinstance(longest, int) and shortest > longest:
        raise _value_error(
            f"prompt_lookup_min={shortest} must be <= prompt_lookup_max={longest}"
        )


def _refuse_draft_parallel(
    config: dict[str, object], tensor_parallel_size: int
) -> None:
    size = config.get("draft_tensor_parallel_size")
    if size is not None and size not in (1, tensor_parallel_size):
        raise _value_error(
            f"speculative_draft_tensor_parallel_size={size} cannot be other value than 1 "
            "or target model tensor_parallel_size"
        )
