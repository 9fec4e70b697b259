"""Talks to ``engine_side.py``, which runs inside vLLM's own environment: a JSON line each way."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from practice.vllm_cpu.install import HOME, PYTHON

SIDE = Path(__file__).with_name("engine_side.py")


class RealEngine:
    """A running vLLM that parses and checks, and serves nothing."""

    def __init__(self, log: Path, configs: Path) -> None:
        self.log = log.open("wb")
        self.configs = configs
        configs.mkdir(parents=True)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(HOME),
            "HF_HUB_OFFLINE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "VLLM_LOGGING_LEVEL": "ERROR",
        }
        self.process = subprocess.Popen(
            [str(PYTHON), str(SIDE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=environment,
            cwd=configs,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self.process.stdin and self.process.stdout:
            self.process.stdin.close()
            self.process.wait(timeout=60)
            self.process.stdout.close()
        self.log.close()

    def refusal(self, command: Sequence[str]) -> str | None:
        """Why ``vllm serve ...`` refuses the arguments; ``None`` when it takes them."""
        answer: str | None = self._ask({"parse": list(command)})["refusal"]
        return answer

    def speculative_refusal(
        self,
        config: Mapping[str, Any],
        target: Path,
        *,
        tensor_parallel_size: int = 1,
    ) -> str | None:
        """Why vLLM refuses the speculative config for the target; ``None`` when it takes it."""
        asked = {
            "speculative": dict(config),
            "target": str(target),
            "tensor_parallel_size": tensor_parallel_size,
        }
        answer: str | None = self._ask(asked)["refusal"]
        return answer

    def flags(self) -> list[dict[str, Any]]:
        """Every argument of ``vllm serve``: names, choices, number of values, kind."""
        found: list[dict[str, Any]] = self._ask({"flags": True})["flags"]
        return found

    def keys(self) -> dict[str, Any]:
        """Every key of the speculative config with its default as JSON, and the methods."""
        return self._ask({"keys": True})

    def model(self, name: str, config: Mapping[str, Any]) -> Path:
        """Write a configuration without weights; return its folder."""
        folder = self.configs / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        return folder

    def _ask(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin
        assert stdout
        stdin.write(json.dumps(asked).encode() + b"\n")
        stdin.flush()
        line = stdout.readline()
        assert line, f"vLLM ended: {Path(str(self.log.name)).read_text()[-2000:]}"
        answer: dict[str, Any] = json.loads(line)
        return answer
