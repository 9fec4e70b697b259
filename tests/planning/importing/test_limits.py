"""Hostile and oversized input ends in one sentence, quickly."""

import time

import pytest

from deployments.planning.importing.limits import UnreadableLaunchError
from deployments.planning.importing.reader import read_launches
from deployments.planning.rules.launch.lint import lint

SERVICES = "services:\n  a:\n    image: vllm/vllm-openai:v1\n    command: "
MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    "content",
    [b"\0", b"x" * (MEGABYTE + 1), b"vllm serve M\n" * 2_500, b"a " * 100_000],
    ids=["binary", "large", "servers", "words"],
)
def test_too_much_is_refused_in_one_sentence(content: bytes) -> None:
    with pytest.raises(UnreadableLaunchError) as caught:
        read_launches(content)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def _bomb() -> str:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    return "\n".join([*lines, "services:", "  a: {image: x/y, command: *a39}"])


HOSTILE = {
    "braces": "vllm serve M --speculative-config " + "{" * 400_000,
    "dollars": "vllm serve M " + "$(" * 300_000,
    "defaults": "vllm serve " + "${A:-" * 150_000,
    "quotes": "vllm serve M " + "'\"" * 300_000,
    "escapes": 'vllm serve M "' + '\\"' * 300_000,
    "backslashes": "vllm serve M " + "\\" * 900_000,
    "heredocs": "cat <<A\n" * 20_000,
    "nested shells": "bash -c " + "\"bash -c '" * 5_000,
    "commas": "vllm serve M --speculative-config '" + "[" * 19_000 + "'",
    "deep yaml": SERVICES + "[" * 50_000,
    "deep indents": "services:\n" + "".join(" " * n + "a:\n" for n in range(1, 600)),
    "yaml bomb": _bomb(),
    "merge loop": "services:\n  a: &a\n    <<: *a\n    image: x/y\n    command: vllm serve M\n",
    "python": "LLM(" * 10_000 + ")" * 10_000,
    "minus": "LLM(model=" + "-" * 15_000 + "1)",
    "variables": "\n".join(f"V{n}=$V{n - 1}$V{n - 1}" for n in range(1, 60))
    + "\nvllm serve $V59",
    "self": 'A=$A$A$A\nvllm serve $A --port $A --speculative-config "$A"',
    "backticks": "`" * 500_000,
    "prose": "don't " * 100_000,
    "flags": "vllm serve M " + "--a-b " * 20_000,
    "arguments": "vllm serve M " + "--speculative-config {a " * 15_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_is_read_or_refused_within_seconds(name: str) -> None:
    begun = time.process_time()
    assert "\n" not in _refusal(HOSTILE[name])
    assert time.process_time() - begun < 5


def _refusal(content: str) -> str:
    try:
        lint(content)
    except UnreadableLaunchError as error:
        return str(error)
    return ""
