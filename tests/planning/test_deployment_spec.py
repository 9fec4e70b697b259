"""The deployment spec that a person writes, and the commands that read it."""

import io
import json
import sys
from pathlib import Path

import pytest
import yaml
from django.core.management import CommandError, call_command

from deployments.planning.canonical import Json
from deployments.planning.deployment_spec import parse_deployment_spec
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Role
from deployments.planning.revision import Topology
from deployments.planning.spec_document import spec_document

GLM = """
name: glm-52-chat
model: zai-org/GLM-5.2
checkpoint: w8a8
engine: vllm-ascend==0.23.0
speculation: {method: auto}
topology: disaggregated
roles:
  prefill: {hosts: 1, num_speculative_tokens: 1}
  decode: {hosts: 1, num_speculative_tokens: 3}
fleet: [{platform: ascend-a3, count: 2}]
workload: {input_tokens: 4000, output_tokens: 600, concurrency: 32, goal: latency}
limits: {max_model_len: 65536, gpu_memory_utilization: 0.92}
extra_flags: {}
"""
LLAMA = """
name: llama
model: Llama-3.1-8B-Instruct
fleet: [{platform: nvidia, device: H100, model_root: /data/models, address: 10.0.0.1}]
extra_flags: {seed: 7, --enable-chunked-prefill: true, --enable-prefix-caching: false}
"""


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(GLM, encoding="utf-8")
    return path


def _parsed(text: str) -> Json:
    document: Json = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - strings only
    return document


def _plan_json(*words: str) -> tuple[dict[str, Json], int]:
    out, code = io.StringIO(), 0
    try:
        call_command("plan_deployment", *words, "--json", stdout=out)
    except SystemExit as stop:
        code = int(stop.code or 0)
    answer = json.loads(out.getvalue())
    assert isinstance(answer, dict)
    return answer, code


def test_spec_names_hosts_after_their_platform() -> None:
    document: Json = {
        "name": "x",
        "model": "m",
        "topology": "disaggregated",
        "fleet": [
            {"platform": "ascend-a3", "count": 2},
            {"platform": "ascend-a3", "name": "big", "count": 2},
        ],
        "roles": {"prefill": {"hosts": 2}},
    }
    spec, hosts, settings = parse_deployment_spec(document)
    assert [host.name for host in hosts] == [
        "ascend-a3-1",
        "ascend-a3-2",
        "big-1",
        "big-2",
    ]
    assert spec.topology is Topology.DISAGGREGATED
    assert [(role.role, role.hosts) for role in spec.roles] == [
        (Role.PREFILL, ("ascend-a3-1", "ascend-a3-2")),
        (Role.DECODE, ("big-1", "big-2")),
    ]
    assert {host.device_count for host in hosts} == {16}
    assert settings.files_only


def test_roles_may_share_hosts_by_name() -> None:
    document: Json = {
        "name": "x",
        "model": "m",
        "topology": "disaggregated",
        "fleet": [
            {
                "platform": "nvidia",
                "name": "one",
                "devices_per_host": 4,
                "device": "L40S",
            }
        ],
        "roles": {
            "prefill": {"hosts": ["one"]},
            "decode": {"hosts": ["one"], "port": 9000},
        },
    }
    spec, hosts, _settings = parse_deployment_spec(document)
    assert [role.hosts for role in spec.roles] == [("one",), ("one",)]
    assert spec.roles[1].port == 9000
    assert (hosts[0].device_count, hosts[0].device_memory_bytes) == (4, 48 * 10**9)


def test_flags_are_written_out() -> None:
    fleet: Json = [{"platform": "cpu"}]
    flags: Json = {"seed": 7, "--a": True, "b": False, "-q": "awq"}
    spec, _hosts, _settings = parse_deployment_spec(
        {"name": "x", "model": "m", "fleet": fleet, "extra_flags": flags}
    )
    assert spec.extra_flags == (
        ("--a", ""),
        ("-q", "awq"),
        ("--no-b", ""),
        ("--seed", "7"),
    )


