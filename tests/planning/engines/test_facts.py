"""The shipped profiles against facts that were collected apart from them, release by release."""

import pytest

from deployments.planning.engines.accepted import UnknownKeys
from deployments.planning.engines.definition import EngineProfile
from deployments.planning.engines.profile import find_profile, profiles_of
from deployments.planning.methods import ASCEND_MAX_TOKENS_PER_STEP, Method
from deployments.planning.versions import parse_version

RELEASES = (
    "0.8.5 0.9.0 0.9.1 0.9.2 0.10.0 0.10.1 0.10.1.1 0.10.2 0.11.0 0.11.1 0.11.2 0.12.0 0.13.0 "
    "0.14.0 0.14.1 0.16.0 0.17.0 0.17.1 0.18.0 0.18.1 0.19.0 0.19.1 0.20.0 0.20.2 0.21.0 0.22.1 "
    "0.23.0 0.24.0 0.25.1 0.26.0 0.27.1 0.28.0 0.29.0 0.30.0 0.31.0 0.32.0 0.33.0"
)
SAMPLED = RELEASES.split()
"""The releases that the facts were collected from; "since" is the first of these that has it."""
NOW = "0.33.0"
METHODS = [
    ("ngram", "0.8.5", NOW),
    ("ngram_gpu", "0.18.0", NOW),
    ("eagle", "0.8.5", NOW),
    ("eagle3", "0.9.1", NOW),
    ("medusa", "0.8.5", "0.32.0"),
    ("mlp_speculator", "0.8.5", "0.9.2"),
    ("suffix", "0.11.1", NOW),
    ("dflash", "0.20.0", NOW),
    ("dspark", "0.25.1", NOW),
    ("mtp", "0.11.0", NOW),
    ("deepseek_mtp", "0.9.0", NOW),
    ("ernie_mtp", "0.10.2", NOW),
    ("qwen3_next_mtp", "0.10.2", NOW),
    ("mimo_mtp", "0.11.0", NOW),
    ("longcat_flash_mtp", "0.11.0", NOW),
    ("glm4_moe_mtp", "0.11.1", NOW),
    ("pangu_ultra_moe_mtp", "0.11.1", NOW),
    ("exaone_moe_mtp", "0.14.0", NOW),
    ("step3p5_mtp", "0.16.0", NOW),
    ("qwen3_5_mtp", "0.17.0", NOW),
    ("hy_v3_mtp", "0.20.0", NOW),
    ("gemma4_mtp", "0.21.0", NOW),
    ("minimax_m3_mtp", "0.24.0", NOW),
    ("kimi_k3_mtp", "0.27.1", NOW),
    ("qwen4_exp_mtp", "0.29.0", NOW),
    ("glm5_next_mtp", "0.30.0", NOW),
    ("step5_mtp", "0.33.0", NOW),
    ("extract_hidden_states", "0.17.0", NOW),
    ("custom_class", "0.22.1", NOW),
]
KEYS = [
    ("method", "0.8.5", NOW),
    ("draft_tensor_parallel_size", "0.8.5", NOW),
    ("enforce_eager", "0.11.0", NOW),
    ("moe_backend", "0.19.0", NOW),
    ("attention_backend", "0.21.0", NOW),
    ("kv_cache_dtype", "0.26.0", NOW),
    ("index_share_for_mtp_iteration", "0.29.0", NOW),
    ("disable_padded_drafter_batch", "0.11.0", NOW),
    ("disable_eagle_block_drop", "0.30.0", NOW),
    ("use_local_argmax_reduction", "0.17.0", NOW),
    ("use_heterogeneous_vocab", "0.25.1", NOW),
    ("parallel_drafting", "0.16.0", NOW),
    ("num_speculative_tokens_per_batch_size", "0.24.0", NOW),
    ("suffix_decoding_max_tree_depth", "0.11.1", NOW),
    ("draft_load_config", "0.17.0", NOW),
    ("rejection_sample_method", "0.18.0", NOW),
    ("synthetic_acceptance_rate", "0.19.0", "0.19.1"),
    ("synthetic_acceptance_rates", "0.20.0", NOW),
    ("synthetic_acceptance_length", "0.20.0", NOW),
    ("draft_sample_method", "0.21.0", NOW),
    ("enable_adaptive_verification", "0.28.0", NOW),
    ("dspark_draft_topk", "0.28.0", NOW),
    ("acceptance_method", "0.8.5", "0.9.2"),
    ("posterior_alpha", "0.8.5", "0.9.2"),
    ("disable_mqa_scorer", "0.8.5", "0.9.2"),
    ("disable_logprobs", "0.8.5", "0.11.0"),
    ("enable_chunked_prefill", "0.8.5", "0.11.0"),
    ("disable_log_stats", "0.8.5", "0.11.0"),
    ("disable_by_batch_size", "0.8.5", "0.16.0"),
    ("speculative_token_tree", "0.9.0", "0.20.2"),
    ("fly_entropy_threshold", "0.33.0", NOW),
]
FLAGS = [
    ("--speculative-config", "0.8.5", NOW),
    ("-sc", "0.19.0", NOW),
    ("--spec-method", "0.22.1", NOW),
    ("--spec-tokens", "0.22.1", NOW),
    ("--per-request-spec-decode-metrics", "0.29.0", NOW),
    ("--aggregate-engine-logging", "0.11.1", NOW),
]
METRICS = [
    ("vllm:spec_decode_num_drafts_total", "0.8.5", NOW),
    ("vllm:spec_decode_num_draft_tokens_total", "0.8.5", NOW),
    ("vllm:spec_decode_num_accepted_tokens_total", "0.8.5", NOW),
    ("vllm:spec_decode_num_accepted_tokens_per_pos_total", "0.8.5", NOW),
    ("vllm:spec_decode_draft_acceptance_rate", "0.8.5", "0.9.2"),
    ("vllm:spec_decode_efficiency", "0.8.5", "0.9.2"),
    ("vllm:spec_decode_num_emitted_tokens_total", "0.8.5", "0.9.2"),
    ("vllm:time_to_first_token_seconds", "0.8.5", NOW),
    ("vllm:time_per_output_token_seconds", "0.8.5", "0.11.2"),
    ("vllm:inter_token_latency_seconds", "0.10.2", NOW),
    ("vllm:request_time_per_output_token_seconds", "0.11.0", NOW),
    ("vllm:gpu_cache_usage_perc", "0.8.5", "0.10.2"),
    ("vllm:kv_cache_usage_perc", "0.9.2", NOW),
    ("vllm:gpu_prefix_cache_queries_total", "0.8.5", "0.10.2"),
    ("vllm:prefix_cache_queries_total", "0.9.2", NOW),
    ("vllm:external_prefix_cache_queries_total", "0.11.1", NOW),
    ("vllm:num_requests_waiting_by_reason", "0.20.0", NOW),
    ("vllm:request_success_total", "0.8.5", NOW),
    ("vllm:cache_config_info", "0.8.5", NOW),
    ("vllm:diffusion_num_denoising_steps_total", "0.24.0", NOW),
]


