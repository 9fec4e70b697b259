"""The shipped catalog reads, names its sources, and bad entries are one clear sentence."""

import copy
import re

import pytest

from deployments.planning.canonical import Json
from deployments.planning.catalog import (
    TargetModel,
    find_target_model,
    parse_target_model,
)
from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method
from deployments.planning.platforms import PLATFORMS
from tests.planning.builders import all_shipped, documents, shipped

WANTED = {
    "zai-org/GLM-5.2",
    "zai-org/GLM-5",
    "zai-org/GLM-5.1",
    "zai-org/GLM-4.7",
    "deepseek-ai/DeepSeek-V3",
    "deepseek-ai/DeepSeek-V3.1",
    "deepseek-ai/DeepSeek-V3.2",
    "deepseek-ai/DeepSeek-R1",
    "deepseek-ai/DeepSeek-V4-Flash",
    "deepseek-ai/DeepSeek-V4-Pro",
    "moonshotai/Kimi-K2.5",
    "moonshotai/Kimi-K2.6",
    "MiniMaxAI/MiniMax-M2.5",
    "mistralai/Mistral-Small-4-119B-2603",
    "Qwen/Qwen3-32B",
    "Qwen/Qwen3-30B-A3B",
    "meta-llama/Llama-3.1-8B-Instruct",
    "openai/gpt-oss-20b",
    "openai/gpt-oss-120b",
}
BY_KEY = [pytest.param(model, id=model.key) for model in all_shipped()]


def _entry() -> dict[str, Json]:
    entry = copy.deepcopy(documents()[0])
    assert isinstance(entry, dict)
    return entry


def test_catalog_holds_the_models_of_the_field_guide() -> None:
    keys = [model.key for model in all_shipped()]
    assert set(keys) >= WANTED
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("model", BY_KEY)
def test_every_stated_fact_names_its_source(model: TargetModel) -> None:
    stated = {
        "parameters": model.parameters,
        "context_length": model.context_length,
        "model_type": model.model_type,
        "has_mtp": model.has_mtp,
        "mtp_layers": model.mtp_layers,
        "eagle3_interface": model.eagle3_interface,
        "attention": model.attention,
    }
    unnamed = [
        name
        for name, value in stated.items()
        if value is not None and not model.sources.get(name)
    ]
    assert unnamed == []
    sources = [part.source for part in model.checkpoints]
    sources += [part.source for part in model.drafters]
    sources += [part.source for part in model.counts]
    sources += [part.source for part in model.serving]
    assert all(sources)


@pytest.mark.parametrize("model", BY_KEY)
def test_every_platform_of_an_entry_exists(model: TargetModel) -> None:
    groups = [one.platforms for one in model.checkpoints]
    groups += [one.platforms for one in model.drafters]
    groups += [one.platforms for one in model.counts]
    groups += [one.platforms for one in model.serving]
    assert {name for group in groups for name in group} <= set(PLATFORMS)


def test_model_that_does_not_exist_is_not_shipped() -> None:
    assert "Qwen/Qwen3-72B" not in {model.key for model in all_shipped()}


def test_methods_of_an_entry_are_normalised() -> None:
    entry = _entry()
    counts: list[Json] = [
        {"method": "deepseek_mtp", "num_speculative_tokens": 3, "source": "somebody"}
    ]
    model = parse_target_model({**entry, "counts": counts})
    assert model.counts[0].method is Method.MTP


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"colour": "blue"}, "colour: Unexpected keyword argument"),
        ({"parameters": "671B"}, "parameters: Input should be a valid integer"),
        ({"context_length": 1.5}, "decimal numbers as text"),
        ({"checkpoints": None}, "checkpoints: Input should be a valid"),
    ],
)
def test_bad_value_is_named(change: dict[str, Json], sentence: str) -> None:
    with pytest.raises(PlanningError, match=sentence):
        parse_target_model({**_entry(), **change})


