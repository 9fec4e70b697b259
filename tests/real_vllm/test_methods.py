"""Each way of drafting goes live on a real vLLM, and the history equals the engine's own counters."""

import pytest

from tests.real_vllm.stage import Stage, load, settled


@pytest.mark.parametrize(
    ("method", "model", "tokens"),
    [
        ("ngram", "target", 3),
        ("draft_model", "target", 3),
        ("eagle3", "target", 3),
        ("mtp", "mtp", 1),
    ],
)
def test_a_method_goes_live_drafts_and_stops(
    stage: Stage, method: str, model: str, tokens: int
) -> None:
    name = f"real-{method.replace('_', '-')}"
    deployed = stage.deploy(name, model, method, tokens=str(tokens))
    said = stage.said(deployed)
    assert f"its log says {method} · num_speculative_tokens {tokens}" in said
    assert "(0.32.0) takes the command" in said
    load(deployed, model)
    totals = settled(stage, deployed)
    assert totals["drafted"] >= totals["num_drafts"] > 0
    assert 0 < totals["accepted"] <= totals["drafted"]
    assert "died" not in stage.stop(deployed)
