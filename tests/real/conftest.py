"""The real vLLM beside the tests; nothing here is collected without it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from practice.vllm_cpu.install import MODELS
from tests.real.engine import RealEngine

collect_ignore_glob = [] if os.environ.get("CHECK_VLLM") == "1" else ["test_*.py"]


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealEngine]:
    """Its parser and its checks of speculative configs, ready to answer."""
    folder: Path = tmp_path_factory.mktemp("engine")
    with RealEngine(folder / "engine.log", folder / "configs") as running:
        yield running


@pytest.fixture(scope="session")
def models() -> Path:
    """The tiny models that ``make tiny-models`` made."""
    return MODELS
