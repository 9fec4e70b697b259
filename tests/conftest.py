"""What every test may rely on: settings for tests, and the addresses of real parts."""

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import django
import hypothesis
import pytest

# A folder of its own: two runs in one checkout must not share a database file.
if "DATABASE_URL" not in os.environ:
    _folder = tempfile.mkdtemp(prefix="draftboard-tests-")
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    os.environ["DATABASE_URL"] = f"sqlite:///{_folder}/tests.sqlite3"
# Each worker of a run has an engine of its own.
_engines = os.environ.get("DOCKER_HOSTS", "").split()
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
if _engines:
    os.environ["DOCKER_HOST"] = _engines[_worker % len(_engines)]
os.environ.setdefault("DEBUG", "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "panel.settings")
django.setup()

# A busy machine is no mistake of the code; tests of speed measure it themselves.
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.load_profile("house")


@pytest.fixture(scope="session", autouse=True)
def _settings_for_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Serve static files unhashed, and hash passwords fast."""
    from django.test import override_settings  # noqa: PLC0415

    storage = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    files = {"BACKEND": "django.core.files.storage.InMemoryStorage"}
    with override_settings(
        STATIC_ROOT=str(tmp_path_factory.mktemp("static")),
        STORAGES={"default": files, "staticfiles": storage},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    ):
        yield


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings: None) -> Iterator[bool]:
    """Begin with a copy of the database that the run migrated once; it goes with its folder."""
    from django.db import connection, connections  # noqa: PLC0415

    from tests.environment.migrated import migrated_copy  # noqa: PLC0415

    name = connection.settings_dict["TEST"]["NAME"]
    yield connection.vendor == "sqlite" and migrated_copy(Path(name))
    connections.close_all()


@pytest.fixture(scope="session", autouse=True)
def _tables_can_be_emptied() -> Iterator[None]:
    """Let tests that commit empty the tables whose rows nobody can remove."""
    from tests.emptying import tables_can_be_emptied  # noqa: PLC0415

    with tables_can_be_emptied():
        yield


@pytest.fixture(autouse=True)
def _english() -> None:
    """Begin each test in English: a request of the one before leaves its language active."""
    from django.utils import translation  # noqa: PLC0415

    translation.activate("en")


@pytest.fixture(autouse=True)
def _rows_are_numbered_from_nought() -> None:
    """Start the numbers of the factories anew: what a test makes is not told by its place."""
    if "tests.factories" not in sys.modules:
        return
    from factory.base import Factory  # noqa: PLC0415

    kinds = list(Factory.__subclasses__())
    while kinds:
        kind = kinds.pop()
        kind.reset_sequence(0, force=True)
        kinds += kind.__subclasses__()


def _address(variable: str, part: str, *, needed: bool) -> str:
    value = os.environ.get(variable, "")
    if not value and needed:
        pytest.fail(f"{variable} is not set, but this run needs {part}.")
    if not value:
        pytest.skip(f"{variable} is not set: run `make test`, which starts {part}.")
    return value


@pytest.fixture(scope="session")
def docker_host() -> str:
    """Address of a Docker Engine that tests may fill; REQUIRE_DOCKER=1 insists on it."""
    needed = os.environ.get("REQUIRE_DOCKER") == "1"
    return _address("DOCKER_HOST", "a private Docker Engine", needed=needed)


@pytest.fixture(scope="session")
def redis_url() -> str:
    """Address of a Redis that tests may flush; REQUIRE_REDIS=1 insists on it."""
    needed = os.environ.get("REQUIRE_REDIS") == "1"
    return _address("REDIS_URL", "a private Redis", needed=needed)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The top folder of the project."""
    return Path(__file__).resolve().parent.parent