BASE: dict[str, Json] = {
    "name": "x",
    "model": "m",
    "fleet": [{"platform": "nvidia", "count": 2}],
}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"colour": "blue"}, "colour: Unexpected keyword argument"),
        ({"fleet": []}, "wants 0 hosts, but the fleet has 0 left"),
        ({"fleet": [{"platform": "tpu"}]}, "cannot plan for the platform 'tpu'"),
        (
            {"fleet": [{"platform": "nvidia", "count": "two"}]},
            "fleet.0.count: Input should be a valid integer",
        ),
        (
            {"fleet": [{"platform": "nvidia", "count": 2, "address": "10.0.0.1"}]},
            "one address to 2 hosts",
        ),
        (
            {
                "fleet": [
                    {"platform": "nvidia", "name": "a"},
                    {"platform": "nvidia", "name": "a"},
                ]
            },
            "two hosts 'a'",
        ),
        (
            {"roles": {"combined": {"hosts": 3}}},
            "wants 3 hosts, but the fleet has 2 left",
        ),
        (
            {"roles": {"decode": {"hosts": 1}}},
            "A combined deployment has no decode role",
        ),
        (
            {"limits": {"gpu_memory_utilization": "0.923"}},
            "is not a share such as 0.92",
        ),
        ({"limits": {"gpu_memory_utilization": "most"}}, "is not a share such as 0.92"),
        ({"served_model_name": "a\u200bb"}, "invisible characters"),
        ({"topology": "sideways"}, "topology: Input should be"),
        ({"workload": {"concurrency": 1.5}}, "decimal numbers as text"),
    ],
)
def test_unusable_spec_is_one_sentence(change: dict[str, Json], sentence: str) -> None:
    with pytest.raises(PlanningError, match=sentence):
        parse_deployment_spec({**BASE, **change})


def test_nested_document_is_refused() -> None:
    from deployments.planning.caps import refuse_odd_text  # noqa: PLC0415 - one test only

    deep: Json = "x"
    for _level in range(40):
        deep = [deep]
    with pytest.raises(PlanningError, match="nested more than 32 levels"):
        refuse_odd_text(deep)


def test_command_answers_with_the_contract_keys(spec_file: Path) -> None:
    answer, code = _plan_json(str(spec_file))
    assert code == 0
    assert answer["can_submit"] is True
    assert str(answer["digest"]).startswith("sha256:")
    decision = answer["decision"]
    assert isinstance(decision, dict)
    assert decision["method"] == "mtp"
    replicas = answer["replicas"]
    assert isinstance(replicas, list)
    first = replicas[0]
    assert isinstance(first, dict)
    assert (first["host"], first["role"], first["rank"]) == (
        "ascend-a3-1",
        "prefill",
        0,
    )
    assert first["devices"] == list(range(16))
    argv = first["argv"]
    assert isinstance(argv, list)
    assert argv[:2] == ["vllm", "serve"]
    assert "0.92" in argv
    assert first["entrypoint"] is None
    mounts = first["mounts"]
    assert isinstance(mounts, list)
    assert mounts[0] == {
        "source": "${MODEL_ROOT}/GLM-5.2-w8a8",
        "target": "/models/GLM-5.2-w8a8",
        "read_only": True,
    }
    ports = first["ports"]
    assert isinstance(ports, list)
    assert ports[0] == {"host": 8100, "container": 8100, "purpose": "api"}
    files = answer["files"]
    assert isinstance(files, list)
    assert "ascend-a3-1/docker-compose.yaml" in files


