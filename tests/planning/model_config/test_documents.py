"""Hostile and broken files give one sentence, quickly."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deployments.planning.errors import PlanningError
from deployments.planning.model_config.documents import (
    LARGEST_CONFIG_BYTES,
    read_config,
    read_index,
)
from deployments.planning.model_config.reading import read_model


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "line 1 is not JSON"),
        (b"[1]", "no JSON object"),
        (b'{"a": 1,}', "line 1 is not JSON"),
        (b'{"a": NaN}', "out of range"),
        (b'{"a": 1, "a": 2}', "key stands twice"),
        (b'{"a": ' + b"9" * 5000 + b"}", "out of range"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b'{"a":' * 30 + b"1" + b"}" * 30, "deeper than 24"),
        (b"[" * 100_000, "deeper than 24"),
        (b'{"a": "' + b'\\"' * 400_000, "is not JSON"),
        (b" " * (LARGEST_CONFIG_BYTES + 1), "1048576 is the most"),
    ],
)
def test_one_sentence(content: bytes, said: str) -> None:
    with pytest.raises(PlanningError) as refused:
        read_config(content)

    assert said in str(refused.value)
    assert str(refused.value).startswith("The config.json")


def test_brackets_inside_strings_do_not_count() -> None:
    assert read_config(json.dumps({"a": "[" * 100 + '\\"'}).encode())


def test_an_index_needs_its_map() -> None:
    with pytest.raises(PlanningError, match="weight_map"):
        read_index(b'{"metadata": {"total_size": 5}}')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
KEYS = st.sampled_from(
    [
        "architectures",
        "text_config",
        "quantization_config",
        "speculators_config",
        "speculators_model_type",
        "hidden_size",
        "num_attention_heads",
        "num_key_value_heads",
        "layer_types",
        "rope_scaling",
        "num_nextn_predict_layers",
        "kv_lora_rank",
        "proposal_methods",
        "transformer_layer_config",
        "quantize",
        "mtp_config",
        "max_position_embeddings",
    ]
)


@settings(max_examples=150, deadline=None)
@given(config=st.dictionaries(KEYS, JSON, max_size=8), index=st.none() | JSON)
def test_any_object_is_read_without_an_exception(
    config: dict[str, object], index: object
) -> None:
    reading = read_model(
        config,  # type: ignore[arg-type]
        index if isinstance(index, dict) else None,
    )

    assert reading.asked or not reading.target
