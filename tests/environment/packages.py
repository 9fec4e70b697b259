"""What the tests need from the system, and how it gets there."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from panel.lab.processes import LabError

__all__ = ["Package", "find_program", "missing_packages", "read_packages", "require"]

LIST = Path(__file__).resolve().parent.parent / "packages.txt"


@dataclass(frozen=True, kw_only=True)
class Package:
    """A Debian package, and the programs of which one proves that it is there."""

    name: str
    programs: tuple[str, ...]


def read_packages(text: str) -> list[Package]:
    """Parse the list; everything behind ``#`` is a comment."""
    rows = (line.partition("#")[0].split() for line in text.splitlines())
    return [Package(name=row[0], programs=tuple(row[1:])) for row in rows if row]


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


def missing_packages(packages: list[Package]) -> list[str]:
    """Return the names of those of which no program is there."""
    return [package.name for package in packages if not find_program(*package.programs)]


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
            f"The tests need {', '.join(missing)}: install them (the names are Debian's) "
            "and try again; as root on Debian `make test` installs them itself."
        )
    sys.stdout.write(f"Installing {' '.join(missing)} ...\n")
    sys.stdout.flush()
    environment = {
        **os.environ,
        "DEBIAN_FRONTEND": "noninteractive",
        "RUNLEVEL": "1",
    }
    install = ["install", "-q", "-y", "--no-install-recommends", *missing]
    for step in (["update", "-q"], install):
        done = subprocess.run(
            [apt, *step],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode:
            end = done.stdout.decode(errors="replace")[-2000:]
            raise LabError(f"apt-get {step[0]} failed:\n{end}")
    still = missing_packages(packages)
    if still:
        raise LabError(f"Installed, but not to be found: {', '.join(still)}.")


def _version(path: Path) -> list[int]:
    return [int(part) for part in path.parts if part.isdecimal()]
