"""Every model of the catalog is answered on every platform that it has weights for."""

from collections.abc import Iterator

import pytest

from deployments.planning.catalog import TargetModel
from deployments.planning.decision import OFF
from deployments.planning.methods import Method
from deployments.planning.plan import Role
from deployments.planning.recommendation import recommend
from tests.planning.builders import all_shipped


def _cases() -> Iterator[tuple[TargetModel, str]]:
    for model in all_shipped():
        platforms = {name for one in model.checkpoints for name in one.platforms}
        for platform in sorted(platforms):
            yield model, platform


def test_every_model_is_answered_wherever_it_has_weights() -> None:
    answered = [(model.key, recommend(model, platform)) for model, platform in _cases()]
    assert len(answered) > 250
    known = {OFF, *(method.value for method in Method)}
    assert {one.decision.method for _key, one in answered} <= known
    assert [key for key, one in answered if not one.decision.path] == []


def test_a_documented_count_is_the_one_that_is_recommended() -> None:
    wrong = []
    checked = 0
    for model, platform in _cases():
        answer = recommend(model, platform)
        if answer.decision.method == OFF:
            continue
        counts = {
            (role, one.num_speculative_tokens)
            for one in model.counts
            if one.followed
            and one.method.value == answer.decision.method
            and platform in one.platforms
            for role in (one.roles or tuple(Role))
        }
        for role, value in answer.per_role:
            documented = {number for of, number in counts if of is role}
            if documented:
                checked += 1
                if value not in documented:
                    wrong.append((model.key, platform, role.value, value, documented))
    assert checked > 150
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "platform", "method", "counts"),
    [
        ("zai-org/GLM-5.2", "ascend-a3", "mtp", (3, 1, 3)),
        ("zai-org/GLM-5.2", "ascend-a2", "mtp", (5, 1, 3)),
        ("deepseek-ai/DeepSeek-V4-Flash", "ascend-a3", "mtp", (1, 1, 1)),
        ("moonshotai/Kimi-K2.6", "ascend-a3", "eagle3", (3, 1, 3)),
        ("Qwen/Qwen3.5-27B", "ascend-a3", "mtp", (3, 3, 3)),
        ("Qwen/Qwen3.5-27B", "ascend-310p", "mtp", (1, 1, 1)),
        ("tencent/Hy3-preview", "ascend-a3", "mtp", (1, 1, 1)),
        ("MiniMaxAI/MiniMax-M2.7", "ascend-a3", "eagle3", (3, 1, 3)),
        ("moonshotai/Kimi-K3", "nvidia", "dspark", (8, 8, 8)),
    ],
)
def test_documented_answers(
    name: str, platform: str, method: str, counts: tuple[int, int, int]
) -> None:
    model = next(one for one in all_shipped() if one.key == name)
    answer = recommend(model, platform)
    assert answer.decision.method == method
    assert tuple(value for _role, value in answer.per_role) == counts
