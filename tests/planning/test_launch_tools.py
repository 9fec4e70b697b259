"""What others say about the exported files: ShellCheck of launch.sh, Compose of the compose file."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from deployments.planning.launch.files import launch_files
from deployments.planning.plan import Plan
from deployments.planning.variables import EXPLANATIONS
from tests.environment.packages import LIST, find_program, read_packages
from tests.planning.builders import a3, apart, decode, plan, prefill
from tests.planning.cases import CASES


def _unknown_addresses() -> Plan:
    """Nobody told the panel where the hosts are: the files ask for it in .env."""
    hosts = [
        a3(name, None, interface=None, model_root=None) for name in ("a3-01", "a3-02")
    ]
    return plan(
        apart("moonshotai/Kimi-K2.6", prefill("a3-01"), decode("a3-02")), *hosts
    )


MADE = {**CASES, "unknown-addresses": _unknown_addresses}


def _program(package: str) -> str:
    listed = read_packages(LIST.read_text(encoding="utf-8"))
    programs = next(one.programs for one in listed if one.name == package)
    found = find_program(*programs)
    assert found, f"install {package} as tests/packages.txt says"
    return str(found)


def _write(made: Plan, folder: Path) -> list[Path]:
    for name, text in launch_files(made):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [path.parent for path in sorted(folder.glob("*/launch.sh"))]


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_shellcheck_finds_nothing_in_a_launch_script(
    tmp_path: Path, make: Callable[[], Plan]
) -> None:
    """Every severity counts, style included."""
    folders = _write(make(), tmp_path)
    assert folders
    command = [_program("shellcheck"), "--severity=style", "--format=gcc"]
    done = subprocess.run(
        [*command, *(str(folder / "launch.sh") for folder in folders)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_compose_reads_the_exported_file_without_a_word(
    tmp_path: Path, make: Callable[[], Plan]
) -> None:
    """Nothing deprecated, nothing unset once .env is filled in, and the command arrives word by word."""
    made = make()
    folders = _write(made, tmp_path)
    assert folders
    for folder in folders:
        filled = (folder / ".env.example").read_text(encoding="utf-8")
        for name in EXPLANATIONS:
            filled = filled.replace(f"{name}=", f"{name}=/known")
        (folder / ".env").write_text(filled, encoding="utf-8")
        done = subprocess.run(
            [_program("docker-compose"), "config", "--format", "json"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        services = json.loads(done.stdout)["services"]
        planned = {
            replica.container.name: list(replica.container.command)
            for replica in made.replicas
            if replica.host == folder.name
        }
        read = {name: service["command"] for name, service in services.items()}
        assert set(read) == set(planned)
        for name, command in planned.items():
            if "${" not in "".join(command):
                # A lone $ is written doubled again in what Compose prints.
                assert [word.replace("$$", "$") for word in read[name]] == command
