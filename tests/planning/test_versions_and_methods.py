"""Versions compare as releases do; methods are spelt as each engine wants them."""

import pytest

from deployments.planning.engines.lives import Life, method_lives, why_unsupported
from deployments.planning.engines.profile import find_profile
from deployments.planning.errors import PlanningError
from deployments.planning.methods import FACTS, Method, normalise_method
from deployments.planning.revision import SpeculationChoice
from deployments.planning.versions import parse_version
from tests.planning.builders import combined, flags, gpu, plan


def test_versions_sort_as_they_were_released() -> None:
    words = ["0.9.2", "0.11", "v0.23.0rc1", "0.23.0", "0.23.0.post1", "0.32.0"]
    versions = [parse_version(word) for word in words]
    assert versions == sorted(versions)
    assert [str(version) for version in versions] == [
        "0.9.2",
        "0.11.0",
        "0.23.0rc1",
        "0.23.0",
        "0.23.0.post1",
        "0.32.0",
    ]


@pytest.mark.parametrize("word", ["", "latest", "1", "0.32.x", "0.32.0 "[:-1] + "!"])
def test_other_words_are_no_versions(word: str) -> None:
    with pytest.raises(PlanningError, match="is not an engine version"):
        parse_version(word)


@pytest.mark.parametrize(
    "spelling", ["mtp", "deepseek_mtp", "qwen3_5_mtp", "GLM4_MOE_MTP", "deepseek-mtp"]
)
def test_every_mtp_spelling_is_mtp(spelling: str) -> None:
    assert normalise_method(spelling) is Method.MTP


def test_unknown_method_names_the_known_ones() -> None:
    with pytest.raises(
        PlanningError, match=r"'eagle4' is not a speculative method.*eagle3"
    ):
        normalise_method("eagle4")


@pytest.mark.parametrize("spelling", ["custom_class", "extract_hidden_states"])
def test_tools_that_use_the_same_key_are_recognised_but_never_planned(
    spelling: str,
) -> None:
    with pytest.raises(
        PlanningError, match=f"{spelling} is a method that this panel reads"
    ):
        normalise_method(spelling)


@pytest.mark.parametrize(
    ("version", "model", "method", "expected"),
    [
        ("0.10.2", "deepseek-ai/DeepSeek-V3", "mtp", "deepseek_mtp"),
        ("0.11.0", "deepseek-ai/DeepSeek-V3", "deepseek_mtp", "mtp"),
        ("0.32.0", "zai-org/GLM-5.2", "glm4_moe_mtp", "mtp"),
        ("0.10.2", "meta-llama/Llama-3.1-8B-Instruct", "eagle3", "eagle3"),
    ],
)
def test_plan_spells_the_method_as_the_release_wants_it(
    version: str, model: str, method: str, expected: str
) -> None:
    choice = SpeculationChoice(method=method)
    spec = combined(model, "gpu-1", engine=f"vllm=={version}", speculation=choice)
    made = plan(spec, gpu())
    replica = made.replicas[0]
    assert f'"method":"{expected}"' in (flags(made)["--speculative-config"] or "")
    assert replica.speculation is not None
    assert replica.speculation.method == expected


@pytest.mark.parametrize(
    ("engine", "method", "lives"),
    [
        ("vllm", Method.MTP, [Life(first="0.9.0", last=None)]),
        ("vllm", Method.DSPARK, [Life(first="0.25.0", last=None)]),
        ("vllm", Method.MEDUSA, [Life(first="0.8.5", last="0.32.0")]),
        ("vllm", Method.MLP_SPECULATOR, [Life(first="0.8.5", last="0.9.2")]),
        (
            "vllm",
            Method.DRAFT_MODEL,
            [Life(first="0.8.5", last="0.9.2"), Life(first="0.15.0", last=None)],
        ),
        ("vllm-ascend", Method.NGRAM_GPU, [Life(first="0.20.2rc1", last=None)]),
        ("vllm-ascend", Method.SUFFIX, [Life(first="0.12.0rc1", last=None)]),
        (
            "vllm-ascend",
            Method.DRAFT_MODEL,
            [
                Life(first="0.8.5rc1", last="0.8.5rc1"),
                Life(first="0.17.0rc1", last=None),
            ],
        ),
    ],
)
def test_profiles_say_when_a_method_lives(
    engine: str, method: Method, lives: list[Life]
) -> None:
    assert list(method_lives(engine, method)) == lives


@pytest.mark.parametrize(
    ("engine", "method", "sentence"),
    [
        (
            "vllm==0.10.2",
            Method.MLP_SPECULATOR,
            "no longer runs MLP speculator; 0.9.2 was the last release that did",
        ),
        (
            "vllm==0.33.0",
            Method.MEDUSA,
            "no longer runs Medusa; 0.32.0 was the last release that did",
        ),
        (
            "vllm==0.13.0",
            Method.DRAFT_MODEL,
            "0.9.2 was the last release that did, and from 0.15.0 on it runs again",
        ),
        (
            "vllm==0.19.1",
            Method.DFLASH,
            "does not run DFlash yet; 0.20.0 is the first release that does",
        ),
        (
            "vllm-ascend==0.23.0",
            Method.DSPARK,
            "does not run DSpark yet; 0.25.1rc1 is the first release that does",
        ),
    ],
)
def test_dead_and_unborn_methods_are_said_plainly(
    engine: str, method: Method, sentence: str
) -> None:
    told = why_unsupported(find_profile(engine), method)
    assert told is not None
    assert sentence in told.english


def test_every_method_has_facts() -> None:
    assert set(FACTS) == set(Method)
