"""The SQLite database that the migrations make once for a whole run, for everybody to copy.

Each worker of each phase, and each panel that a test starts, would run all of them otherwise.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from panel.lab.processes import die_with

__all__ = ["VARIABLE", "made_meanwhile", "migrated_copy"]

VARIABLE = "MIGRATED_DATABASE"
"""Names the file in the environment of a run; without it nothing is kept."""
TOP = Path(__file__).resolve().parent.parent.parent


def migrated_copy(target: Path) -> bool:
    """Put a copy of the run's database there; false where the run keeps none.

    Who comes first has the migrations make it, and the others wait for that.

    Raises:
        RuntimeError: the migrations failed; the message is what they printed.
    """
    kept = os.environ.get(VARIABLE)
    if not kept:
        return False
    shutil.copyfile(_made(Path(kept)), target)
    return True


@contextmanager
def made_meanwhile(environment: Mapping[str, str]) -> Iterator[None]:
    """Have it made by a process beside what is done in the block."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.environment.migrated"],
        cwd=TOP,
        env=dict(environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # whoever asks for a copy is told what went wrong
        preexec_fn=die_with(os.getpid()),  # noqa: PLW1509
    )
    try:
        yield
    finally:
        child.kill()
        child.wait()


def _made(database: Path) -> Path:
    with database.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not database.exists():
            draft = database.with_suffix(".draft")
            _migrate(draft)
            draft.rename(database)
    return database


def _migrate(database: Path) -> None:
    for left in database.parent.glob(f"{database.name}*"):
        left.unlink()
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity=0"],
        cwd=TOP,
        env={**os.environ, "DATABASE_URL": f"sqlite:///{database}", "DEBUG": "1"},
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"The migrations failed:\n{done.stderr}")


if __name__ == "__main__":
    _made(Path(os.environ[VARIABLE]))
