"""What a plan means to do, in one sentence."""

from dataclasses import replace

import pytest

from deployments.models import RequestState
from deployments.planning.plan import Plan, ReplaceStrategy
from deployments.selectors.intents import STATE_SENTENCES, intent, replacement
from tests.plan_values import plan_value, planned_replica

TIMES = "\N{MULTIPLICATION SIGN}"
OFF = plan_value(method=None)
MTP3, MTP5 = plan_value(), plan_value(count=5)
EAGLE = plan_value(method="eagle3")
CANARY = replace(
    planned_replica(rank=1, method="eagle3", count=5, port=8001), canary=True
)
TRIED = replace(EAGLE, replicas=(*EAGLE.replicas, CANARY))
EAGLE5 = plan_value(method="eagle3", count=5)
NEWER = replace(plan_value(number=4), engine_version="0.33.0")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (None, MTP3, f"Start chat with MTP {TIMES}3"),
        (None, OFF, "Start chat without speculative decoding"),
        (OFF, EAGLE, f"Turn on EAGLE-3 {TIMES}3 for chat"),
        (MTP3, OFF, "Turn off speculative decoding for chat"),
        (MTP3, MTP5, f"Change chat from MTP {TIMES}3 to MTP {TIMES}5"),
        (MTP3, NEWER, f"Move chat to vllm 0.33.0, MTP {TIMES}3 as before"),
        (
            EAGLE,
            TRIED,
            f"Try EAGLE-3 {TIMES}5 on one replica of chat, EAGLE-3 {TIMES}3 on the others",
        ),
        (
            TRIED,
            EAGLE5,
            f"Promote the canary of chat: EAGLE-3 {TIMES}5 on every replica",
        ),
        (TRIED, EAGLE, f"End the canary of chat: EAGLE-3 {TIMES}3 on every replica"),
        (MTP3, plan_value(number=4), f"Put chat r4 in place, MTP {TIMES}3 as before"),
    ],
)
def test_sentence_names_the_most_telling_difference(
    before: Plan | None, after: Plan, said: str
) -> None:
    assert intent(before, after) == said


def test_downtime_is_said_beforehand() -> None:
    assert "Nothing runs" in replacement(None, MTP3)
    assert "is down" in replacement(MTP3, MTP5)
    assert "Every replica restarts" in replacement(EAGLE, TRIED)
    spare = replace(MTP5, replace=ReplaceStrategy.CREATE_THEN_REMOVE)
    assert "keeps serving" in replacement(MTP3, spare)


def test_every_state_of_a_request_has_a_sentence() -> None:
    assert STATE_SENTENCES.keys() == set(RequestState)
