"""The static checks: format, lint, contracts, types, deployment settings, migrations."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.environment.phases import existing

__all__ = ["CHECKS", "Check", "main"]

TOP = Path(__file__).resolve().parent.parent.parent
BIN = Path(sys.executable).parent
CODE = ("manage.py", "panel", "deployments", "practice", "benchmarks", "tests")
LIKE_PRODUCTION = {
    "DEBUG": "0",
    "CREDENTIALS_KEY": "Y2hlY2tlZCBvbmx5OiBubyBzZWNyZXRzIGhlcmUgISE=",
    "SECRET_KEY": "checked-with-a-long-key-that-is-never-used-0123456789-abcdefgh",
    "DATABASE_URL": "postgresql://panel@localhost/panel",
    "REDIS_URL": "redis://panel:secret@redis:6379/0",
    "ALLOWED_HOSTS": "panel.example",
    "SERVED_OVER_HTTPS": "1",
    "TRUSTED_PROXY_COUNT": "1",
}


@dataclass(frozen=True, kw_only=True)
class Check:
    """One program that must succeed."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


def _tool(name: str, *arguments: str) -> list[str]:
    return [str(BIN / name), *arguments]


def _manage(*arguments: str) -> list[str]:
    return [sys.executable, "manage.py", *arguments]


def _templates() -> list[str]:
    found = sorted(TOP.glob("templates/**/*.html"))
    return [str(path.relative_to(TOP)) for path in found]


CHECKS = (
    Check(name="format", command=_tool("ruff", "format", "--check", "--quiet", ".")),
    Check(name="lint", command=_tool("ruff", "check", "--quiet", ".")),
    Check(
        name="templates",
        command=_tool("djade", "--target-version", "5.2", "--check", *_templates()),
    ),
    Check(name="contracts", command=_tool("lint-imports", "--no-cache")),
    Check(name="types", command=_tool("mypy", *existing(*CODE))),
    Check(
        name="deployment",
        command=_manage("check", "--deploy", "--fail-level", "WARNING"),
        environment=LIKE_PRODUCTION,
    ),
    Check(name="migrations", command=_manage("makemigrations", "--check", "--dry-run")),
)


def main() -> int:
    """Run all checks, show the output of those that fail; return the exit status."""
    failed = [check.name for check in CHECKS if not _succeeds(check)]
    if failed:
        _say(f"Failed: {', '.join(failed)}.")
        return 1
    _say("All checks passed.")
    return 0


def _succeeds(check: Check) -> bool:
    begin = time.monotonic()
    done = subprocess.run(
        check.command,
        cwd=TOP,
        env={**os.environ, "DEBUG": "1", **check.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    word = "failed" if done.returncode else "ok"
    _say(f"{check.name:12} {word:7} {time.monotonic() - begin:5.1f} s")
    if done.returncode:
        _say(done.stdout.rstrip())
    return done.returncode == 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
