"""Starts every part that the tests run against, and always stops all of them."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from panel.lab.processes import LabError
from panel.lab.redis_server import find_program as find_redis
from panel.lab.redis_server import own_redis
from panel.lab.translations import compile_catalogs
from tests.environment.docker_engine import PrivateEngine
from tests.environment.migrated import VARIABLE as MIGRATED
from tests.environment.packages import find_program
from tests.environment.postgres import PrivatePostgres

__all__ = ["private_parts"]

PREFIX = "dbt-"
LOCK = "lock"
ENGINES = ("docker", "docker-gw1", "docker-gw2")
"""One for each worker of a run: their tests count the containers of an engine."""
# The tests choose these themselves.
NOT_OURS = (
    "CREDENTIALS_KEY",
    "DATABASE_URL",
    "DJANGO_SETTINGS_MODULE",
    "SECRET_KEY",
    "SECRET_KEY_FILE",
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def private_parts() -> Iterator[dict[str, str]]:
    """Yield the environment of the tests while all parts run.

    Raises:
        LabError: a part cannot start here.
    """
    sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    folder.chmod(0o711)  # PostgreSQL's own user passes through
    with ExitStack() as parts:
        parts.callback(shutil.rmtree, folder, ignore_errors=True)
        lock = parts.enter_context((folder / LOCK).open("w"))
        fcntl.flock(lock, fcntl.LOCK_EX)
        compile_catalogs()
        redis_program, browser = find_redis(), find_program(*BROWSERS)
        if redis_program is None or browser is None:
            raise LabError("Redis or Chromium is missing: see tests/packages.txt.")
        redis = own_redis(folder / "redis", redis_program, folder / "redis.log")
        parts.callback(redis.child.stop)
        redis.start()
        postgres = PrivatePostgres(folder / "postgres")
        parts.callback(postgres.stop)
        postgres.start()
        engines = [PrivateEngine(folder / name) for name in ENGINES]
        for number, engine in enumerate(engines):
            engine.name = f"dbt{os.getpid() % 10**6}-{number}"
            parts.callback(engine.stop)
            engine.start()
        yield {
            **{key: value for key, value in os.environ.items() if key not in NOT_OURS},
            "CHROMIUM": str(browser),
            "DATABASE_URL_POSTGRES": postgres.url,
            "DOCKER_HOST": engines[0].url,
            "DOCKER_HOSTS": " ".join(engine.url for engine in engines),
            MIGRATED: str(folder / "migrated.sqlite3"),
            "PYTHONUNBUFFERED": "1",
            "REDIS_URL": redis.url,
            "REQUIRE_DOCKER": "1",
            "REQUIRE_REDIS": "1",
            "TMPDIR": str(_temporary(folder)),
        }


def sweep(directory: Path) -> None:
    """Take away what runs left behind that were killed."""
    for folder in directory.glob(f"{PREFIX}*"):
        try:
            with (folder / LOCK).open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # it runs, or begins or ends at this moment
            continue
        for name in ENGINES:
            engine = PrivateEngine.left_in(folder / name)
            if engine:
                engine.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _temporary(folder: Path) -> Path:
    """Return a folder for what the tests write, which goes with everything else."""
    temporary = folder / "t"
    temporary.mkdir(mode=0o1777)
    return temporary
