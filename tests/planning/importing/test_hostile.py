"""Inputs made to hurt: each ends soon, in an answer or in one sentence, and nothing of it runs."""

import time
from pathlib import Path

import pytest

from deployments.planning.importing.limits import UnreadableLaunchError
from deployments.planning.rules.launch.fixer import fixed_text
from deployments.planning.rules.launch.lint import lint

MOST_SECONDS = 10
SERVICE = "services:\n  s:\n    <<: *{last}\n    command: vllm serve M\n"
DOUBLED = "x: &x {a: 1}\n" + "".join(
    f"m{one}: &m{one}\n  <<: [*{before}, *{before}]\n"
    for one, before in enumerate(["x", *(f"m{one}" for one in range(59))])
)
CHAINED = "a0: &a0 {image: x}\n" + "".join(
    f"a{one}: &a{one} {{<<: *a{one - 1}}}\n" for one in range(1, 5_000)
)
KV = 'vllm serve M --kv-transfer-config \'{{"kv_connector":"C","kv_role":"{role}"}}\' &\n'
ANSWERED: dict[str, str | bytes] = {
    "json depth": "vllm serve M --speculative-config '" + '{"a":' * 100_000 + "'",
    "braces": "{" * 900_000,
    "substitutions": "$(" * 300_000,
    "merge keys doubled": DOUBLED + SERVICE.format(last="m59"),
    "merge keys in a circle": "services: &s\n  a: &a\n    <<: *s\n    command: vllm serve M\n  <<: *a\n",
    "anchor of itself": "services: &s\n  a: *s\n",
    "one line": "vllm serve M " + "x" * 900_000,
    "quotes": "'" * 900_000,
    "backslashes": "vllm serve M " + "\\\n" * 400_000,
    "invalid UTF-8": b"vllm serve \xff\xfe M --x \xc3",
    "surrogate": "vllm serve \ud800",
    "variables of variables": "A=xxxx\n"
    + "".join(f"{chr(66 + n)}={f'${chr(65 + n)}' * 4}\n" for n in range(20))
    + "vllm serve $U",
    "digits": "vllm serve M --max-num-seqs " + "9" * 900_000,
    "infinite number": 'vllm serve M --speculative-config \'{"method":"mtp","num_speculative_tokens":1e400}\'',
    "capture sizes": 'vllm serve M --compilation-config \'{"cudagraph_capture_sizes":['
    + "1," * 400_000
    + "1]}'",
    "pairs": KV.format(role="kv_producer") * 900 + KV.format(role="kv_consumer") * 900,
    "log": "vllm serve M\n--- output ---\n" + "a" * 900_000,
}
REFUSED: dict[str, tuple[str | bytes, str]] = {
    "too large": ("x" * 1_000_001, "1000000 is the most"),
    "NUL": (b"vllm serve M\0", "not text"),
    "UTF-16": ("vllm serve M".encode("utf-16"), "not text"),
    "YAML depth": ("services:\n  a:\n    command: " + "[" * 100_000, "too deeply"),
    "merge keys in a chain": (CHAINED + SERVICE.format(last="a4999"), "too deeply"),
    "flags": ("vllm serve M " + "--a " * 240_000, "more than 60000 words"),
    "scripts in scripts": ("bash -c '" * 100_000, "more than 60000 words"),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_a_hostile_input_is_answered_in_time(name: str) -> None:
    begun = time.process_time()
    report = lint(ANSWERED[name])
    fixed_text(report.source, report.findings)
    assert time.process_time() - begun < MOST_SECONDS


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_input_is_refused_in_one_sentence(name: str) -> None:
    content, said = REFUSED[name]
    begun = time.process_time()
    with pytest.raises(UnreadableLaunchError, match=said) as refused:
        lint(content)
    assert time.process_time() - begun < MOST_SECONDS
    assert "\n" not in str(refused.value)
    assert str(refused.value).endswith(".")


def test_nothing_of_an_input_is_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    for content in (
        f"vllm serve $(touch {trace}) `touch {trace}`\n",
        f"touch {trace}; vllm serve M\n",
        f'services:\n  a:\n    image: !!python/object/apply:os.system ["touch {trace}"]\n    command: vllm serve M\n',
        f'LLM(model=__import__("os").system("touch {trace}"))',
    ):
        lint(content)
    assert not trace.exists()
