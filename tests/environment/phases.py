"""The phases of a full test run, and of the run that takes minutes for each test."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["PHASES", "REPORTS", "SLOW_PHASES", "Phase", "selection"]

TOP = Path(__file__).resolve().parent.parent.parent
REPORTS = TOP / "test-results"
PURE = ("tests/planning", "tests/telemetry")
ON_POSTGRES = ("tests/models", "tests/selectors", "tests/services", "tests/tasks")
FIRST_PAINT = "tests/e2e/test_page_budget.py"
RACES = "tests/services/test_race_rounds.py"
PLAIN = "not docker and not faults and not browser and not slow"
PLAIN_SLOW = "slow and not docker and not faults and not browser"


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One program to run: its name, its arguments, and how long it should take."""

    name: str
    limit_s: int
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    reports: bool = True


def pytest(name: str, *arguments: str) -> tuple[str, ...]:
    """Return the command of a pytest run that leaves a report."""
    report = f"--junitxml={REPORTS / f'{name}.xml'}"
    return (sys.executable, "-m", "pytest", "-q", report, *arguments)


def existing(*names: str) -> tuple[str, ...]:
    """Return the files and folders that are there: not every layer has tests yet."""
    return tuple(name for name in names if (TOP / name).exists())


def selection(arguments: list[str]) -> Phase:
    """Return the one phase that runs what somebody asked for."""
    command = pytest("selection", *arguments)
    return Phase(name="selection", limit_s=24 * 60, command=command)


PHASES = (
    Phase(
        name="checks",
        limit_s=2 * 60,
        command=(sys.executable, "-m", "tests.environment.checks"),
        environment={"DEBUG": "1"},
        reports=False,
    ),
    Phase(
        name="pure",
        limit_s=2 * 60,
        command=pytest("pure", "-n2", "-m", PLAIN, *existing(*PURE)),
    ),
    Phase(
        name="sqlite",
        limit_s=4 * 60,
        command=pytest(
            "sqlite",
            *("-n2", "-m", PLAIN, "--ignore=tests/e2e"),
            *(f"--ignore={folder}" for folder in PURE),
            "tests",
        ),
    ),
    Phase(
        name="postgres",
        limit_s=2 * 60,
        command=pytest("postgres", "-n2", "-m", PLAIN, *existing(*ON_POSTGRES)),
        environment={"DATABASE_URL": "DATABASE_URL_POSTGRES"},
    ),
    Phase(
        name="docker",
        limit_s=4 * 60,
        command=pytest(
            "docker",
            # They mostly wait for an engine.
            *("-n3", "--dist=loadfile", "-m", "docker and not faults and not slow"),
            *("--ignore=tests/e2e", "tests"),
        ),
    ),
    Phase(
        name="faults",
        limit_s=5 * 60,
        command=pytest(
            "faults",
            # Workers mostly start and wait; what shares the one Redis is a group.
            *("-n2", "--dist=loadgroup", "-m", "faults and not slow"),
            *("--ignore=tests/e2e", "tests"),
        ),
    ),
    Phase(
        name="browser",
        limit_s=5 * 60,
        # Walks on a real engine mostly wait, so the pages are looked at beside them.
        command=pytest(
            "browser",
            *("-n2", "--dist=loadfile", "--no-loadscope-reorder", "-m", "not slow"),
            *(f"--ignore={FIRST_PAINT}", "tests/e2e"),
        ),
    ),
    Phase(
        name="paint",
        limit_s=2 * 60,
        # Alone: whatever else runs delays the first paint.
        command=pytest("paint", FIRST_PAINT),
    ),
)

# In the order in which they find mistakes fastest, as well.
SLOW_PHASES = (
    Phase(
        name="slow-browser",
        limit_s=12 * 60,
        command=pytest(
            "slow-browser", *("-n2", "--dist=loadfile", "-m", "slow"), "tests/e2e"
        ),
    ),
    Phase(
        name="slow-plain",
        limit_s=20 * 60,
        command=pytest(
            "slow-plain", *("-n2", "-m", PLAIN_SLOW, "--ignore=tests/e2e"), "tests"
        ),
    ),
    Phase(
        name="races",
        limit_s=15 * 60,
        command=pytest("races", "-n2", RACES),
        environment={"DATABASE_URL": "DATABASE_URL_POSTGRES", "RACE_ROUNDS": "500"},
    ),
    Phase(
        name="slow-docker",
        limit_s=25 * 60,
        command=pytest(
            "slow-docker",
            *("-n2", "--dist=loadgroup", "--ignore=tests/e2e"),
            *("-m", "slow and (docker or faults)", "tests"),
        ),
    ),
)
