"""The speculative config in every way that it can be written, and the figures that follow."""

import pytest

from deployments.planning.importing.reader import read_launches
from deployments.planning.importing.speculation import Speculation


def drafting(content: str) -> Speculation:
    """How the first launch drafts."""
    found = read_launches(content).launches[0].speculation
    assert found is not None
    return found


@pytest.mark.parametrize(
    "flags",
    [
        '--speculative-config \'{"method":"deepseek_mtp","num_speculative_tokens":3}\'',
        '--speculative_config=\'{"method":"deepseek_mtp","num_speculative_tokens":"3"}\'',
        '-sc \'{"method":"deepseek_mtp","num_speculative_tokens":3}\'',
        "--speculative-config.method deepseek_mtp --speculative-config.num_speculative_tokens 3",
        "--speculative-config.method=deepseek_mtp --speculative-config.num-speculative-tokens=3",
        "--spec-method deepseek_mtp --spec-tokens 3",
    ],
)
def test_one_config_however_it_is_written(flags: str) -> None:
    found = drafting(f"vllm serve M {flags}")
    assert found.method == "mtp"
    assert found.method_as_written == "deepseek_mtp"
    assert found.num_speculative_tokens == 3
    assert found.drafter is None


@pytest.mark.parametrize(
    ("config", "method"),
    [
        ('{"model":"org/EAGLE3-x","num_speculative_tokens":3}', "eagle3"),
        ('{"model":"org/eagle-x","num_speculative_tokens":3}', "eagle"),
        ('{"model":"[ngram]","num_speculative_tokens":3}', "ngram"),
        (
            '{"model":"google/gemma-4-31B-it-assistant","num_speculative_tokens":3}',
            "mtp",
        ),
        ('{"model":"Qwen/Qwen3-0.6B","num_speculative_tokens":3}', "draft_model"),
        ('{"model":"M","num_speculative_tokens":3}', "mtp"),
        ('{"method":"Qwen3_Next_MTP","num_speculative_tokens":3}', "mtp"),
    ],
)
def test_the_method_is_guessed_as_the_engine_guesses_it(
    config: str, method: str
) -> None:
    assert drafting(f"vllm serve M --speculative-config '{config}'").method == method


def test_old_flags_become_keys() -> None:
    found = drafting(
        "vllm serve M --speculative_model [ngram] --num-speculative-tokens 5 --ngram-prompt-lookup-max 4"
    )
    assert found.old_flags
    assert found.method == "ngram"
    assert found.config == {
        "model": "[ngram]",
        "num_speculative_tokens": 5,
        "prompt_lookup_max": 4,
    }


def test_the_target_itself_is_no_drafter() -> None:
    found = drafting(
        'vllm serve M --speculative-config \'{"method":"mtp","model":"M","num_speculative_tokens":1}\''
    )
    assert found.drafter is None


def test_a_variable_for_the_whole_config_is_followed() -> None:
    found = drafting(
        'C=\'{"method":"mtp","num_speculative_tokens":2}\'\nvllm serve M --speculative-config "$C"'
    )
    assert (found.method, found.num_speculative_tokens, found.damage) == (
        "mtp",
        2,
        None,
    )


def test_an_unknown_variable_for_the_count_is_unknown_and_no_damage() -> None:
    found = drafting(
        'vllm serve M --speculative-config \'{"method":"mtp","num_speculative_tokens":\'$K\'}\''
    )
    assert (found.method, found.num_speculative_tokens, found.damage) == (
        "mtp",
        None,
        None,
    )


def test_a_speculators_checkpoint_brings_its_own_config() -> None:
    found = drafting("vllm serve org/Llama-3.1-8B-speculator.eagle3")
    assert (found.method, found.implied) == ("eagle3", True)


def test_other_servers_are_read_as_far_as_they_are_alike() -> None:
    sglang = drafting(
        "python -m sglang.launch_server --model-path M --speculative-algorithm EAGLE3 --speculative-draft-model-path D --speculative-num-draft-tokens 4"
    )
    atom = drafting("atom serve M -tp 4 --method mtp --num-speculative-tokens 1")
    assert (sglang.method, sglang.drafter, sglang.num_speculative_tokens) == (
        "eagle3",
        "D",
        4,
    )
    assert (atom.method, atom.num_speculative_tokens) == ("mtp", 1)


@pytest.mark.parametrize(
    ("flags", "devices"),
    [
        ("-tp 8 -dp 2", 16),
        ("-tp 8 -dp 4 --data-parallel-size-local 2", 16),
        ("-tp 2 -dp 16 --data-parallel-rank 3", 2),
        ("-tp 4 -pp 2 --prefill-context-parallel-size 2", 16),
        ("", 1),
    ],
)
def test_devices_required(flags: str, devices: int) -> None:
    assert (
        read_launches(f"vllm serve M {flags}").launches[0].devices_required == devices
    )


def test_capture_size_counts_the_target_too() -> None:
    launch = read_launches(
        "vllm serve M --max-num-seqs 6 --spec-method mtp --spec-tokens 3"
    ).launches[0]
    assert launch.decode_tokens_per_step == 24
    assert read_launches("vllm serve M").launches[0].decode_tokens_per_step is None


def test_a_python_call_is_a_launch() -> None:
    launch = read_launches(
        'from vllm import LLM\nllm = LLM(\n    model="M",\n    tensor_parallel_size=2,\n    enforce_eager=True,\n'
        '    speculative_config={"method": "ngram", "num_speculative_tokens": 3},\n    seed=None,\n    dtype=chosen,\n)\n'
    ).launches[0]
    assert launch.flags == {
        "--model": "M",
        "--tensor-parallel-size": "2",
        "--enforce-eager": True,
        "--speculative-config": '{"method": "ngram", "num_speculative_tokens": 3}',
        "--dtype": "$chosen",
    }
