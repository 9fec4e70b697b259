"""Mechanical fixes change the input's own text, as little as they can, and hold when judged again."""

import json

import pytest

from deployments.planning.importing.reader import read_launches
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.fixer import diff_of, fixed_text
from tests.planning.rules_launch.judging import judged, on_ascend

CONFIG = '{"method":"mtp","num_speculative_tokens":3}'
COMPOSE = (
    "services:\n  a:\n    image: x\n    command: vllm serve M\n    environment:\n      "
)
SOUND = f"vllm serve M --speculative-config '{CONFIG}'"


def fixed(content: str, version: str | None = None) -> str:
    """The corrected input."""
    report = judged(content, version)
    return fixed_text(report.source, report.findings)


@pytest.mark.parametrize(
    "damaged",
    [
        'vllm serve M --speculative-config {"method":"mtp","num_speculative_tokens":3}',
        'vllm serve M --speculative-config "{"method": "mtp", "num_speculative_tokens": 3}"',
        "vllm serve M --speculative-config \"{'method':'mtp','num_speculative_tokens':3}\"",
        'vllm serve M --speculative-config \'{\\"method\\":\\"mtp\\",\\"num_speculative_tokens\\":3}\'',
        'vllm serve M --speculative-config "\'{\\"method\\":\\"mtp\\",\\"num_speculative_tokens\\":3}\'"',
        'vllm serve M --speculative-config \'{"method":"mtp","num_speculative_tokens":3,}\'',
        'vllm serve M --speculative-config \'{"method":"mtp","num_speculative_tokens":3\'',
        "vllm serve M --speculative-config '{\u201cmethod\u201d:\u201cmtp\u201d,\u201cnum_speculative_tokens\u201d:3}'",
    ],
)
def test_json_that_shells_damaged_is_put_right(damaged: str) -> None:
    assert judged(damaged).verdict == "reject"
    assert fixed(damaged) == SOUND


@pytest.mark.parametrize(
    ("before", "after", "version"),
    [
        (SOUND.replace('"mtp"', '"deepseek_mtp"'), SOUND, "0.32.0"),
        ("vllm serve M --disable-log-requests --port 1", "vllm serve M --port 1", None),
        (
            "vllm serve M --tensor-paralel-size 4",
            "vllm serve M --tensor-parallel-size 4",
            None,
        ),
        (
            "vllm serve M --speculative-model D --num-speculative-tokens 5 --port 1",
            'vllm serve M --port 1 --speculative-config \'{"method":"draft_model","model":"D","num_speculative_tokens":5}\'',
            "0.32.0",
        ),
        (
            "vllm serve M \\\n  # tokens\n  --port 9",
            "vllm serve M \\\n  --port 9",
            None,
        ),
        ("vllm serve M\n  --port 9\n", "vllm serve M \\\n  --port 9\n", None),
        ("vllm serve M \\ \n  --port 9", "vllm serve M \\\n  --port 9", None),
        (
            "vllm serve M --gpu-memory-utilization 92",
            "vllm serve M --gpu-memory-utilization 0.92",
            None,
        ),
        (
            "vllm serve M --gpu-memory-utilization 1.3",
            "vllm serve M --gpu-memory-utilization 1.3",
            None,
        ),
        ("vllm serve M \u2014port 9", "vllm serve M --port 9", None),
        (
            "export VLLM_ASCEND_EN1BLE_MLAPO=1\nvllm serve M",
            "export VLLM_ASCEND_ENABLE_MLAPO=1\nvllm serve M",
            None,
        ),
        *(
            (f"{COMPOSE}{entry}", f"{COMPOSE}{entry.replace('EN1BLE', 'ENABLE')}", None)
            for entry in (
                'VLLM_ASCEND_EN1BLE_MLAPO: "1"',
                "VLLM_ASCEND_EN1BLE_MLAPO: 1",
                '"VLLM_ASCEND_EN1BLE_MLAPO": "1"',
                "- VLLM_ASCEND_EN1BLE_MLAPO=1",
            )
        ),
        (
            "vllm serve M --max-model-len=-q '--port 1'",
            "vllm serve M --max-model-len=-q --port=1",
            None,
        ),
        (
            "vllm serve M -tp 4 --speculative-config.method mtp --speculative-config.num_speculative_tokens 0",
            "vllm serve M -tp 4 --speculative-config.method mtp --speculative-config.num_speculative_tokens 0",
            None,
        ),
        (
            "docker run --gpus all vllm/vllm-openai:v0.32.0 vllm serve M",
            "docker run --gpus all vllm/vllm-openai:v0.32.0 M",
            None,
        ),
    ],
)
def test_a_fix_changes_what_is_wrong_and_nothing_else(
    before: str, after: str, version: str | None
) -> None:
    assert fixed(before, version) == after


