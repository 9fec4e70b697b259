"""Engine profiles, argument vectors and the speculative config."""

import pytest

from deployments.planning.engines.arguments import Arguments, flag_values
from deployments.planning.engines.profile import (
    find_profile,
    parse_engine_profile,
    shipped_profiles,
)
from deployments.planning.engines.speculative import SpeculativeConfig
from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method


def test_profiles_of_this_release_ship() -> None:
    assert [profile.name for profile in shipped_profiles()] == [
        "vllm==0.32.0",
        "vllm==0.33.0",
        "vllm-ascend==0.23.0",
    ]


@pytest.mark.parametrize(
    ("reference", "method", "told"),
    [
        ("vllm==0.32.0", Method.MEDUSA, None),
        ("vllm==0.33.0", Method.MEDUSA, "no longer runs Medusa; 0.32.0 was the last"),
        ("vllm==0.32.0", Method.MLP_SPECULATOR, "0.9.2 was the last"),
        ("vllm-ascend==0.23.0", Method.DSPARK, "does not run DSpark yet"),
        ("vllm-ascend==v0.23.0", Method.MTP, None),
    ],
)
def test_profile_says_why_a_method_does_not_run(
    reference: str, method: Method, told: str | None
) -> None:
    why = find_profile(reference).why_not(method)
    assert (why is None) == (told is None)
    assert told is None or told in (why or "")


@pytest.mark.parametrize(
    "flag", ["--max-num-seqs", "--trust-remote-code", "--no-enforce-eager"]
)
def test_profile_knows_real_flags(flag: str) -> None:
    assert find_profile("vllm==0.32.0").knows(flag)


def test_profile_does_not_know_the_old_flags() -> None:
    assert not find_profile("vllm==0.32.0").knows("--num-speculative-tokens")


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("vllm", "does not name an engine"),
        ("vllm==9.9.9", "No profile of vllm==9.9.9 ships"),
        ("vllm==new", "is not an engine version"),
    ],
)
def test_unknown_engine_is_one_sentence(reference: str, sentence: str) -> None:
    with pytest.raises(PlanningError, match=sentence):
        find_profile(reference)


def test_profile_document_is_read_strictly() -> None:
    with pytest.raises(PlanningError, match="engine profile cannot be read"):
        parse_engine_profile({"engine": "vllm"})


def test_arguments_keep_their_order_and_write_compact_json() -> None:
    arguments = (
        Arguments("/models/x")
        .having("--port", 8000)
        .having("--additional-config", {"b": 1, "a": [True]})
        .having("--enforce-eager", value=True)
        .having("--quantization", None)
        .having("--headless", value=False)
        .having("--port", 8001)
    )
    assert arguments.vector == (
        "vllm",
        "serve",
        "/models/x",
        "--port",
        "8001",
        "--additional-config",
        '{"a":[true],"b":1}',
        "--enforce-eager",
    )
    assert flag_values(arguments.vector) == {
        "--port": "8001",
        "--additional-config": '{"a":[true],"b":1}',
        "--enforce-eager": None,
    }


def test_speculative_config_leaves_out_what_is_not_set() -> None:
    config = SpeculativeConfig(
        method=Method.EAGLE3,
        num_speculative_tokens=3,
        model="/models/head",
        draft_tensor_parallel_size=1,
        draft_eager=False,
    )
    assert config.document(find_profile("vllm==0.32.0")) == {
        "method": "eagle3",
        "model": "/models/head",
        "num_speculative_tokens": 3,
        "draft_tensor_parallel_size": 1,
    }
