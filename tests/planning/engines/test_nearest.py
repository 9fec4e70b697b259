"""The nearest known name, since when names are known, and what changes between releases."""

import pytest

from deployments.planning.engines.changes import change_lines, profile_changes
from deployments.planning.engines.nearest import (
    KnownSpan,
    flag_span,
    key_span,
    method_span,
    nearest_flag,
    nearest_key,
    nearest_method,
    nearest_metric,
)
from deployments.planning.engines.profile import find_profile

NEWEST = find_profile("vllm==0.33.0")


@pytest.mark.parametrize(
    ("flag", "meant"),
    [
        ("--tensor_parallel_size", "--tensor-parallel-size"),
        ("--tensor-paralel-size", "--tensor-parallel-size"),
        ("--speculative-config.method", "--speculative-config"),
        ("--max-num-seq=4", "--max-num-seqs"),
        ("--num-speculative-tokens", "--speculative-config"),
        ("--speculative-model", "--speculative-config"),
        ("--disable-log-requests", "--no-enable-log-requests"),
        ("-tp", "-tp"),
        ("--colour", None),
    ],
)
def test_unknown_flag_has_a_nearest_known_name(flag: str, meant: str | None) -> None:
    assert nearest_flag(NEWEST, flag) == meant


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("num_speculative_token", "num_speculative_tokens"),
        ("Num-Speculative-Tokens", "num_speculative_tokens"),
        ("disable_by_batch_size", "num_speculative_tokens_per_batch_size"),
        ("ngram_prompt_lookup_max", "prompt_lookup_max"),
        ("tensor_parallel_size", "draft_tensor_parallel_size"),
        ("colour", None),
    ],
)
def test_unknown_key_has_a_nearest_known_name(key: str, meant: str | None) -> None:
    assert nearest_key(NEWEST, key) == meant


@pytest.mark.parametrize(
    ("reference", "spelling", "meant"),
    [
        ("vllm==0.33.0", "EAGLE3", "eagle3"),
        ("vllm==0.33.0", "[ngram]", "ngram"),
        ("vllm==0.33.0", "draft-model", "draft_model"),
        ("vllm==0.33.0", "glm5_mtp", "mtp"),
        ("vllm==0.10.2", "mtp", "deepseek_mtp"),
        ("vllm==0.33.0", "colour", None),
    ],
)
def test_unknown_method_has_a_nearest_one_that_runs(
    reference: str, spelling: str, meant: str | None
) -> None:
    assert nearest_method(find_profile(reference), spelling) == meant


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"),
        ("vllm:num_request_running", "vllm:num_requests_running"),
        ("colour", None),
    ],
)
def test_unknown_metric_has_a_successor(name: str, meant: str | None) -> None:
    assert nearest_metric(NEWEST, name) == meant


def test_names_are_known_from_one_release_to_another() -> None:
    assert flag_span("vllm", "--spec-method") == KnownSpan(
        first="0.22.0", last="0.33.0"
    )
    assert flag_span("vllm", "--num-speculative-tokens") is None
    assert key_span("vllm", "disable_by_batch_size") == KnownSpan(
        first="0.8.5", last="0.16.0"
    )
    assert method_span("vllm", "medusa") == KnownSpan(first="0.8.5", last="0.32.0")


def test_upgrade_shows_what_comes_and_goes() -> None:
    changes = profile_changes(find_profile("vllm==0.11.0"), NEWEST)
    assert "--spec-method" in changes.flags.added
    assert "--rope-scaling" in changes.flags.removed
    assert ("--rope-scaling", "--hf-overrides") in changes.flags.successors
    assert "mtp" not in changes.methods.removed
    assert "medusa" in changes.methods.removed
    assert changes.entrypoint
    assert changes.unknown_keys
    lines = change_lines(changes)
    assert any(line.startswith("keys removed: ") for line in lines)
    assert "entrypoint changed" in lines


def test_profile_does_not_differ_from_itself() -> None:
    changes = profile_changes(NEWEST, NEWEST)
    assert changes.count == 0
    assert change_lines(changes) == []
