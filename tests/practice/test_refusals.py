"""The practice engine refuses what vLLM 0.32.0 refuses, in its words and with its exit codes."""

import socket

import pytest

from deployments.telemetry.diagnosis import diagnose_text
from tests.practice.running import run

NO_VALUE = "--speculative-config"


@pytest.mark.parametrize(
    ("flags", "code", "diagnosis", "words"),
    [
        (["--no-such-flag"], 2, "ARGUMENTS_UNKNOWN", "arguments: --no-such-flag"),
        (
            ["--num-speculative-tokens", "3", "--speculative-model", "/models/draft"],
            2,
            "ARGUMENTS_UNKNOWN",
            (
                "unrecognized arguments: --num-speculative-tokens 3 --speculative-model "
                "/models/draft"
            ),
        ),
        (
            [NO_VALUE, "{method: ngram}"],
            2,
            "SPEC_JSON_INVALID",
            (
                "argument --speculative-config/-sc: Value {method: ngram} cannot be converted "
                "to <function loads"
            ),
        ),
        (
            ["--max-num-seqs", "many"],
            2,
            "ARGUMENT_INVALID",
            "invalid int value: 'many'",
        ),
        (
            [NO_VALUE, '{"method": "ngrams", "num_speculative_tokens": 3}'],
            1,
            "SPEC_METHOD_UNKNOWN",
            "Input should be 'ngram', 'medusa'",
        ),
        (
            [NO_VALUE, '{"method": "ngram", "num_speculative_tokens": 0}'],
            1,
            "SPEC_COUNT_INVALID",
            "Input should be greater than 0",
        ),
        (
            [NO_VALUE, '{"method": "ngram", "num_speculative_tokens": "three"}'],
            1,
            "SPEC_COUNT_INVALID",
            "unable to parse string as an integer",
        ),
        (
            [NO_VALUE, '{"method": "ngram"}'],
            1,
            "SPEC_COUNT_MISSING",
            "num_speculative_tokens must be provided",
        ),
        (
            [NO_VALUE, '{"method": "eagle3", "num_speculative_tokens": 3}'],
            1,
            "DRAFTER_NOT_GIVEN",
            "was provided but without speculative model",
        ),
        (
            [NO_VALUE, '{"method": "eagle3", "model": "/models/head"}'],
            1,
            "SPEC_COUNT_MISSING",
            "but `num_speculative_tokens` was not provided",
        ),
        (
            [NO_VALUE, '{"method": "mtp", "num_speculative_tokens": 1, "k": 2}'],
            1,
            "SPEC_KEY_UNKNOWN",
            "k\n  Unexpected keyword argument",
        ),
        (
            [NO_VALUE, '{"method": "mtp", "tensor_parallel_size": 1}'],
            1,
            "DRAFT_PARALLEL_SIZE",
            "'tensor_parallel_size' is not a valid argument",
        ),
    ],
)
def test_refusal_has_the_real_words_code_and_diagnosis(
    flags: list[str], code: int, diagnosis: str, words: str
) -> None:
    done = run("serve", "/models/target", "--port", "0", *flags)
    text = done.stderr.decode()
    assert done.returncode == code
    assert words in text
    assert [found.code for found in diagnose_text(text)] == [diagnosis]


def test_taken_port_ends_the_start() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = run("serve", "m", "--host", "127.0.0.1", "--port", port)
    assert done.returncode == 1
    assert "PORT_IN_USE" in {
        found.code for found in diagnose_text(done.stderr.decode())
    }


def test_missing_drafter_directory_is_named_when_paths_are_checked() -> None:
    config = '{"method": "eagle3", "model": "/no/head", "num_speculative_tokens": 2}'
    done = run(
        "serve", "m", "--port", "0", NO_VALUE, config, env={"PRACTICE_CHECK_PATHS": "1"}
    )
    (found,) = diagnose_text(done.stderr.decode())
    assert done.returncode == 1
    assert found.code == "MODEL_PATH_MISSING"
    assert dict(found.parameters)["path"] == "/no/head"


def test_the_flags_of_real_plans_are_known() -> None:
    flags = [
        *("--served-model-name", "glm", "-tp", "8", "--data_parallel_size", "2"),
        *("--enable-expert-parallel", "--no-enable-prefix-caching", "-q", "ascend"),
        *("--max-model-len", "64k", "--max-num-batched-tokens", "8192"),
        *("--compilation-config", '{"cudagraph_mode": "FULL_DECODE_ONLY"}'),
        *("--additional-config", "{}", "--trust-remote-code", "--async-scheduling"),
        *("--speculative-config.method", "mtp"),
        *("--speculative-config.num_speculative_tokens=2", "--seed", "1024"),
    ]
    env = {"PRACTICE_EXIT_AFTER": "0.3", "PRACTICE_EXIT_CODE": "3"}
    done = run("serve", "/models/glm", "--port", "0", *flags, env=env)
    assert done.returncode == 3
    assert (
        b"SpeculativeConfig(method='mtp', model='/models/glm', num_spec_tokens=2)"
        in (done.stdout)
    )


@pytest.mark.parametrize("arguments", [(), ("chart",)])
def test_other_commands_are_refused(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert b"usage: vllm" in done.stderr


def test_version_is_answered() -> None:
    assert run("--version").stdout == b"0.32.0\n"


def test_unreadable_mode_is_one_sentence() -> None:
    done = run("serve", "m", env={"PRACTICE_READY_AFTER": "soon"})
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "PRACTICE_READY_AFTER is 'soon'; give a number of 0 or more.\n"
    )