def test_variables_stay_variables() -> None:
    before = 'P=/m/head\nvllm serve M --speculative-config \'{"method":"EAGLE3","model":"\'"$P"\'","num_speculative_tokens":3}\''
    after = fixed(before, "0.32.0")
    assert after.endswith(
        '\'{"method":"eagle3","model":"\'"$P"\'","num_speculative_tokens":3}\''
    )
    again = read_launches(after).launches[0].speculation
    assert again is not None
    assert again.drafter_resolved == "/m/head"


@pytest.mark.parametrize(
    "command",
    [
        '["--model", "M", "--speculative-config", "{\\"method\\":\\"deepseek_mtp\\",\\"num_speculative_tokens\\":3}"]',
        '\n      - --model\n      - M\n      - --speculative-config\n      - \'{"method":"deepseek_mtp","num_speculative_tokens":3}\'',
        '>\n      --model M\n      --speculative-config \'{"method":"deepseek_mtp","num_speculative_tokens":3}\'',
    ],
)
def test_compose_files_are_corrected_in_their_own_style(command: str) -> None:
    before = f"services:\n  a:\n    image: vllm/vllm-openai:v0.32.0\n    command: {command}\n    ports: ['8000:8000']\n"
    after = fixed(before)
    assert len(after.splitlines()) == len(before.splitlines())
    drafting = read_launches(after).launches[0].speculation
    assert drafting is not None
    assert drafting.method_as_written == "mtp"
    assert "METHOD_SPELLING_OLD" not in [one.code for one in judged(after).findings]


def test_an_eager_drafter_is_added_and_the_target_keeps_its_graph() -> None:
    report = on_ascend(
        "vllm serve glm-5 --speculative-config '" + CONFIG + "'", "0.21.0rc1"
    )
    after = fixed_text(report.source, report.findings)
    config = read_launches(after).launches[0].speculation
    assert config is not None
    assert config.config["enforce_eager"] is True
    assert on_ascend(after, "0.21.0rc1").verdict == "accept"


def test_several_fixes_of_one_config_become_one_config() -> None:
    before = 'vllm serve M --speculative-config \'{"method":"EAGLE3","model":"o/eagle3","num_speculative_tokens":3,"tensor_parallel_size":1}\''
    after = fixed(before, "0.32.0")
    value = read_launches(after).launches[0].value("--speculative-config")
    assert json.loads(value or "") == {
        "method": "eagle3",
        "model": "o/eagle3",
        "num_speculative_tokens": 3,
        "draft_tensor_parallel_size": 1,
    }


def test_a_correction_stands_with_its_finding() -> None:
    report = judged(
        "vllm serve M --speculative-config {method:mtp,num_speculative_tokens:3}"
    )
    assert [
        one.correction for one in report.findings if one.severity is Severity.ERROR
    ] == [f"'{CONFIG}'"]


def test_the_diff_names_the_file() -> None:
    lines = diff_of("a\n", "b\n", "launch.sh").splitlines()
    assert lines == [
        "--- launch.sh (as it is)",
        "+++ launch.sh (corrected)",
        "@@ -1 +1 @@",
        "-a",
        "+b",
    ]
    assert diff_of("a\n", "a\n", "launch.sh") == ""
