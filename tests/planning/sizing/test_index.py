"""Exact sizes from a published index, through the command."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from deployments.planning.errors import PlanningError
from deployments.planning.sizing.index import total_size

SPEC = """
name: chat
model: meta-llama/Llama-3.1-8B-Instruct
checkpoint: bf16
speculation: {method: "off"}
fleet: [{platform: nvidia, device: H100}]
"""


def answer(folder: Path, index: str) -> dict[str, object]:
    (folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
    (folder / "index.json").write_text(index, encoding="utf-8")
    out = io.StringIO()
    call_command(
        "plan_deployment",
        str(folder / "spec.yaml"),
        "--weights-index",
        str(folder / "index.json"),
        "--json",
        stdout=out,
    )
    (memory,) = json.loads(out.getvalue())["memory"]
    assert isinstance(memory, dict)
    return memory


def test_the_size_of_the_index_is_taken_and_called_known(tmp_path: Path) -> None:
    memory = answer(
        tmp_path, '{"metadata": {"total_size": 16060522496}, "weight_map": {"w": "f"}}'
    )
    assert memory["weights_bytes"] == 16_060_522_496
    basis = memory["basis"]
    assert isinstance(basis, dict)
    assert basis["weights"] == "known"


def test_a_file_that_is_no_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read") as caught:
        answer(tmp_path, "not JSON")
    assert caught.value.returncode == 2


@pytest.mark.parametrize("document", [None, [], {}, {"metadata": {"total_size": 0}}])
def test_an_index_without_a_size_is_refused(
    document: list[str] | dict[str, str] | None,
) -> None:
    with pytest.raises(PlanningError, match="total_size"):
        total_size(document)  # type: ignore[arg-type]
