"""Reading large logs, beside what everybody has: ``grep -c``, ``awk`` and, where it is installed, ``mtail``.

``python -m benchmarks.log_reading [--megabytes 256] [--rounds 3] [--directory DIR] [--log FILE]``
generates a mixed log or takes the one it is given, then takes turns: every tool once a round. CPU
seconds of each process count, with its start, since other programs on the machine do not change
those as much. The median of the rounds is compared; ``ratios`` says what is to be kept: ``limit``.
"""

import argparse
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

BLOCK = 32_000_000
Measured: TypeAlias = dict[str, dict[str, Any]]
MARK = "SpecDecoding metrics: "
AWK = r"/SpecDecoding metrics: / { n++ } END { print n }"
MTAIL = (
    "counter lines\ncounter accepted\ncounter drafted\n"
    r"/SpecDecoding metrics: .*Accepted: (?P<a>\d+) tokens, Drafted: (?P<d>\d+) tokens/ {"
    "\n  lines++\n  accepted += $a\n  drafted += $d\n}\n"
)
COUNT = (
    "import sys; from deployments.telemetry.logs.counting import count_acceptance\n"
    "print(count_acceptance(open(sys.argv[1], 'rb', buffering=0)).lines)"
)
READ = (
    "import sys; from deployments.telemetry.logs.reader import read_blocks\n"
    "file = open(sys.argv[1], 'rb')\n"
    "read = read_blocks(iter(lambda: file.read(1 << 20), b''))\n"
    "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
    "print(len(read.records), 'records,', int(peak.split()[1]) // 1024, 'MB')"
)
FIND = (
    "import sys; buffer, n = bytearray(1 << 18), 0\n"
    "file = open(sys.argv[1], 'rb', buffering=0)\n"
    "while got := file.readinto(buffer): n += buffer.count(b'SpecDecoding metrics: ', 0, got)\n"
    "print(n)"
)


def main() -> None:
    """Generate, measure, print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", type=Path, default=None)
    parser.add_argument("--log", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        mixed, dense = (
            options.log or Path(folder) / "mixed.log",
            Path(folder) / "dense.log",
        )
        if options.log is None:
            write_log(mixed, options.megabytes, dense=False)
        write_log(dense, max(16, options.megabytes // 4), dense=True)
        python = [sys.executable, "-c"]
        kinds = {
            "mixed": measured(ways(mixed, Path(folder)), options.rounds),
            "dense": measured(
                {
                    "count": [*python, COUNT, str(dense)],
                    "find": [*python, FIND, str(dense)],
                    "start of count": [*python, COUNT, "/dev/null"],
                    "start of find": [*python, FIND, "/dev/null"],
                },
                options.rounds,
            ),
        }
        result = {
            "megabytes": {
                "mixed": mixed.stat().st_size / 1e6,
                "dense": dense.stat().st_size / 1e6,
            },
            **kinds,
            "ratios": ratios(kinds["mixed"], kinds["dense"]),
        }
    sys.stdout.write(json.dumps(result, indent=1) + "\n")


def ways(log: Path, folder: Path) -> Mapping[str, list[str]]:
    """The commands that are compared; each prints how many acceptance lines it found first."""
    python = sys.executable
    commands = {
        "grep": ["grep", "-c", MARK, str(log)],
        "awk": ["awk", AWK, str(log)],
        "count": [python, "-c", COUNT, str(log)],
        "read_log": [python, "-c", READ, str(log)],
    }
    mtail = shutil.which("mtail")
    if mtail is None:
        sys.stderr.write(
            "mtail is not compared, since it is missing: install the Debian package mtail.\n"
        )
    else:
        (folder / "lines.mtail").write_text(MTAIL)
        commands["mtail"] = [
            mtail,
            "--one_shot",
            "--progs",
            str(folder),
            "--logs",
            str(log),
        ]
    return commands


def ratios(mixed: Measured, dense: Measured) -> Mapping[str, object]:
    """What must hold, as measured; of the log full of letters without the start of Python."""

    def spent(one: Measured, name: str) -> float:
        return float(one[name]["cpu_s"])

    plain = spent(dense, "find") - spent(dense, "start of find")
    counted = spent(dense, "count") - spent(dense, "start of count")
    found = {
        "count / grep": (spent(mixed, "count") / spent(mixed, "grep"), "<= 1.0"),
        "read_log / grep": (spent(mixed, "read_log") / spent(mixed, "grep"), "<= 8"),
        "dense count / plain search": (counted / plain, "<= 1.5"),
    }
    if "mtail" in mixed:
        more = spent(mixed, "mtail") / spent(mixed, "count")
        found["mtail / count"] = (more, ">= 30")
    return {
        name: {"value": round(value, 2), "limit": limit}
        for name, (value, limit) in found.items()
    }


def measured(commands: Mapping[str, list[str]], rounds: int) -> Measured:
    """CPU seconds of each command, median of the rounds, and what it printed."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    said: dict[str, str] = {}
    for _ in range(rounds):
        for name, command in commands.items():
            spent, said[name] = timed(command)
            seconds[name].append(spent)
    return {
        name: {"cpu_s": round(statistics.median(times), 3), "said": said[name]}
        for name, times in seconds.items()
    }


