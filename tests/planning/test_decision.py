"""The decision tree: its answer, its path, and why every other method closed."""

from dataclasses import replace
from typing import Any

import pytest

from deployments.planning.decision import decide
from deployments.planning.engines.accepted import Spelling
from deployments.planning.engines.profile import find_profile
from deployments.planning.methods import Method
from deployments.planning.plan import Decision
from deployments.planning.platforms import find_platform
from deployments.planning.recommendation import recommend, recommendation_answer
from deployments.planning.revision import SpeculationChoice
from deployments.planning.verdict import Question
from tests.planning.builders import a3, codes, combined, gpu, plan, shipped

Row = tuple[str, str, str | None, str, int, str | None]
ANSWERS: list[Row] = [
    ("GLM-5.2", "ascend-a3", None, "mtp", 3, None),
    ("GLM-5.2", "nvidia", None, "mtp", 5, None),
    ("GLM-4.7", "ascend-a3", None, "mtp", 3, None),
    ("DeepSeek-V3", "nvidia", None, "mtp", 3, None),
    ("DeepSeek-V4-Flash", "ascend-a3", None, "mtp", 1, None),
    ("DeepSeek-V4-Flash", "nvidia", "fp8-0731", "dspark", 7, "dspark-inside"),
    ("DeepSeek-V4-Pro", "nvidia", None, "mtp", 2, None),
    ("Kimi-K2.6", "ascend-a3", None, "eagle3", 3, "kimi-k2.6-eagle3"),
    ("Kimi-K2.6", "nvidia", None, "eagle3", 3, "kimi-k2.6-eagle3-mla"),
    ("MiniMax-M2.5", "ascend-a2", None, "eagle3", 3, "minimax-m2.5-eagle3"),
    ("MiniMax-M2.5", "nvidia", None, "ngram", 3, None),
    ("Mistral-Small-4-119B-2603", "nvidia", None, "eagle", 3, "mistral-small-4-eagle"),
    ("Qwen3-32B", "nvidia", None, "draft_model", 5, "qwen3-0.6b"),
    ("Qwen3-32B", "ascend-a3", None, "ngram", 3, None),
    ("Llama-3.1-8B-Instruct", "nvidia", None, "eagle3", 3, "llama-3.1-8b-eagle3"),
    ("Llama-3.1-8B-Instruct", "cpu", None, "eagle3", 3, "llama-3.1-8b-eagle3"),
    ("gpt-oss-120b", "nvidia", None, "eagle3", 7, "gpt-oss-120b-eagle3"),
    ("gpt-oss-20b", "nvidia", None, "ngram", 3, None),
]


def _decision(name: str, platform: str, checkpoint: str | None = None) -> Decision:
    return recommend(shipped(name), platform, checkpoint=checkpoint).decision


@pytest.mark.parametrize("row", ANSWERS)
def test_tree_answers(row: Row) -> None:
    name, platform, checkpoint, method, count, drafter = row
    decision = _decision(name, platform, checkpoint)
    assert decision.method == method
    assert decision.num_speculative_tokens == count
    assert decision.drafter == drafter


@pytest.mark.parametrize("row", ANSWERS)
def test_every_method_has_a_verdict_with_a_reason_the_chosen_one_first(
    row: Row,
) -> None:
    name, platform, checkpoint, method, _count, _drafter = row
    verdicts = _decision(name, platform, checkpoint).methods
    assert verdicts[0].method == method
    assert verdicts[0].open
    assert len(verdicts) == 11
    assert all(verdict.because for verdict in verdicts)
    states = [verdict.open for verdict in verdicts]
    assert states == sorted(states, reverse=True)


def test_path_shows_each_question_until_the_answer() -> None:
    steps = [
        (step.question.split()[0], step.answer)
        for step in _decision("GLM-5.2", "ascend-a3").path
    ]
    assert steps == [("Does", "Yes"), ("Does", "Yes")]
    questions = [step.question for step in _decision("Qwen3-32B", "nvidia").path]
    assert questions == [
        "Does the checkpoint hold MTP weights?",
        "Is there a trained EAGLE-3 or EAGLE head for this model?",
        "Is there another trained drafter: DSpark or DFlash?",
        "Is there a small model with the same vocabulary?",
    ]


@pytest.mark.parametrize(
    ("name", "platform", "method", "told"),
    [
        ("Kimi-K2.6", "ascend-a3", "mtp", "no MTP route for Kimi-K2.6"),
        ("Kimi-K2.6", "nvidia", "dflash", "documented on ascend-a2, ascend-a3 only"),
        ("GLM-4.7", "nvidia", "eagle3", "no EAGLE-3 interface in the class of GLM-4.7"),
        ("GLM-5.2", "ascend-a3", "eagle3", "binds no EAGLE-3 head to GLM-5.2"),
        ("GLM-5.2", "ascend-a3", "suffix", "arctic-inference"),
        ("Llama-3.1-8B-Instruct", "cpu", "ngram_gpu", "needs an accelerator"),
        ("GLM-5.2", "ascend-a3", "mlp_speculator", "no longer runs MLP speculator"),
    ],
)
def test_closed_method_says_why(
    name: str, platform: str, method: str, told: str
) -> None:
    verdict = next(
        one for one in _decision(name, platform).methods if one.method == method
    )
    assert not verdict.open
    assert told in verdict.because


