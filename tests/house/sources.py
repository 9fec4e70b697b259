"""The project's own files, for tests that read them."""

from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
PRODUCT = ("panel", "deployments", "practice", "benchmarks")


def python_files(*folders: str) -> list[Path]:
    """Return the Python files below the folders, without migrations."""
    found = [path for folder in folders for path in (TOP / folder).rglob("*.py")]
    return sorted(path for path in found if "migrations" not in path.parts)


def name_of(path: Path) -> str:
    """Return a path as a test shows it."""
    return str(path.relative_to(TOP))