@pytest.fixture(scope="module")
def sampled() -> tuple[EngineProfile, ...]:
    return tuple(find_profile(f"vllm=={version}") for version in SAMPLED)


def _span(known: list[EngineProfile]) -> tuple[str, str]:
    """First and last of the releases, which must follow one another."""
    start = SAMPLED.index(known[0].version)
    assert [one.version for one in known] == SAMPLED[start : start + len(known)]
    return known[0].version, known[-1].version


@pytest.mark.parametrize(("name", "since", "until"), METHODS)
def test_method_runs_since_and_until(
    sampled: tuple[EngineProfile, ...], name: str, since: str, until: str
) -> None:
    running = [one for one in sampled if (found := one.spelling(name)) and found.runs]
    assert _span(running) == (since, until)


def test_draft_model_is_dead_between_its_two_lives(
    sampled: tuple[EngineProfile, ...],
) -> None:
    dead = [one for one in sampled if Method.DRAFT_MODEL not in one.methods]
    assert _span(dead) == ("0.10.0", "0.14.1")
    assert all(one.spelling("draft_model") for one in dead)


def test_old_mtp_names_are_deprecated_once_there_is_mtp(
    sampled: tuple[EngineProfile, ...],
) -> None:
    for profile in sampled:
        alias = profile.spelling("deepseek_mtp")
        renamed = profile.vllm.release >= (0, 11, 0)
        assert alias is None or alias.deprecated is renamed


@pytest.mark.parametrize(("name", "since", "until"), KEYS)
def test_key_is_known_since_and_until(
    sampled: tuple[EngineProfile, ...], name: str, since: str, until: str
) -> None:
    assert _span([one for one in sampled if one.knows_key(name)]) == (since, until)


@pytest.mark.parametrize("name", ["tensor_parallel_size", "target_model_config"])
def test_trap_is_no_key_of_any_release(
    sampled: tuple[EngineProfile, ...], name: str
) -> None:
    assert not any(one.knows_key(name) for one in sampled)


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("suffix_decoding_max_tree_depth", "24"),
        ("suffix_decoding_max_cached_requests", "10000"),
        ("suffix_decoding_max_spec_factor", "1.0"),
        ("suffix_decoding_min_token_prob", "0.1"),
        ("rejection_sample_method", '"standard"'),
        ("draft_sample_method", '"greedy"'),
        ("parallel_drafting", "false"),
        ("num_speculative_tokens", "null"),
    ],
)
def test_key_has_its_default(name: str, default: str) -> None:
    key = find_profile("vllm==0.32.0").key(name)
    assert key is not None
    assert key.default == default


@pytest.mark.parametrize(
    ("version", "choices"),
    [
        ("0.18.0", ("probabilistic", "strict")),
        ("0.19.0", ("probabilistic", "strict", "synthetic")),
        ("0.21.0", ("standard", "synthetic")),
        ("0.25.1", ("block", "standard", "synthetic")),
        ("0.33.0", ("block", "fly", "standard", "synthetic")),
    ],
)
def test_rejection_sample_method_changes_its_words(
    version: str, choices: tuple[str, ...]
) -> None:
    key = find_profile(f"vllm=={version}").key("rejection_sample_method")
    assert key is not None
    assert key.choices == choices