def test_head_is_closed_on_releases_before_its_architecture() -> None:
    answer = recommend(shipped("gpt-oss-120b"), "nvidia", engine="vllm==0.10.2")
    verdict = next(one for one in answer.decision.methods if one.method == "eagle3")
    assert not verdict.open
    assert "0.11.0 is the first release that does" in verdict.because


def test_unchecked_weights_are_not_claimed() -> None:
    decision = _decision("GLM-5.2", "nvidia", "nvfp4")
    assert decision.path[0].answer == "Not known"
    assert "Nobody has looked into nvidia/GLM-5.2-NVFP4" in decision.path[0].because
    spec = combined("zai-org/GLM-5.2", "gpu-1", checkpoint="nvfp4")
    assert "MTP_WEIGHTS_UNCHECKED" in codes(plan(spec, gpu()))


def test_person_decides_with_any_spelling() -> None:
    spec = combined(
        "zai-org/GLM-5.2", "a3-01", speculation=SpeculationChoice(method="deepseek_mtp")
    )
    decision = plan(spec, a3("a3-01")).decision
    assert decision.method == "mtp"
    assert decision.path[0].answer == "Yes: MTP"


def test_off_is_an_answer_too() -> None:
    made = plan(
        combined(
            "Qwen/Qwen3-32B", "gpu-1", speculation=SpeculationChoice(method="off")
        ),
        gpu(),
    )
    assert made.decision.method == "off"
    assert made.replicas[0].speculation is None
    assert "--speculative-config" not in made.replicas[0].container.command
    assert "SPECULATION_OFF" in codes(made)


def test_chosen_drafter_is_taken() -> None:
    choice = SpeculationChoice(method="eagle3", drafter="llama-3.1-8b-eagle3-yuhuili")
    made = plan(
        combined("meta-llama/Llama-3.1-8B-Instruct", "gpu-1", speculation=choice), gpu()
    )
    assert made.decision.drafter == "llama-3.1-8b-eagle3-yuhuili"
    targets = [mount.target for mount in made.replicas[0].container.mounts]
    assert "/models/EAGLE3-LLaMA3.1-Instruct-8B" in targets


def test_own_image_opens_suffix() -> None:
    spec = combined(
        "Qwen/Qwen3-32B",
        "gpu-1",
        image="registry.example/vllm-arctic:1",
        engine="vllm==0.32.0",
        speculation=SpeculationChoice(method="suffix"),
    )
    made = plan(spec, gpu())
    assert made.can_submit
    assert "ASYNC_SCHEDULING_OFF" in codes(made)


def test_recommendation_gives_each_role_its_count() -> None:
    answer = recommendation_answer(recommend(shipped("Kimi-K2.6"), "ascend"), 32)
    assert answer["per_role"] == {"prefill": 1, "decode": 3}
    assert answer["drafter"] == "lightseekorg/kimi-k2.6-eagle3"
    assert answer["decode_tokens_per_step"] == 128
    alternatives = answer["alternatives"]
    assert isinstance(alternatives, list)
    assert len(alternatives) == 10


def _asked(**change: Any) -> Decision:
    changed = replace(shipped("GLM-5.2"), **change)
    return recommend(changed, "nvidia").decision


def test_model_that_nobody_knows_to_have_mtp_is_not_claimed_to() -> None:
    decision = _asked(has_mtp=None)
    assert decision.path[0].answer == "Not known"
    assert "Nobody has stated that GLM-5.2 has MTP layers" in decision.path[0].because
    assert decision.method == "dspark"


@pytest.mark.parametrize(
    ("others", "hint"),
    [(True, "; these do: w4a8c8"), (False, "leaves the MTP layers out.")],
)
def test_checkpoint_without_mtp_layers_points_to_one_with(
    hint: str, *, others: bool
) -> None:
    first, *rest = shipped("GLM-5.2").checkpoints
    bare = replace(first, holds_mtp=False, platforms=("nvidia",))
    kept = tuple(replace(one, holds_mtp=others) for one in rest)
    decision = _asked(checkpoints=(bare, *kept), drafters=())
    assert decision.path[0].answer == "No"
    assert hint in decision.path[0].because
    assert decision.method == "ngram"


def test_nothing_open_means_off() -> None:
    asked = Question(
        model=replace(shipped("Qwen3-32B"), drafters=()),
        checkpoint=shipped("Qwen3-32B").checkpoints[0],
        platform=find_platform("nvidia"),
        documented_for="nvidia",
        profile=replace(find_profile("vllm==0.32.0"), spellings=()),
        choice=SpeculationChoice(),
    )
    decision = decide(asked)
    assert (decision.method, decision.num_speculative_tokens) == ("off", None)
    assert not any(verdict.open for verdict in decision.methods)


def test_head_that_the_version_refuses_is_found_but_closed() -> None:
    asked = Question(
        model=shipped("Kimi-K2.6"),
        checkpoint=shipped("Kimi-K2.6").checkpoint("int4"),
        platform=find_platform("nvidia"),
        documented_for="nvidia",
        profile=replace(
            find_profile("vllm==0.32.0"),
            spellings=(Spelling(name="ngram", method=Method.NGRAM),),
        ),
        choice=SpeculationChoice(),
    )
    step = decide(asked).path[1]
    assert step.answer == "Yes, but closed"
    assert "does not run EAGLE-3, although the release does" in step.because
