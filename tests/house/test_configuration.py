"""Files that describe the project agree with the project."""

import hashlib
import re
import tomllib
from pathlib import Path

from panel import env
from tests.house.sources import TOP


def text_of(name: str) -> str:
    """Return a file of the top folder."""
    return (TOP / name).read_text(encoding="utf-8")


def locked(name: str) -> dict[str, set[str]]:
    """Return the versions of each package in a lock file."""
    found: dict[str, set[str]] = {}
    for line in re.findall(r"^([\w.-]+)==([^\s;]+)", text_of(name), re.MULTILINE):
        found.setdefault(line[0].lower().replace("_", "-"), set()).add(line[1])
    return found


def direct_dependencies() -> set[str]:
    """Return the names in pyproject.toml, as the lock files spell them."""
    project = tomllib.loads(text_of("pyproject.toml"))
    lines = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = [re.split(r"[\[<>=!;~ ]", line, maxsplit=1)[0] for line in lines]
    return {name.lower().replace("_", "-") for name in names}


def test_example_lists_exactly_the_variables_that_are_read() -> None:
    """Settings have been imported, so every reader has been called."""
    listed = set(re.findall(r"^(\w+)=", text_of(".env.example"), re.MULTILINE))
    assert listed == env.asked_names()


def test_readme_explains_every_variable() -> None:
    """A setting nobody can find is no setting."""
    readme = text_of("README.md")
    names = {name.removesuffix("_FILE") for name in env.asked_names()}
    assert [name for name in sorted(names) if f"`{name}`" not in readme] == []


def test_development_lock_holds_the_same_versions_as_the_runtime_lock() -> None:
    """One virtual environment serves both."""
    runtime, development = locked("requirements.txt"), locked("requirements-dev.txt")
    differing = {
        name for name, versions in runtime.items() if development.get(name) != versions
    }
    assert differing == set()


def test_every_direct_dependency_is_locked_and_has_its_grounds_written_down() -> None:
    """A new dependency needs a reason in docs/dependencies.md."""
    names = direct_dependencies()
    assert names - set(locked("requirements-dev.txt")) == set()
    grounds = set(
        re.findall(r"^\| `([\w.-]+)`", text_of("docs/dependencies.md"), re.MULTILINE)
    )
    assert {name.lower().replace("_", "-") for name in grounds} == names


def test_every_locked_file_has_hashes() -> None:
    """Nothing is installed that was not seen when the lock was made."""
    for name in ("requirements.txt", "requirements-dev.txt"):
        text = text_of(name)
        entries = re.split(r"\n(?=[\w.-]+==)", text)
        assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
        assert "index-url" not in text


def test_vendored_files_are_the_published_ones() -> None:
    """Digests of static/vendor/VERSIONS.md."""
    folder = TOP / "static" / "vendor"
    rows = re.findall(
        r"^\| (\S+) \| \S+ \| \S+ \| \S+ \| ([0-9a-f]{64}) \|",
        text_of("static/vendor/VERSIONS.md"),
        re.MULTILINE,
    )
    assert {name: digest_of(folder / name) for name, _digest in rows} == dict(rows)
    others = {path.name for path in folder.iterdir()} - {name for name, _ in rows}
    assert {name for name in others if not name.endswith((".md", ".txt"))} == set()


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_readme_names_the_commands_of_the_makefile() -> None:
    """A command that is not there cannot be followed."""
    targets = set(re.findall(r"^([a-z0-9-]+):.*##", text_of("Makefile"), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z0-9-]+)", text_of("README.md")))
    assert named <= targets
    assert {"run", "test", "check", "venv", "help"} <= named