def test_unknown_keys_by_era(sampled: tuple[EngineProfile, ...]) -> None:
    ignoring = [one for one in sampled if one.unknown_keys is UnknownKeys.IGNORED]
    assert _span(ignoring) == ("0.9.1", "0.14.1")


def test_dashes_in_keys_are_taken_from_one_release_on(
    sampled: tuple[EngineProfile, ...],
) -> None:
    assert _span([one for one in sampled if one.dashed_keys]) == ("0.26.0", NOW)


def test_eager_drafter_has_no_effect_once_the_second_runner_is_default(
    sampled: tuple[EngineProfile, ...],
) -> None:
    effective = [one for one in sampled if one.draft_eager_effective]
    assert _span(effective) == ("0.11.0", "0.28.0")


@pytest.mark.parametrize(("name", "since", "until"), FLAGS)
def test_flag_is_known_since_and_until(
    sampled: tuple[EngineProfile, ...], name: str, since: str, until: str
) -> None:
    assert _span([one for one in sampled if one.knows(name)]) == (since, until)


@pytest.mark.parametrize("name", ["--speculative-model", "--num-speculative-tokens"])
def test_flags_of_the_old_command_line_are_gone(
    sampled: tuple[EngineProfile, ...], name: str
) -> None:
    assert not any(one.knows(name) for one in sampled)


@pytest.mark.parametrize("name", ["--kv-cache-dtype", "--chat-template-content-format"])
def test_choices_of_a_flag_are_known_in_every_release(name: str) -> None:
    """Whether its parser holds them, a package of re-exports, or a validator of the configuration."""
    flags = [one.flag(name) for one in profiles_of("vllm")]
    assert all(flag and flag.accepts("auto") for flag in flags)
    assert not any(flag and flag.accepts("no-such-value") for flag in flags)


@pytest.mark.parametrize(("name", "since", "until"), METRICS)
def test_metric_is_shown_since_and_until(
    sampled: tuple[EngineProfile, ...], name: str, since: str, until: str
) -> None:
    shown = [
        one
        for one in sampled
        if any(metric.name == name and not metric.hidden for metric in one.metrics)
    ]
    assert _span(shown) == (since, until)


def test_invented_metric_is_in_no_release(sampled: tuple[EngineProfile, ...]) -> None:
    names = {metric.name for one in sampled for metric in one.metrics}
    assert "vllm:request_rate" not in names


def test_image_starts_vllm_serve_from_one_release_on(
    sampled: tuple[EngineProfile, ...],
) -> None:
    serving = [one for one in sampled if one.entrypoint == ("vllm", "serve")]
    assert _span(serving) == ("0.11.1", NOW)
    module = ("python3", "-m", "vllm.entrypoints.openai.api_server")
    assert all(one.entrypoint == module for one in sampled if one not in serving)


@pytest.mark.parametrize(
    ("version", "vllm"),
    [
        ("0.23.0", "0.23.0"),
        ("0.23.0rc1", "0.23.0"),
        ("0.22.1rc1", "0.22.1"),
        ("0.21.0rc1", "0.21.0"),
        ("0.20.2rc1", "0.20.2"),
        ("0.19.1rc1", "0.19.1"),
        ("0.18.0", "0.18.0"),
        ("0.17.0rc1", "0.17.0"),
        ("0.13.0", "0.13.0"),
        ("0.11.0", "0.11.0"),
    ],
)
def test_plugin_stands_on_its_vllm(version: str, vllm: str) -> None:
    assert find_profile(f"vllm-ascend=={version}").vllm_version == vllm


@pytest.mark.parametrize(
    ("method", "since"),
    [
        (Method.MTP, "0.9.0rc1"),
        (Method.SUFFIX, "0.12.0rc1"),
        (Method.MEDUSA, "0.14.0rc1"),
        (Method.DFLASH, "0.20.2rc1"),
        (Method.DSPARK, "0.25.1rc1"),
    ],
)
def test_plugin_runs_a_method_since(method: Method, since: str) -> None:
    newer = [
        one
        for one in profiles_of("vllm-ascend")
        if parse_version(one.version) > parse_version("0.8.5")
    ]
    first = next(one for one in newer if method in one.methods)
    assert first.version == since


def test_plugin_image_has_no_entrypoint_and_takes_its_own_quantization() -> None:
    for profile in profiles_of("vllm-ascend"):
        quantization = profile.flag("--quantization")
        assert profile.entrypoint == ()
        assert quantization is not None
        assert quantization.accepts("ascend")


def test_plugin_limits_tokens_of_a_step() -> None:
    limited = [
        one for one in profiles_of("vllm-ascend") if one.max_tokens_per_step is not None
    ]
    assert limited[0].version == "0.11.0rc0"
    assert {one.max_tokens_per_step for one in limited} == {ASCEND_MAX_TOKENS_PER_STEP}
    assert find_profile("vllm-ascend==0.30.0rc2") in limited
