"""Drafters read from config.json, and whether they fit a target."""

from dataclasses import replace
from typing import Any

import pytest

from deployments.planning.methods import Method
from deployments.planning.model_config.fit import drafter_fit
from deployments.planning.model_config.reading import read_model
from tests.planning.builders import shipped
from tests.planning.model_config.configs import EAGLE3, LLAMA, SPECULATORS


def test_an_eagle3_head() -> None:
    read = read_model(EAGLE3)

    assert not read.target
    assert read.method is Method.EAGLE3
    assert (read.hidden_size, read.vocabulary_size) == (4096, 128256)
    assert read.draft_vocabulary_size == 32000


def test_the_speculators_format_names_count_and_verifier() -> None:
    read = read_model(SPECULATORS)

    assert (read.method, read.num_speculative_tokens) == (Method.EAGLE3, 5)
    assert read.verifier == "Qwen/Qwen3-32B"
    assert (read.hidden_size, read.vocabulary_size) == (5120, 151936)


@pytest.mark.parametrize(
    ("config", "method"),
    [
        ({"architectures": ["EagleLlamaForCausalLM"]}, Method.EAGLE),
        ({"architectures": ["EagleMistralLarge3ForCausalLM"]}, Method.EAGLE),
        ({"architectures": ["DFlashDraftModel"]}, Method.DFLASH),
        ({"architectures": ["Qwen3DSparkModel"]}, Method.DSPARK),
        ({"architectures": ["MedusaModel"]}, Method.MEDUSA),
        ({"model_type": "mlp_speculator"}, Method.MLP_SPECULATOR),
        (
            {"architectures": ["LlamaForCausalLM"], "draft_vocab_size": 32000},
            Method.EAGLE3,
        ),
        ({"speculators_model_type": "peagle"}, Method.EAGLE3),
        ({"speculators_model_type": "tomorrow"}, None),
    ],
)
def test_the_method_of_a_drafter(config: dict[str, Any], method: Method | None) -> None:
    read = read_model(config)

    assert not read.target
    assert read.method is method
    assert (read.question("method") is None) is (method is not None)


def test_a_head_fits_its_own_target_and_no_other() -> None:
    llama = shipped("meta-llama/Llama-3.1-8B-Instruct")
    sized = read_model(LLAMA)
    target = replace(
        llama,
        hidden_size=sized.hidden_size,
        vocabulary_size=sized.vocabulary_size,
        architecture=sized.architecture,
    )

    assert drafter_fit(read_model(EAGLE3), Method.EAGLE3, target).good is True
    wider = drafter_fit(
        read_model({**EAGLE3, "hidden_size": 8192}), Method.EAGLE3, target
    )
    assert wider.good is False
    assert any(
        "8192 of the drafter, 4096 of the target" in one.because for one in wider.checks
    )
    unknown = replace(target, hidden_size=None)
    assert drafter_fit(read_model(EAGLE3), Method.EAGLE3, unknown).good is None


def test_a_speculators_head_names_the_architecture_it_was_trained_for() -> None:
    qwen = replace(
        shipped("Qwen/Qwen3-8B"),
        hidden_size=5120,
        vocabulary_size=151936,
        architecture="Qwen3ForCausalLM",
        eagle3_interface=True,
    )
    other = replace(qwen, architecture="LlamaForCausalLM")

    assert drafter_fit(read_model(SPECULATORS), Method.EAGLE3, qwen).good is True
    assert drafter_fit(read_model(SPECULATORS), Method.EAGLE3, other).good is False
