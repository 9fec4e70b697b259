"""The leaves of the field guide's decision tree: model in, method and count out, differences told."""

import json
from typing import Any

import pytest

from deployments.planning.plan import Finding, Plan, Role, Severity
from deployments.planning.revision import SpeculationChoice
from tests.planning.builders import (
    a3,
    apart,
    combined,
    decode,
    flags,
    gpu,
    plan,
    prefill,
)

V3, FLASH = "deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V4-Flash"
PRO = "deepseek-ai/DeepSeek-V4-Pro"
KIMI = "moonshotai/Kimi-K2.6"
MISTRAL = "mistralai/Mistral-Small-4-119B-2603"


def _config(made: Plan, index: int = 0) -> dict[str, Any]:
    read = json.loads(flags(made, index)["--speculative-config"] or "{}")
    assert isinstance(read, dict)
    return read


def _finding(made: Plan, code: str) -> Finding:
    return next(one for one in made.findings if one.code == code)


@pytest.mark.parametrize(
    "model", ["zai-org/GLM-5", "zai-org/GLM-5.1", "zai-org/GLM-5.2"]
)
def test_glm_5_drafts_three_with_mtp_and_an_eager_drafter(model: str) -> None:
    made = plan(combined(model, "a"), a3("a"))
    config = _config(made)
    assert made.decision.path[0].answer == "Yes"
    assert (config["method"], config["num_speculative_tokens"]) == ("mtp", 3)
    assert config["enforce_eager"] is True
    assert "--enforce-eager" not in flags(made)


@pytest.mark.parametrize(
    ("model", "platform", "count"),
    [(V3, "nvidia", 3), (FLASH, "ascend-a3", 1), (PRO, "nvidia", 2)],
)
def test_deepseek_drafts_the_documented_count_beside_the_guides_five(
    model: str, platform: str, count: int
) -> None:
    host = gpu("a") if platform == "nvidia" else a3("a")
    made = plan(combined(model, "a"), host)
    assert (made.decision.method, made.decision.num_speculative_tokens) == (
        "mtp",
        count,
    )
    claim = _finding(made, "COUNT_CLAIM_NOT_FOLLOWED")
    assert claim.severity is Severity.INFO
    assert "names 5 tokens" in claim.message
    assert f"this plan drafts {count}" in claim.message


def test_five_for_deepseek_can_be_chosen_with_a_warning() -> None:
    choice = SpeculationChoice(num_speculative_tokens=5)
    made = plan(combined(FLASH, "a", speculation=choice), a3("a"))
    assert made.can_submit
    assert _config(made)["num_speculative_tokens"] == 5
    assert _finding(made, "MTP_LAYER_REUSED").severity is Severity.WARNING


@pytest.mark.parametrize("model", ["moonshotai/Kimi-K2.5", KIMI])
def test_kimi_drafts_three_with_its_head(model: str) -> None:
    made = plan(combined(model, "a"), a3("a"))
    config = _config(made)
    assert (config["method"], config["num_speculative_tokens"]) == ("eagle3", 3)
    assert config["model"].startswith("/models/kimi-k2.")


def test_kimi_apart_drafts_one_and_three_and_takes_the_guides_three_and_three() -> None:
    hosts = [a3("a"), a3("b", "10.0.0.2")]

    def made(first: int | None) -> Plan:
        side = prefill("a", num_speculative_tokens=first)
        return plan(apart(KIMI, side, decode("b")), *hosts)

    counts = [_config(made(None), index)["num_speculative_tokens"] for index in (0, 1)]
    assert counts == [1, 3]
    guide = made(3)
    assert guide.can_submit
    assert _finding(guide, "PREFILL_DRAFTS_IN_VAIN").severity is Severity.INFO


def test_kimi_mounts_exactly_the_guides_directory_on_both_roles_read_only() -> None:
    root = "/data/models/Kimi-K2.6"
    hosts = [a3("a", model_root=root), a3("b", "10.0.0.2", model_root=root)]
    made = plan(apart(KIMI, prefill("a"), decode("b")), *hosts)
    for replica in made.replicas:
        if replica.role is Role.ROUTER:
            continue
        head = next(
            one
            for one in replica.container.mounts
            if one.target == "/models/kimi-k2.6-eagle3"
        )
        assert head.source == "/data/models/Kimi-K2.6/kimi-k2.6-eagle3"
        assert head.read_only


@pytest.mark.parametrize("count", [None, 3, 4, 5])
def test_mistral_drafts_three_with_its_head_and_up_to_five_by_choice(
    count: int | None,
) -> None:
    choice = SpeculationChoice(num_speculative_tokens=count)
    made = plan(combined(MISTRAL, "gpu-1", speculation=choice), gpu())
    config = _config(made)
    assert made.can_submit
    assert (config["method"], config["num_speculative_tokens"]) == ("eagle", count or 3)
    assert "eagle" in config["model"].lower()


def test_model_without_either_takes_a_small_one_of_its_family() -> None:
    made = plan(combined("Qwen/Qwen3-32B", "gpu-1"), gpu())
    config = _config(made)
    assert config["method"] == "draft_model"
    assert config["model"] == "/models/Qwen3-0.6B"
    answers = [step.answer for step in made.decision.path]
    assert answers == ["No", "No", "No", "Yes"]
