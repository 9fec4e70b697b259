"""What the tests' own environment promises: packages, sums, sweeping up."""

import os
from pathlib import Path

import pytest

from panel.lab.processes import LabError
from tests.environment import packages
from tests.environment.__main__ import closing_line
from tests.environment.docker_engine import STATE, PrivateEngine
from tests.environment.later_release import install_from, is_older_than
from tests.environment.parts import LOCK, PREFIX, sweep
from tests.house.sources import TOP


def test_every_listed_package_names_a_program_that_proves_it() -> None:
    """Else it would be installed anew in every run, or never."""
    listed = packages.read_packages((TOP / "tests/packages.txt").read_text("utf-8"))
    assert {"docker.io", "redis-server", "postgresql", "chromium"} <= {
        package.name for package in listed
    }
    assert [package.name for package in listed if not package.programs] == []


def test_newest_version_of_a_program_is_taken(tmp_path: Path) -> None:
    """9 is older than 15, whatever the alphabet says."""
    for version in ("9", "15"):
        program = tmp_path / version / "bin" / "postgres"
        program.parent.mkdir(parents=True)
        program.touch()
    found = packages.find_program(f"{tmp_path}/*/bin/postgres")
    assert found == tmp_path / "15" / "bin" / "postgres"


def test_machine_that_may_not_install_is_told_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One sentence with all names at once."""
    listed = tmp_path / "packages.txt"
    listed.write_text("one no-such-program-1 # why\ntwo no-such-program-2\n", "utf-8")
    monkeypatch.setattr(packages, "LIST", listed)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(LabError, match="The tests need one, two: install them"):
        packages.require()


@pytest.mark.parametrize(
    ("written", "older"),
    [
        ("ID=debian\nVERSION_CODENAME=bookworm\n", True),
        ("ID=debian\nVERSION_CODENAME=trixie\n", False),
        ("ID=debian\n", False),
        ("ID=ubuntu\nVERSION_CODENAME=noble\n", False),
    ],
)
def test_only_an_older_debian_takes_a_package_of_a_later_one(
    tmp_path: Path, *, written: str, older: bool
) -> None:
    """Everywhere else the ordinary package is asked for."""
    listed = packages.read_packages("compose@trixie /bin/compose\n")
    assert [one.release for one in listed] == ["trixie"]
    release = tmp_path / "os-release"
    release.write_text(written, encoding="utf-8")
    assert is_older_than("trixie", release) is older


def test_package_of_a_later_release_leaves_the_machine_s_lists_alone() -> None:
    """It comes from the machine's own mirror, with lists of its own."""
    ran: list[list[str]] = []
    sources: list[str] = []

    def run(command: list[str]) -> str:
        ran.append(command)
        for word in command:
            folder = word.removeprefix("Dir::Etc::SourceParts=")
            if folder != word and "update" in command:
                sources.extend(
                    path.read_text("utf-8") for path in Path(folder).iterdir()
                )
        listed = "http://other/ Other main\nhttp://mirror/debian/ Debian main\n"
        return listed if "indextargets" in command else ""

    install_from("trixie", "compose", run=run)
    assert [text.splitlines()[1:3] for text in sources] == [
        ["URIs: http://mirror/debian/", "Suites: trixie"]
    ]
    fetching = [command for command in ran if "apt-get" in command[:4]][1:]
    assert len(fetching) == 2
    assert all("Dir::Etc::SourceList=/dev/null" in command for command in fetching)


def test_reports_are_summed_up_in_one_line(tmp_path: Path) -> None:
    """An error counts as a failure."""
    for name, counts in (
        ("a", 'tests="5" failures="1" errors="1" skipped="1"'),
        ("b", 'tests="2" failures="0" errors="0" skipped="0"'),
    ):
        text = f"<testsuites><testsuite {counts}/></testsuites>"
        (tmp_path / f"{name}.xml").write_text(text, encoding="utf-8")
    assert closing_line(tmp_path) == "4 passed, 2 failed, 1 skipped"


def test_what_a_killed_run_left_is_swept_up_and_a_running_one_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The owner's lock tells them apart."""
    stopped: list[str] = []
    monkeypatch.setattr(PrivateEngine, "stop", lambda self: stopped.append(self.name))
    dead, starting = tmp_path / f"{PREFIX}dead", tmp_path / f"{PREFIX}starting"
    (dead / "docker").mkdir(parents=True)
    (dead / LOCK).touch()
    state = '{"name": "dbt1-2", "network": "10.200.0.0/16"}'
    (dead / "docker" / STATE).write_text(state, encoding="utf-8")
    starting.mkdir()
    sweep(tmp_path)
    assert stopped == ["dbt1-2"]
    assert (dead.exists(), starting.exists()) == (False, True)
