"""Write docs/differences.md anew: ``python -m tests.planning.documented.write_differences``."""

from collections.abc import Iterator
from pathlib import Path

from tests.planning.documented.agreement import Compared, compared, situations
from tests.planning.documented.reasons import REASONS, differences, reason_for

CONTAINERS = """## One container for a host and role

The documents start all ranks of a host in one container, by hand or with `launch_online_dp.py`, which gives every rank an
API server and a port of its own. The panel has one container for a host and role too, and lets the engine start the ranks in
it (`--data-parallel-size-local`, `--data-parallel-start-rank`, `--headless`); the proxy then knows one address for each server
instead of one for each rank. A container for each rank is never planned:

- No launch in these tutorials has one, so they do not say whether ranks in containers of their own reach each other.
- The quick start asks for two dies in a container on Atlas A3. Decode with tensor parallel size 1, as DeepSeek-V3.1.md:939 and
  DeepSeek-V4-Flash.md:795 have it, could not be split at all.
- Where every rank has two dies or more, as in DeepSeek-V4-Pro.md:816, it would give nothing: the ranks of a group stand and
  fall together, so none restarts alone, and log lines and counters name the rank within one container as well."""
"""What no flag shows: how many containers there are."""
FILE = Path(__file__).resolve().parents[3] / "docs" / "differences.md"


def agreement() -> tuple[int, int]:
    """Documented flags that the plan has with the same value, and all of them."""
    documented = [one for one in compared() if one.documented is not None]
    return sum(one.agrees for one in documented), len(documented)


def page() -> str:
    """The whole page."""
    agreeing, all_flags = agreement()
    known = [one for one in situations() if one.known]
    added = [one for one in compared() if one.documented is None]
    lines = [
        "# Differences from documented launches",
        "",
        "The tutorials of vllm-ascend v0.23.0 print launch commands. For every command whose model is in the",
        "catalog the panel plans the same role on the same hardware; name, port, lengths, sequences, memory share,",
        "parallel layout, method, drafter and feature switches are given as an operator would give them. All other",
        "flags are compared in name and value, JSON as values; ports and engine ids of a transfer config and",
        "directories of weights are places of a fleet and not compared.",
        "",
        (
            f"{len(known)} commands, {all_flags} documented flags, {agreeing} the same "
            f"({100 * agreeing / all_flags:.1f} %); {len(added)} flags are the plan's own."
        ),
        "",
        "This page is written by `python -m tests.planning.documented.write_differences`; a test compares it.",
        "",
    ]
    for reason in REASONS:
        explained = [one for one in differences() if reason_for(one) is reason]
        lines += [f"## {reason.title}", "", reason.why, "", *_places(explained), ""]
    lines += [CONTAINERS, ""]
    return "\n".join(lines)


def _places(explained: list[Compared]) -> Iterator[str]:
    by_flag: dict[str, list[str]] = {}
    for one in explained:
        by_flag.setdefault(one.flag, []).append(one.situation.launch.place)
    for flag, places in sorted(by_flag.items()):
        yield f"- `{flag}` ({len(places)}): {', '.join(places)}"


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
