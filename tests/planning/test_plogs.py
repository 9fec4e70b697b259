"""Plogs: a host directory for each replica, bounds that CANN keeps, and old files that go."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from deployments.planning.errors import PlanningError
from deployments.planning.plogs import FILES_KEPT, PLOGS, PRUNE, read_log_root
from tests.planning.builders import a3, apart, combined, decode, gpu, plan, prefill

FLASH = "deepseek-ai/DeepSeek-V4-Flash"
LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def test_cann_writes_into_the_directory_and_bounds_each_process() -> None:
    ascend = plan(combined(FLASH, "a"), a3("a")).replicas[0].container
    (logs,) = ascend.log_directories
    assert logs.source == "/var/log/draftboard/chat/combined-0"
    environment = dict(ascend.environment)
    assert environment["ASCEND_PROCESS_LOG_PATH"] == logs.target
    assert environment["ASCEND_HOST_LOG_FILE_NUM"] == "3"


def test_other_platforms_have_no_plogs() -> None:
    container = plan(combined(LLAMA, "gpu-1"), gpu()).replicas[0].container
    assert container.log_directories == ()
    assert container.entrypoint == ()


def test_each_replica_has_plogs_of_its_own_below_the_root_of_the_cluster() -> None:
    hosts = [a3("a"), a3("b", "10.0.0.2")]
    name = "long-" * 20
    sources = []
    for number in (1, 123):
        spec = replace(apart("zai-org/GLM-5.2", prefill("a"), decode("b")), name=name)
        made = plan(replace(spec, number=number), *hosts, log_root="/logs/")
        sources.append(
            [
                directory.source
                for replica in made.replicas
                for directory in replica.container.log_directories
            ]
        )
    assert sources[0] == sources[1]
    assert [one.rsplit("/", 1)[1] for one in sources[0]] == ["prefill-0", "decode-0"]
    assert all(one.startswith("/logs/long-long-") for one in sources[0])


def test_old_plogs_are_deleted_before_the_engine_starts(tmp_path: Path) -> None:
    spec = combined("deepseek-ai/DeepSeek-V4-Flash", "a")
    container = plan(spec, a3("a")).replicas[0].container
    (logs,) = container.log_directories
    folder = tmp_path / "debug" / "plog"
    folder.mkdir(parents=True)
    for age in range(FILES_KEPT + 5):
        path = folder / f"plog-{age}_2026.log"
        path.touch()
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    (folder / "other").touch()
    shell, option, line, name = container.entrypoint
    line = line.replace(logs.target, str(tmp_path))
    command = [shell, option, line, name, "printf", "%s,", "vllm", "a b"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("vllm,a b,", "")
    kept = {path.name for path in folder.iterdir()}
    assert kept == {f"plog-{age}_2026.log" for age in range(FILES_KEPT)} | {"other"}


def test_a_directory_without_plogs_does_not_stop_the_engine(tmp_path: Path) -> None:
    line = f'{PRUNE.replace(PLOGS, str(tmp_path))}; exec "$@"'
    command = ["sh", "-c", line, "sh", "echo", "up"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("up\n", "")


def test_a_root_in_a_spec_is_a_plain_absolute_path() -> None:
    assert read_log_root("/data/logs/") == "/data/logs"
    for path in ("", "/", "logs", "/a:b", "/a b", "/a/../b", "/a/./b", "//a"):
        with pytest.raises(PlanningError, match="log_root is the directory"):
            read_log_root(path)
