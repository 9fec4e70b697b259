"""Values of flags: numbers that are none, numbers out of range, switches with a value."""

import functools
import itertools
import json
import re
from collections.abc import Iterator

from deployments.planning.engines.accepted import Flag, ValueKind
from deployments.planning.engines.profile import EngineProfile
from deployments.planning.importing.arguments import Argument
from deployments.planning.importing.launch import PYTHON_CALL, whole_number
from deployments.planning.importing.words import Word
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import (
    Edit,
    Hit,
    LaunchRule,
    RuleCard,
    drop_flag,
    replace_text,
    set_flag,
)
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import Text, text

SOURCES = "vLLM and vllm-ascend sources, argument parsers, 0.8.5 to 0.33.0"

_OPEN = re.compile(r"[$<>{}`*…]|\.\.\.|%[sd(]|^\s*$|^(?:None|null)$|^\[\D.*\]$")
"""What marks a value that something else fills in, or that stands for none."""
_NUMBER_KINDS = frozenset((ValueKind.INTEGER, ValueKind.SIZE, ValueKind.NUMBER))
_SUFFIXED = re.compile(r"\d+(?:\.\d+)?[kmgt]|\d+[KMGT]")
_JUDGED_ELSEWHERE = frozenset(
    ("--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size")
)
_TRUTH = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
_LIMITS: dict[str, tuple[float, float | None]] = {
    "--max-num-seqs": (1, None),
    "--max-num-scheduled-tokens": (1, None),
    "--block-size": (1, None),
    "--port": (0, 65535),
    "--master-port": (0, 65535),
    "--data-parallel-rpc-port": (1, 65535),
    "--cpu-offload-gb": (0, None),
    "--swap-space": (0, None),
    "--num-gpu-blocks-override": (0, None),
    "--max-loras": (1, None),
    "--max-lora-rank": (1, None),
    "--max-logprobs": (-1, None),
    "--max-model-len": (1, None),
    "--data-parallel-rank": (0, None),
    "--data-parallel-start-rank": (0, None),
    "--data-parallel-size-local": (0, None),
    "--nnodes": (1, None),
    "--node-rank": (0, None),
    "--decode-context-parallel-size": (1, None),
    "--prefill-context-parallel-size": (1, None),
    "--stream-interval": (1, None),
    "--long-prefill-token-threshold": (0, None),
    "--mm-processor-cache-gb": (0, None),
    "--max-num-queued-reqs": (0, None),
    "--cudagraph-capture-sizes": (1, None),
    "--video-pruning-rate": (0, 1),
}
"""Least and most that works, by flag (vLLM 0.32.0 sources: the fields of its config classes)."""


def is_open(value: str) -> bool:
    """Whether a value is filled in elsewhere, so that nothing can be said of it."""
    return _OPEN.search(value) is not None


def given(view: LaunchView) -> Iterator[tuple[Argument, str]]:
    """Flags with a value that can be judged, variables of the same input replaced."""
    if not view.launch.is_vllm or view.engine.old:
        return
    for argument in view.launch.arguments.flags:
        if argument.value is None or "." in argument.name:
            continue
        value = view.launch.scope.resolve(argument.value)
        if not is_open(value):
            yield argument, value


def _parts(flag: Flag, value: str) -> list[str]:
    return value.split() if flag.many else [value]


def _is_number(flag: Flag, value: str) -> bool:
    """Whether the parser reads the value: ``int``, ``float``, or a size such as ``32k``."""
    if len(value) > 40:
        return True
    if flag.kind is ValueKind.SIZE:
        if _SUFFIXED.fullmatch(value.strip()):
            return True
        if flag.name == "--max-model-len" and value.strip().lower() == "auto":
            return True
    try:
        if flag.kind is ValueKind.NUMBER:
            float(value)
        else:
            int(value)
    except ValueError:
        return False
    return True


def _refuses_number(name: str, value: str, profile: EngineProfile) -> bool:
    flag = profile.flag(name)
    if flag is None or flag.kind not in _NUMBER_KINDS or flag.name != name:
        return False
    return not all(_is_number(flag, one) for one in _parts(flag, value))


@RuleCard(
    code="NUMBER_NOT_READ",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text(
        "A flag takes a number, and the parser of the engine version reads none in its value."
    ),
    fix=text("Write plain digits."),
    source=SOURCES,
    versions=text(
        "by the profile of each version; --max-num-batched-tokens takes 8k since vLLM 0.9.1"
    ),
)
def not_a_number(view: LaunchView) -> Iterator[Hit]:
    """Fires on words, percent signs, units and fractions where the parser wants a number."""
    if view.launch.program == PYTHON_CALL:
        return
    for argument, value in given(view):
        name = argument.name
        if name in _JUDGED_ELSEWHERE:
            continue
        severity = view.refusal(functools.partial(_refuses_number, name, value))
        if severity is None:
            continue
        flag = (view.engine.profile or view.engine.newest).flag(name)
        whole = flag is None or flag.kind is not ValueKind.NUMBER
        meant = _meant(value, whole=whole, many=flag is not None and flag.many)
        yield Hit(
            message=text(
                "{flag} wants a whole number and gets {value}.",
                flag=name,
                value=value[:60],
            )
            if whole
            else text(
                "{flag} wants a number and gets {value}.", flag=name, value=value[:60]
            ),
            fix=text("Write {meant}.", meant=meant) if meant else None,
            severity=severity,
            evidence=value[:60],
            start=argument.start,
            edits=(set_flag(name, meant),) if meant and " " not in meant else (),
        )