def run(command: list[str]) -> str:
    """Run a command in the C locale and return the beginning of what it printed."""
    done = subprocess.run(  # noqa: S603 - commands of this file
        command,
        capture_output=True,
        text=True,
        check=False,
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
    )
    return done.stdout.strip()[:80] or done.stderr.strip()[-200:]


def timed(command: list[str]) -> tuple[float, str]:
    """CPU seconds that the command took, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said


def write_log(path: Path, megabytes: int, *, dense: bool) -> None:
    """A block of distinct lines again and again; ``dense``: full of the letters of the marker."""
    source = random.Random(11)  # noqa: S311 - not a secret
    lines: list[str] = []
    size, wanted = 0, min(BLOCK, megabytes * 1_000_000)
    while size < wanted:
        line = _line(source, len(lines), dense=dense)
        lines.append(line)
        size += len(line)
    block = "".join(lines).encode()
    with path.open("wb") as file:
        for _ in range(max(1, megabytes * 1_000_000 // len(block))):
            file.write(block)


def _line(source: random.Random, number: int, *, dense: bool) -> str:
    stamp = f"11-29 {source.randrange(24):02d}:{source.randrange(60):02d}:{source.randrange(60):02d}"
    if number % 200 == 199:
        return _acceptance(source, stamp)
    if number % 200 == 198:
        return f"(APIServer pid=1) INFO {stamp} [loggers.py:259] Engine 000: Avg prompt throughput: {source.uniform(0, 9000):.1f} tokens/s, Running: {source.randrange(256)} reqs, Waiting: 0 reqs\n"
    letters = "SpecDecoding" * 3 + "DDDD" if dense else ""
    chance = source.random()
    if chance < 0.9:
        return f'(APIServer pid=1) INFO:     10.0.{source.randrange(256)}.{source.randrange(256)}:{source.randrange(65536)} - "POST /v1/chat/completions HTTP/1.1" 200 OK{letters}\n'
    if chance < 0.97:
        return f"(APIServer pid=1) INFO {stamp} [logger.py:40] Received request cmpl-{source.getrandbits(128):032x}-0: params: SamplingParams(temperature={source.random():.2f}){letters}\n"
    if chance < 0.999:
        return f"(EngineCore pid=129) WARNING {stamp} [scheduler.py:77] Preempted request chatcmpl-{source.getrandbits(128):032x}\n"
    return f"(EngineCore pid=129) ERROR {stamp} [core.py:710] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB.\n"


def _acceptance(source: random.Random, stamp: str) -> str:
    drafts = source.randrange(20, 9000)
    shares = [0.9 * 0.75**place * source.uniform(0.8, 1.1) for place in range(3)]
    accepted = sum(int(share * drafts) for share in shares)
    positions = ", ".join(f"{share:.3f}" for share in shares)
    return (
        f"(APIServer pid=1) INFO {stamp} [metrics.py:101] {MARK}Mean acceptance length: {1 + accepted / drafts:.2f}, "
        f"Accepted throughput: {accepted / 10:.2f} tokens/s, Drafted throughput: {drafts * 0.3:.2f} tokens/s, "
        f"Accepted: {accepted} tokens, Drafted: {drafts * 3} tokens, Per-position acceptance rate: {positions}, "
        f"Avg Draft acceptance rate: {100 * accepted / (3 * drafts):.1f}%\n"
    )


if __name__ == "__main__":
    main()