def test_command_writes_the_files(spec_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    answer, _code = _plan_json(str(spec_file), "--output", str(folder))
    files = answer["files"]
    assert isinstance(files, list)
    written = {
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    }
    assert written == set(files)
    assert (folder / "ascend-a3-1" / "launch.sh").stat().st_mode & 0o111


def test_command_prints_a_short_human_answer(spec_file: Path) -> None:
    out = io.StringIO()
    call_command("plan_deployment", str(spec_file), stdout=out)
    text = out.getvalue()
    assert "Method: mtp, 3 tokens" in text
    assert "prefill 0 on ascend-a3-1" in text
    assert "Digest sha256:" in text


def test_command_exits_1_with_error_findings(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(
        LLAMA
        + "  --trust-remote-code: true\n".replace("  --", "served_model_name: x\n# --"),
        encoding="utf-8",
    )
    answer, code = _plan_json(str(path))
    assert (answer["can_submit"], code) == (True, 0)
    path.write_text(LLAMA.replace("seed: 7", "port: 7"), encoding="utf-8")
    answer, code = _plan_json(str(path))
    assert (answer["can_submit"], code) == (False, 1)


def test_command_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LLAMA.encode())))
    answer, code = _plan_json("-")
    assert code == 0
    assert answer["model"] == "meta-llama/Llama-3.1-8B-Instruct"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name: a\nname: b\n", "The key 'name' comes twice in the block at line 1"),
        ("a: &x 1\nb: *x\n", "uses a YAML alias"),
        ("a: [1\n", "The spec cannot be read at line"),
        ("- 1\n", "deployment spec cannot be read"),
        ("a: !!python/object:os.system x\n", "The spec cannot be read at line"),
        (
            "model: m\nname: x\nfleet: [{platform: cpu}]\n",
            "The catalog has no model 'm'",
        ),
        ("x: " + "[" * 1500, "The spec cannot be read"),
    ],
)
def test_bad_yaml_is_one_sentence_with_exit_code_2(
    text: str, sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError, match=sentence) as caught:
        call_command("plan_deployment", str(path))
    assert caught.value.returncode == 2


def test_unreadable_files_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        call_command("plan_deployment", str(tmp_path / "gone.yaml"))
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(CommandError, match="not UTF-8"):
        call_command("plan_deployment", str(binary))
    binary.write_bytes(b"#" * 300_000)
    with pytest.raises(CommandError, match="larger than"):
        call_command("plan_deployment", str(binary))


def test_folder_that_cannot_be_written_is_one_sentence(
    spec_file: Path, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("x", encoding="utf-8")
    with pytest.raises(CommandError, match="files cannot be written"):
        call_command("plan_deployment", str(spec_file), "--output", str(blocked))


def test_recommend_method_prints_both_ways() -> None:
    out = io.StringIO()
    call_command(
        "recommend_method", "Kimi-K2.6", "--platform", "ascend-a3", "--json", stdout=out
    )
    answer = json.loads(out.getvalue())
    assert answer["method"] == "eagle3"
    assert answer["per_role"] == {"prefill": 1, "decode": 3}
    assert {"method", "why_not"} <= set(answer["alternatives"][0])
    out = io.StringIO()
    call_command("recommend_method", "Kimi-K2.6", "--platform", "ascend-a3", stdout=out)
    assert "Drafter: lightseekorg/kimi-k2.6-eagle3" in out.getvalue()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nothing", "--platform", "nvidia"), "no model 'nothing'"),
        (("GLM-5.2", "--platform", "tpu"), "cannot plan for the platform"),
        (("GLM-5.2", "--platform", "cpu"), "no checkpoint of GLM-5.2 for cpu"),
        (
            ("GLM-5.2", "--platform", "cuda", "--engine", "vllm-ascend==0.23.0"),
            "does not run on NVIDIA",
        ),
        (
            ("GLM-5.2", "--platform", "cuda", "--checkpoint", "w1"),
            "has no checkpoint 'w1'",
        ),
    ],
)
def test_recommend_method_refuses_with_exit_code_2(
    words: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(CommandError, match=sentence) as caught:
        call_command("recommend_method", *words)
    assert caught.value.returncode == 2


def test_feature_switches_are_read_and_written() -> None:
    given: Json = {"tool_calling": False, "text_only": True}
    spec, _hosts, _settings = parse_deployment_spec({**BASE, "features": given})
    assert spec.features == (("text_only", True), ("tool_calling", False))
    assert spec_document(spec, (), None)["features"] == given
