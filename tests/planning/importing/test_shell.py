"""Shell text: what the program would receive, whatever the quoting, and nothing is run."""

from pathlib import Path

import pytest

from deployments.planning.importing.json_repair import Damage, read_json
from deployments.planning.importing.launch import Launch
from deployments.planning.importing.reader import read_launches

CONFIG = '{"method":"mtp","num_speculative_tokens":3}'


def only(content: str) -> Launch:
    """The one launch of an input."""
    launches = read_launches(content).launches
    assert len(launches) == 1
    return launches[0]


@pytest.mark.parametrize(
    "content",
    [
        "vllm serve M --port 8000 --trust-remote-code",
        "vllm serve M --port=8000 --trust_remote_code",
        "vllm serve --trust-remote-code --port 8000 M",
        "vllm serve \\\n  M \\\n  --port 8000 \\\n  --trust-remote-code\n",
        "$ vllm serve M --port 8000 --trust-remote-code",
        "nohup vllm serve M --port 8000 --trust-remote-code > log 2>&1 &",
        "for i in 0 1; do\n  vllm serve M --port 8000 --trust-remote-code &\ndone\nwait",
        "start() {\n  vllm serve M --port 8000 --trust-remote-code\n}\nstart",
        "bash -lc 'vllm serve M --port 8000 --trust-remote-code'",
        'docker exec -it box bash -c "vllm serve M --port 8000 --trust-remote-code"',
        "cat > run.sh <<'EOF'\nvllm serve M --port 8000 --trust-remote-code\nEOF\n",
        'ARGS=(--port 8000 --trust-remote-code)\nvllm serve M "${ARGS[@]}"',
        "ARGS=(--port 8000)\nARGS+=(--trust-remote-code)\nvllm serve M ${ARGS[@]}",
        'ARGS="--port 8000 --trust-remote-code"\nvllm serve M $ARGS',
        "Let's start it:\n\n```bash\nvllm serve M --port 8000 --trust-remote-code\n```\nThat's all.",
        '["vllm", "serve", "M", "--port", "8000", "--trust-remote-code"]',
    ],
)
def test_one_command_however_it_is_written(content: str) -> None:
    launch = only(content)
    assert launch.program == "vllm serve"
    assert launch.model == "M"
    assert launch.flags == {"--port": "8000", "--trust-remote-code": True}


def test_short_names_and_repeated_flags() -> None:
    launch = only(
        "vllm serve M -tp 4 -pp2 -dp 2 --lora-modules a=b c=d --port 1 --port 2"
    )
    assert launch.flags == {
        "--tensor-parallel-size": "4",
        "--pipeline-parallel-size": "2",
        "--data-parallel-size": "2",
        "--lora-modules": "a=b c=d",
        "--port": ["1", "2"],
    }
    assert launch.devices_required == 16


def test_variables_stay_and_are_resolved_beside() -> None:
    launch = only("P=/m\nvllm serve $P/x --port $PORT --max-model-len ${LEN:-8k}")
    assert launch.model == "$P/x"
    assert launch.scope.resolve(launch.model) == "/m/x"
    assert launch.value("--port") == "$PORT"
    assert launch.number("--max-model-len") == 8000


@pytest.mark.parametrize(
    "content",
    [
        "export A=1 B='x y'\nvllm serve M",
        "A=1 B='x y' vllm serve M",
        "export A=1\nexport B='x y'\nenv vllm serve M",
        "nohup env A=1 B='x y' vllm serve M &",
        "A=1\nexport A B\nB='x y'\nvllm serve M",
        "export A=0 B='x y'\nA=1\nvllm serve M",
        "set -a\nA=1\nB='x y'\nset +a\nC=3\nvllm serve M",
        "set -o allexport; A=1; B='x y'; set +o allexport; vllm serve M",
        "declare -x A=1\ntypeset -gx B='x y'\nvllm serve M",
        "export A=1 B='x y' C=3\nunset C\nvllm serve M",
        "export A=1 B='x y' C=3\nexport -n C\nvllm serve M",
        "export A=1\nB='x y' bash -c 'vllm serve M'",
        "export A=1 B='x y'\ndocker run -e A -e B vllm/vllm-openai:v0.32.0 --model M",
        "docker run -e A=1 --env 'B=x y' vllm/vllm-openai:v0.32.0 --model M",
    ],
)
def test_environment_that_reaches_the_engine(content: str) -> None:
    assert {name: word.text for name, word in only(content).environment.items()} == {
        "A": "1",
        "B": "x y",
    }


@pytest.mark.parametrize(
    "content",
    [
        "A=1\nvllm serve M",
        "A=1; vllm serve M",
        "declare A=1\nvllm serve M",
        "readonly A=1\nlocal B=2\nvllm serve M",
        "A=1 vllm bench serve --model M\nvllm serve M",
        "A=1\nbash -c 'vllm serve M'",
        "A=1\ndocker run -e A vllm/vllm-openai:v0.32.0 --model M",
        "export A=1\ndocker run vllm/vllm-openai:v0.32.0 --model M",
        "export A=1\nunset A\nvllm serve M",
        "env A=1\nvllm serve M",
    ],
)
def test_environment_that_does_not_reach_the_engine(content: str) -> None:
    assert only(content).environment == {}


@pytest.mark.parametrize(
    "value",
    [
        f"'{CONFIG}'",
        '"{\\"method\\":\\"mtp\\",\\"num_speculative_tokens\\":3}"',
        '\'{"method":"mtp",\n "num_speculative_tokens":3}\'',
    ],
)
def test_sound_values_are_not_called_damaged(value: str) -> None:
    drafting = only(f"vllm serve M --speculative-config {value}").speculation
    assert drafting is not None
    assert drafting.damage is None
    assert (drafting.method, drafting.num_speculative_tokens) == ("mtp", 3)


@pytest.mark.parametrize(
    ("value", "damage"),
    [
        ('{"method":"mtp","num_speculative_tokens":3}', Damage.QUOTES_EATEN),
        ('"{"method":"mtp","num_speculative_tokens":3}"', Damage.QUOTES_EATEN),
        ("\"{'method':'mtp','num_speculative_tokens':3}\"", Damage.SINGLE_QUOTES),
        (
            f"\"'{CONFIG}'\"".replace('{"', '{\\"')
            .replace('":', '\\":')
            .replace(':"', ':\\"')
            .replace('","', '\\",\\"'),
            Damage.QUOTES_INSIDE,
        ),
    ],
)
def test_damage_is_named_and_the_meaning_still_read(value: str, damage: Damage) -> None:
    drafting = only(f"vllm serve M --speculative-config {value}").speculation
    assert drafting is not None
    assert drafting.damage is damage
    assert (drafting.method, drafting.num_speculative_tokens) == ("mtp", 3)


def test_json_beyond_repair_has_no_value() -> None:
    assert read_json("{{{").value is None
    assert read_json("x" * 30_000).damage is Damage.OTHER
    assert read_json('{"a": NaN}').damage is not None


def test_nothing_is_executed(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    read_launches(
        f"vllm serve $(touch {witness}) `touch {witness}` --port $((1+1))\n"
        f"LLM(model=open('{witness}', 'w'))\nLLM(model=__import__('os').system('touch {witness}'))"
    )
    assert not witness.exists()


def test_output_below_the_mark_is_no_command() -> None:
    read = read_launches("vllm serve M\n--- output ---\nvllm serve N\n")
    assert [one.model for one in read.launches] == ["M"]
    assert read.output == "vllm serve N\n"
    assert read.output_line == 2
