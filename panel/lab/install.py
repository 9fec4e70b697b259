"""Makes the virtual environment and installs a lock file into it; needs only Python.

Runs before anything is installed, and on too old Pythons to say so: no new syntax here.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
FOLDER = TOP / ".venv"
STAMP = FOLDER / ".installed"
OLDEST, NEWEST = (3, 11), (3, 13)


def main(arguments: list[str]) -> int:
    """Install requirements.txt, or with --dev requirements-dev.txt, unless it is there."""
    running = sys.version_info[:2]
    if not OLDEST <= running <= NEWEST:
        return refuse(
            "Draftboard needs Python {}.{} to {}.{}, but {} is {}.{}: name another one "
            "with PYTHON=, for example `make run PYTHON=python3.12`.".format(
                *OLDEST, *NEWEST, sys.executable, *running
            )
        )
    lock = TOP / (
        "requirements-dev.txt" if "--dev" in arguments else "requirements.txt"
    )
    if stamp(lock) in stamps():
        return 0
    return make_environment() or install(lock)


def make_environment() -> int:
    """Make .venv, anew when it belongs to another Python."""
    if is_of_this_python():
        return 0
    try:
        import ensurepip  # noqa: F401, PLC0415
        import venv  # noqa: F401, PLC0415
    except ImportError:
        package = "python{}.{}-venv".format(*sys.version_info[:2])
        return refuse(
            f"This Python cannot make virtual environments: install the package {package} "
            f"(on Debian: apt-get install {package})."
        )
    say("Making the virtual environment .venv ...")
    return run([sys.executable, "-m", "venv", "--clear", str(FOLDER)])


def install(lock: Path) -> int:
    """Install a lock file, checking every hash."""
    say(f"Installing {lock.name} ...")
    python = str(FOLDER / "bin" / "python")
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    failed = run([*command, "--require-hashes", "--requirement", str(lock)])
    if failed:
        return refuse(
            f"Installing {lock.name} failed; the lines above say why. Once installed, "
            "no network is needed any more."
        )
    runtime = TOP / "requirements.txt"  # everything in it is in the other lock too
    STAMP.write_text("\n".join((stamp(lock), stamp(runtime))) + "\n", encoding="utf-8")
    return 0


def is_of_this_python() -> bool:
    """Whether .venv holds a working interpreter of the running version."""
    python = FOLDER / "bin" / "python"
    if not python.exists():
        return False
    question = "import sys, pip; print(*sys.version_info[:3])"
    answer = subprocess.run(
        [str(python), "-c", question], capture_output=True, text=True, check=False
    )
    return answer.stdout.split() == [str(part) for part in sys.version_info[:3]]


def stamp(lock: Path) -> str:
    """Return one line that names a lock file by its content."""
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    return "{} {} python{}.{}".format(lock.name, digest, *sys.version_info[:2])


def stamps() -> list[str]:
    """Return the lines of the last installation."""
    if not STAMP.exists() or not is_of_this_python():
        return []
    return STAMP.read_text(encoding="utf-8").splitlines()


def run(command: list[str]) -> int:
    """Run a program; show what it printed only when it fails; return its exit status."""
    environment = {
        key: value for key, value in os.environ.items() if key != "PYTHONPATH"
    }
    done = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stdout.decode(errors="replace"))
    return done.returncode


def say(text: str) -> None:
    """Print a line of progress at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def refuse(text: str) -> int:
    """Print one sentence on standard error; return the exit status of a failure."""
    sys.stderr.write(text + "\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
