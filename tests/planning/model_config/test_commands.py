"""plan_deployment and recommend_method for a model that only its files describe."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.planning.model_config.configs import DEEPSEEK, EAGLE3, LLAMA, index

SPEC = """
name: own
model: /data/own/My-DeepSeek
engine: vllm==0.32.0
fleet: [{platform: nvidia, count: 2, device: H200}]
limits: {max_model_len: 8192}
"""


def file(folder: Path, name: str, document: dict[str, Any] | str) -> str:
    path = folder / name
    text = document if isinstance(document, str) else json.dumps(document)
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_path_is_planned_with_its_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = index("model.layers.61.eh_proj.weight", size=688_000_000_000)

    call_command(
        "plan_deployment",
        file(tmp_path, "spec.yaml", SPEC),
        "--config-json",
        file(tmp_path, "config.json", DEEPSEEK),
        "--index-json",
        file(tmp_path, "index.json", weights),
        "--json",
    )

    answer = json.loads(capsys.readouterr().out)
    assert answer["decision"]["method"] == "mtp"
    assert {one["name"] for one in answer["asked"]} == {"parameters"}
    mounts = [mount for one in answer["replicas"] for mount in one["mounts"]]
    assert {"/data/own/My-DeepSeek"} <= {mount["source"] for mount in mounts}


def test_without_the_tensors_mtp_is_closed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command(
        "recommend_method",
        "/data/own/My-DeepSeek",
        "--platform",
        "nvidia",
        "--config-json",
        file(tmp_path, "config.json", DEEPSEEK),
        "--index-json",
        file(tmp_path, "index.json", index("model.layers.3.x", size=5)),
        "--json",
    )

    answer = json.loads(capsys.readouterr().out)
    assert answer["method"] == "ngram"
    closed = {one["method"]: one["why_not"] for one in answer["alternatives"]}
    assert "leaves the MTP layers out" in closed["mtp"]


def test_a_config_of_another_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="hidden_size is 4096") as refused:
        call_command(
            "recommend_method",
            "deepseek-ai/DeepSeek-V3.1",
            "--platform",
            "nvidia",
            "--checkpoint",
            "fp8",
            "--config-json",
            file(tmp_path, "config.json", LLAMA),
        )
    assert refused.value.returncode == 2


def test_a_drafter_is_no_target(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is a drafter's"):
        call_command(
            "recommend_method",
            "/data/own/head",
            "--platform",
            "nvidia",
            "--config-json",
            file(tmp_path, "config.json", EAGLE3),
        )


def test_a_path_without_files_says_what_to_give() -> None:
    with pytest.raises(CommandError, match="--config-json"):
        call_command("recommend_method", "/data/own/x", "--platform", "nvidia")
