"""What the tests need from the system, and how it gets there."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from panel.lab.processes import LabError
from tests.environment.later_release import install_from, is_older_than

__all__ = ["Package", "find_program", "missing_packages", "read_packages", "require"]

LIST = Path(__file__).resolve().parent.parent / "packages.txt"


@dataclass(frozen=True, kw_only=True)
class Package:
    """A Debian package, and the programs of which one proves that it is there.

    ``release`` is the first one of Debian whose package is new enough, where that matters.
    """

    name: str
    programs: tuple[str, ...]
    release: str | None = None


def read_packages(text: str) -> list[Package]:
    """Parse the list; everything behind ``#`` is a comment."""
    rows = (line.partition("#")[0].split() for line in text.splitlines())
    return [_package(row) for row in rows if row]


def find_program(*names: str) -> Path | None:
    """Return the first that exists; of a pattern the newest version."""
    for name in names:
        if name.startswith("/"):
            paths = sorted(Path("/").glob(name.removeprefix("/")), key=_version)
            if paths:
                return paths[-1]
        elif found := shutil.which(name):
            return Path(found)
    return None


def missing_packages(packages: list[Package]) -> list[Package]:
    """Return those of which no program is there."""
    return [package for package in packages if not find_program(*package.programs)]


def require() -> None:
    """Install what is missing as root on Debian; refuse to go on anywhere else.

    Raises:
        LabError: something is missing and cannot be installed here.
    """
    packages = read_packages(LIST.read_text(encoding="utf-8"))
    missing = missing_packages(packages)
    if not missing:
        return
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        raise LabError(
            f"The tests need {_names(missing)}: install them (the names are Debian's) "
            "and try again; as root on Debian `make test` installs them itself."
        )
    sys.stdout.write(f"Installing {_names(missing)} ...\n")
    sys.stdout.flush()
    later = [one for one in missing if one.release and is_older_than(one.release)]
    here = [one.name for one in missing if one not in later]
    if here:
        install = ["install", "-q", "-y", "--no-install-recommends", *here]
        for step in (["update", "-q"], install):
            _run([apt, *step])
    for one in later:
        install_from(one.release or "", one.name, run=_run)
    still = missing_packages(packages)
    if still:
        raise LabError(f"Installed, but not to be found: {_names(still)}.")


def _package(row: list[str]) -> Package:
    name, _at, release = row[0].partition("@")
    return Package(name=name, programs=tuple(row[1:]), release=release or None)


def _names(packages: list[Package]) -> str:
    return ", ".join(package.name for package in packages)


def _run(command: list[str]) -> str:
    """Run one step of an installation; return what it printed."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    done = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    said = done.stdout.decode(errors="replace")
    if done.returncode:
        raise LabError(f"`{' '.join(command[:3])} ...` failed:\n{said[-2000:]}")
    return said


def _version(path: Path) -> list[int]:
    return [int(part) for part in path.parts if part.isdecimal()]
