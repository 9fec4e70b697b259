"""The KV cache that the planner foresees is the one that a real vLLM makes."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from deployments.planning.model_config.entry import Naming, entry_of
from deployments.planning.model_config.reading import read_model
from deployments.planning.plan import Role
from deployments.planning.planner import make_plan
from deployments.planning.revision import RevisionSpec, RoleSpec, SpeculationChoice
from deployments.planning.snapshot import ClusterSettings
from practice.vllm_cpu.install import PYTHON
from tests.planning.builders import gpu
from tests.real.rendered import ENGINE

CACHE_BYTES = 1 << 30
TOLERANCE = 0.05
PATIENCE_S = 600
SIZE = re.compile(r"KV cache size: ([\d,]+) tokens")


@pytest.mark.parametrize(
    ("folder", "method"), [("target", "ngram"), ("mtp", "mtp"), ("mtp", "off")]
)
def test_tokens_of_the_cache_are_within_five_percent(
    models: Path, tmp_path: Path, folder: str, method: str
) -> None:
    """One gibibyte divided by the planner's bytes per token, against the start-up log."""
    foreseen = CACHE_BYTES / _bytes_per_token(models / folder, method)
    real = _tokens(models / folder, method, tmp_path / "server.log")
    assert foreseen == pytest.approx(real, rel=TOLERANCE)


def _bytes_per_token(folder: Path, method: str) -> int:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    naming = Naming(
        key="tiny/model",
        name="Tiny",
        family="tiny",
        checkpoint="bf16",
        repository="tiny/model",
        directory=folder.name,
        platforms=("nvidia",),
    )
    role = RoleSpec(role=Role.COMBINED, hosts=("gpu-1",), tensor_parallel_size=1)
    spec = RevisionSpec(
        name="tiny",
        model="tiny/model",
        roles=(role,),
        engine=ENGINE,
        speculation=SpeculationChoice(method=method, num_speculative_tokens=None),
    )
    model = entry_of(read_model(config), naming)
    (memory,) = make_plan(spec, model, [gpu()], ClusterSettings()).memory
    assert memory.kv_bytes_per_token is not None
    return memory.kv_bytes_per_token


def _tokens(folder: Path, method: str, log: Path) -> int:
    """Start the server until it says how many tokens its cache holds."""
    command = [str(PYTHON.with_name("vllm")), "serve", str(folder), "--enforce-eager"]
    command += ["--max-model-len", "1024", "--max-num-seqs", "8", "--port", "0"]
    if method != "off":
        config = {"method": method, "num_speculative_tokens": 1}
        command += ["--speculative-config", json.dumps(config)]
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "VLLM_CPU_KVCACHE_SPACE": str(CACHE_BYTES >> 30),
        "VLLM_NO_USAGE_STATS": "1",
    }
    with log.open("wb") as output:
        server = subprocess.Popen(
            command,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return _said(server, log)
        finally:
            # While it starts it does not listen to SIGTERM.
            os.killpg(server.pid, 9)
            server.wait()


def _said(server: "subprocess.Popen[bytes]", log: Path) -> int:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        found = SIZE.search(log.read_text(encoding="utf-8", errors="replace"))
        if found:
            return int(found.group(1).replace(",", ""))
        if server.poll() is not None:
            break
        time.sleep(0.5)
    pytest.fail(f"The server said nothing of its cache:\n{log.read_text()[-3000:]}")
