"""``make test`` and ``make slow``: starts private parts, runs the phases, stops all."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType

from lxml import etree

from panel.lab.processes import LabError, die_with
from tests.environment.migrated import made_meanwhile
from tests.environment.packages import require
from tests.environment.parts import private_parts
from tests.environment.phases import (
    PHASES,
    REPORTS,
    SLOW_PHASES,
    TOP,
    Phase,
    selection,
)

INTERRUPTED = 130
NO_TESTS = 5
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """Somebody asked to stop; nothing may swallow it."""


def main(arguments: Sequence[str]) -> int:
    """Run all phases (or all slow ones), or the pytest arguments given; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.environment")
    parser.add_argument("--keep-going", action="store_true")
    parser.add_argument("--slow", action="store_true")
    options, chosen = parser.parse_known_args(arguments)
    for number in STOPPING:
        signal.signal(number, _interrupt)
    shutil.rmtree(REPORTS, ignore_errors=True)
    REPORTS.mkdir()
    try:
        require()
        with private_parts() as environment:
            if chosen:
                return run_phases(
                    [selection(chosen)], environment, keep_going=options.keep_going
                )
            phases = SLOW_PHASES if options.slow else PHASES
            with made_meanwhile(environment):
                return run_phases(phases, environment, keep_going=options.keep_going)
    except LabError as error:
        _say(str(error))
        return 2
    except Interrupted:
        _say("Interrupted; everything that was started has been stopped.")
        return INTERRUPTED


def run_phases(
    phases: Sequence[Phase], environment: Mapping[str, str], *, keep_going: bool
) -> int:
    """Run one phase after the other; return the exit status of all together."""
    times: list[str] = []
    failed: list[str] = []
    for phase in phases:
        _say(f"=== {phase.name} ===")
        begin = time.monotonic()
        status = run_phase(phase, environment)
        took = time.monotonic() - begin
        word = "failed" if status else "ok"
        times.append(f"{phase.name:10} {word:7} {took:6.1f} s of {phase.limit_s} s")
        if status:
            failed.append(phase.name)
            if not keep_going:
                break
    _say("=== times ===")
    for line in times:
        _say(line)
    if failed:
        _say(f"Failed: {', '.join(failed)}.")
    _say(closing_line(REPORTS))
    return 1 if failed else 0


def run_phase(phase: Phase, environment: Mapping[str, str]) -> int:
    """Run one phase in a process group of its own; return its exit status."""
    extra = {
        # A value that names another variable is that variable's value.
        key: environment.get(value, value)
        for key, value in phase.environment.items()
    }
    child = subprocess.Popen(
        phase.command,
        cwd=TOP,
        env={**environment, **extra},
        start_new_session=True,
        preexec_fn=die_with(os.getpid()),  # noqa: PLW1509
    )
    try:
        status = child.wait(timeout=2 * phase.limit_s)
    except subprocess.TimeoutExpired:
        _say(f"The phase {phase.name} took more than twice its time and was stopped.")
        status = 1
    finally:
        _end(child)
    if status == NO_TESTS:
        _say(f"The phase {phase.name} found no test.")
    return status


def closing_line(folder: Path) -> str:
    """Sum up the reports as ``N passed, N failed, N skipped``."""
    count: Counter[str] = Counter()
    for report in folder.glob("*.xml"):
        for suite in etree.parse(report).getroot().iter("testsuite"):
            count.update(
                {key: int(suite.get(key, "0")) for key in ("tests", "skipped")}
            )
            count["failed"] += int(suite.get("failures", "0"))
            count["failed"] += int(suite.get("errors", "0"))
    passed = count["tests"] - count["failed"] - count["skipped"]
    return f"{passed} passed, {count['failed']} failed, {count['skipped']} skipped"


def _end(child: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGINT, signal.SIGKILL):
        if child.poll() is not None:
            break
        os.killpg(child.pid, number)
        try:
            child.wait(timeout=15)
        except subprocess.TimeoutExpired:
            continue
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    for number in STOPPING:  # cleaning up must not be interrupted again
        signal.signal(number, signal.SIG_IGN)
    raise Interrupted


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