def _meant(value: str, *, whole: bool, many: bool) -> str | None:
    """The number that a person wrote in another way, ``None`` where that is a guess."""
    plain = value.strip().strip("'\"")
    if many:
        numbers = re.findall(r"\d+", plain)
        only = re.fullmatch(r"[\[(]?\s*\d+(?:\s*,\s*\d+)*\s*,?\s*[\])]?", plain)
        return " ".join(numbers) if only else None
    share = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", plain)
    if share and not whole:
        return f"{float(share[1]) / 100:g}"
    if not whole:
        comma = re.fullmatch(r"(\d+),(\d+)", plain)
        return f"{comma[1]}.{comma[2]}" if comma else None
    grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+", plain)
    if grouped:
        return plain.replace(",", "")
    if re.fullmatch(r"\d+\.0+", plain):
        return plain.partition(".")[0]
    united = re.fullmatch(r"(\d+)([kKmMgG])(?:i?[bB]|tokens)?", plain)
    number = whole_number(united[1] + united[2]) if united else None
    return None if number is None else str(number)


@RuleCard(
    code="NUMBER_OUT_OF_RANGE",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text("A flag has a number with which the engine does not start."),
    fix=text("Write a number within the limits that the message names."),
    source="vLLM 0.32.0 sources, config classes",
)
def out_of_range(view: LaunchView) -> Iterator[Hit]:
    """Fires on counts below one, negative sizes, and ports that do not exist."""
    for argument, value in given(view):
        limits = _LIMITS.get(argument.name)
        if limits is None:
            continue
        least, most = limits
        for part in value.split():
            number = _number(part)
            if number is None or (number >= least and (most is None or number <= most)):
                continue
            if argument.name == "--max-model-len" and number == -1:
                continue
            yield Hit(
                message=text(
                    "{flag} is {value}; it takes {limits}.",
                    flag=argument.name,
                    value=part[:40],
                    limits=_limits(least, most),
                ),
                evidence=part[:40],
                start=argument.start,
            )
            break


def _number(value: str) -> float | None:
    whole = whole_number(value)
    if whole is not None:
        return whole
    try:
        return float(value) if len(value) <= 40 else None
    except ValueError:
        return None


def _limits(least: float, most: float | None) -> Text:
    if most is None:
        return text("{least} or more", least=f"{least:g}")
    return text("{least} to {most}", least=f"{least:g}", most=f"{most:g}")


@RuleCard(
    code="SWITCH_WITH_VALUE",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text(
        "A switch takes no value: it is on where it stands, and off with its --no- form."
    ),
    fix=text("Leave the value out; write the --no- form to switch it off."),
    source=SOURCES,
)
def switch_with_value(view: LaunchView) -> Iterator[Hit]:
    """Fires on --flag=true, --flag true and the like."""
    launch = view.launch
    if not launch.is_vllm or view.engine.old or launch.program == PYTHON_CALL:
        return
    following = _following(view)
    for argument in launch.arguments.flags:
        if "." in argument.name:
            continue
        extra = following.get(id(argument.words[-1]))
        value = argument.value if argument.attached else extra.text if extra else None
        if value is None or value.strip().lower() not in _TRUTH:
            continue
        severity = view.refusal(functools.partial(_is_switch, argument.name))
        if severity is None:
            continue
        meant = _switch(view, argument.name, on=_TRUTH[value.strip().lower()])
        yield Hit(
            message=text(
                "{flag} takes no value, and gets {value}.",
                flag=argument.written,
                value=value[:40],
            ),
            fix=text("Write {meant}.", meant=meant)
            if meant
            else text("Leave {flag} out.", flag=argument.written),
            severity=severity,
            evidence=value[:40],
            start=argument.start,
            edits=_without_value(argument, extra, meant),
        )


def _following(view: LaunchView) -> dict[int, Word]:
    """The word behind each word, where that belongs to no flag."""
    loose = {id(word) for word in view.launch.arguments.positional}
    words = view.launch.words
    pairs = itertools.pairwise(words)
    return {id(word): behind for word, behind in pairs if id(behind) in loose}


def _is_switch(name: str, profile: EngineProfile) -> bool:
    flag = profile.flag(name)
    return flag is not None and not flag.takes_value and not flag.optional


def _switch(view: LaunchView, name: str, *, on: bool) -> str | None:
    """How the version spells what was meant, ``None`` for a switch that has no other side."""
    if on:
        return name
    profile = view.engine.profile or view.engine.newest
    other = (
        f"--{name.removeprefix('--no-')}"
        if name.startswith("--no-")
        else f"--no-{name.removeprefix('--')}"
    )
    return other if profile.knows(other) else None


def _without_value(
    argument: Argument, extra: Word | None, meant: str | None
) -> tuple[Edit, ...]:
    words = [*argument.words, *([extra] if extra and not argument.attached else [])]
    if not all(word.has_place for word in words):
        return ()
    if meant is None:
        return (drop_flag(argument.name),) if argument.attached else ()
    quoted = words[0].form == "yaml"
    written = json.dumps(meant) if quoted else meant
    return (replace_text(words[0].start, words[-1].end, written),)


FLAG_VALUE_RULES: tuple[LaunchRule, ...] = (
    not_a_number,
    out_of_range,
    switch_with_value,
)
