"""Argument vectors and the speculative config."""

from deployments.planning.engines.arguments import Arguments, flag_values
from deployments.planning.engines.profile import find_profile
from deployments.planning.engines.speculative import SpeculativeConfig
from deployments.planning.methods import Method


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


def test_speculative_config_spells_mtp_as_the_version_wants_it() -> None:
    config = SpeculativeConfig(
        method=Method.MTP, num_speculative_tokens=1, target_model_type="qwen3_next"
    )
    spelt = [
        config.document(find_profile(f"vllm=={version}"))["method"]
        for version in ("0.10.1", "0.10.2", "0.11.0")
    ]
    assert spelt == ["deepseek_mtp", "qwen3_next_mtp", "mtp"]


def test_speculative_config_leaves_out_what_the_version_does_not_know() -> None:
    config = SpeculativeConfig(
        method=Method.EAGLE, num_speculative_tokens=2, draft_eager=True
    )
    assert "enforce_eager" in config.document(find_profile("vllm==0.11.0"))
    assert "enforce_eager" not in config.document(find_profile("vllm==0.10.2"))