def test_missing_key_is_named() -> None:
    entry = _entry()
    del entry["name"]
    with pytest.raises(PlanningError, match="name: Field required"):
        parse_target_model(entry)


def test_document_that_is_no_entry_is_refused() -> None:
    with pytest.raises(PlanningError, match="catalog entry None cannot be read"):
        parse_target_model(["nothing"])


def test_repeated_checkpoint_is_refused() -> None:
    entry = _entry()
    checkpoints = entry["checkpoints"]
    assert isinstance(checkpoints, list)
    checkpoints.append(checkpoints[0])
    with pytest.raises(PlanningError, match="appears twice"):
        parse_target_model(entry)


def test_drafter_of_a_missing_checkpoint_is_refused() -> None:
    drafter: Json = {
        "key": "head",
        "method": "eagle3",
        "repository": "a/head",
        "directory": "head",
        "platforms": ["nvidia"],
        "source": "somebody",
        "checkpoints": ["gone"],
    }
    with pytest.raises(PlanningError, match="names the checkpoint gone"):
        parse_target_model({**_entry(), "drafters": [drafter]})


def test_unknown_checkpoint_and_drafter_name_the_known_ones() -> None:
    model = shipped("GLM-5.2")
    with pytest.raises(PlanningError, match="choose one of: w8a8, w4a8c8"):
        model.checkpoint("w2a2")
    with pytest.raises(PlanningError, match=r"it knows: glm-5.2-dspark"):
        model.drafter("other")
    assert model.drafter("RedHatAI/GLM-5.2-speculator.dspark").key == "glm-5.2-dspark"


def test_model_is_found_by_the_last_part_of_its_key() -> None:
    assert find_target_model(documents(), "glm-5.2").key == "zai-org/GLM-5.2"


def test_unknown_model_suggests_near_ones() -> None:
    with pytest.raises(
        PlanningError, match=r"no model 'Qwen/Qwen3-72B'; did you mean Qwen/Qwen3-32B"
    ):
        find_target_model(documents(), "Qwen/Qwen3-72B")


@pytest.mark.parametrize("directory", ["../etc", "/etc", "a/b", "", ".hidden", "$HOME"])
def test_directory_outside_the_model_root_is_refused(directory: str) -> None:
    entry = _entry()
    checkpoints = entry["checkpoints"]
    assert isinstance(checkpoints, list)
    assert isinstance(checkpoints[0], dict)
    checkpoints[0]["directory"] = directory
    with pytest.raises(PlanningError, match="not one plain name under the model root"):
        parse_target_model(entry)


def test_count_of_an_unknown_method_is_refused() -> None:
    counts: list[Json] = [
        {"method": "eagle9", "num_speculative_tokens": 3, "source": "x"}
    ]
    with pytest.raises(PlanningError, match="'eagle9' is not a speculative method"):
        parse_target_model({**_entry(), "counts": counts})


def test_entry_of_another_kind_is_named() -> None:
    with pytest.raises(PlanningError, match=r"counts\.0"):
        parse_target_model({**_entry(), "counts": ["mtp"]})
    assert find_target_model(["noise", *documents()], "GLM-5.2").name == "GLM-5.2"


FORBIDDEN_UNASKED = ("--allowed-local-media-path", "--reasoning-parser-plugin")


@pytest.mark.parametrize("model", BY_KEY)
def test_flags_of_an_entry_are_one_word_and_open_no_files_unasked(
    model: TargetModel,
) -> None:
    flags = [flag for one in model.serving for flag in one.flags]
    flags += [flag for one in model.features if one.default for flag in one.flags]
    assert [flag for flag in flags if re.fullmatch(r"--[\w.-]+", flag) is None] == []
    assert set(flags).isdisjoint(FORBIDDEN_UNASKED)
    assert all(one.source for one in model.features)
    assert {name for one in model.features for name in one.platforms} <= set(PLATFORMS)
