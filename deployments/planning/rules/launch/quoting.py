"""Quotes, braces, backslashes and comments: what reached the engine is not what was meant."""

import json
import re
from collections.abc import Iterator

from deployments.planning.canonical import Json
from deployments.planning.engines.accepted import ValueKind
from deployments.planning.engines.profile import EngineProfile
from deployments.planning.importing.arguments import Argument
from deployments.planning.importing.json_repair import Damage, read_json
from deployments.planning.importing.launch import PYTHON_CALL, whole_number
from deployments.planning.importing.speculation import FLAG
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.flag_values import is_open
from deployments.planning.rules.launch.rule import (
    Edit,
    Hit,
    LaunchRule,
    RuleCard,
    set_flag,
)
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import Text, text
from deployments.planning.versions import Version

COMPILATION = "--compilation-config"
PAIRED = "--limit-mm-per-prompt"
SPECULATIVE = ("--speculative-config", "--speculative-model")
JSON_FLAGS = (
    COMPILATION,
    "--kv-transfer-config",
    "--additional-config",
    "--hf-overrides",
)
OBJECTS = frozenset(
    (
        COMPILATION,
        "--attention-config",
        "--ec-transfer-config",
        "--eplb-config",
        "--kernel-config",
        "--kv-events-config",
        "--kv-transfer-config",
        "--pooler-config",
        "--profiler-config",
        "--structured-outputs-config",
    )
)
"""Flags whose JSON becomes a config class: an object, in which vLLM reads 80m as a number."""
_NO_PAIRS = Version((0, 10, 0))
"""Since this release --limit-mm-per-prompt takes JSON only (vLLM sources, 0.8.5 to 0.33.0)."""
_NO_BARE_LEVEL = Version((0, 10, 1))
"""Since this release a number alone is read behind -O only (vLLM sources, 0.8.5 to 0.33.0)."""
_SIZE = re.compile(r"\b\d+[kKmMgG]\b")
READ = "vLLM 0.32.0, run with damaged values; ArcticInference#29"
_CAUSES = {
    Damage.QUOTES_INSIDE: text(
        "the value begins with a quote character: one pair of quotes too many"
    ),
    Damage.BACKSLASHES: text(
        "backslashes stand before the quotes and reach the engine"
    ),
    Damage.QUOTES_EATEN: text(
        "the shell took the double quotes or expanded the braces"
    ),
    Damage.SINGLE_QUOTES: text(
        "keys and texts stand in single quotes; JSON wants double quotes"
    ),
    Damage.SMART_QUOTES: text(
        "typographic quotes stand where JSON wants straight ones"
    ),
    Damage.PYTHON_WORDS: text(
        "True, False or None are Python; JSON wants true, false or null"
    ),
    Damage.TRAILING_COMMA: text("a comma stands before a closing bracket"),
    Damage.TEXT_BEHIND: text("other text stands behind the object"),
    Damage.SPLIT: text(
        "the shell split it at its blanks: it, or the variable that holds it, stands without quotes"
    ),
    Damage.BRACE_MISSING: text("a closing brace is missing"),
    Damage.OTHER: text("it is no JSON object"),
}


def cause_of(damage: Damage) -> Text:
    """Say what happened to a value."""
    return _CAUSES[damage]


@RuleCard(
    code="SPEC_JSON_INVALID",
    category="quoting",
    severity=Severity.ERROR,
    summary=text(
        "The value of --speculative-config is not a JSON object when it reaches the engine."
    ),
    fix=text(
        "Put the JSON in one pair of single quotes, with double quotes inside and nothing escaped."
    ),
    source=READ,
)
def spec_json(view: LaunchView) -> Iterator[Hit]:
    """Fires on a speculative config that does not parse."""
    speculation = view.speculation
    if speculation is None or speculation.damage is None:
        return
    argument = speculation.argument
    edits: tuple[Edit, ...] = ()
    if speculation.config and argument is not None:
        edits = (set_flag(FLAG, json.dumps(speculation.config, separators=(",", ":"))),)
    yield Hit(
        message=text(
            "The value of --speculative-config does not parse as a JSON object: {cause}.",
            cause=cause_of(speculation.damage),
        ),
        evidence=(argument.value or "")[:200] if argument else "",
        start=view.spec_place,
        edits=edits,
    )


@RuleCard(
    code="FLAG_JSON_INVALID",
    category="quoting",
    severity=Severity.ERROR,
    summary=text("A flag that takes JSON has a value that does not parse."),
    fix=text(
        "Put the JSON in one pair of single quotes, with double quotes inside and nothing escaped."
    ),
    source=READ,
)
def flag_json(view: LaunchView) -> Iterator[Hit]:
    """Fires on the other flags that take JSON."""
    for argument in view.launch.arguments.flags:
        if argument.value is None or not argument.name.startswith("--"):
            continue
        if argument.name in JSON_FLAGS:
            if argument.name != COMPILATION or _may_be_object(argument.value):
                yield from _broken(view, argument)
            else:
                yield from _bare_level(view, argument)
        elif view.launch.is_vllm and argument.name not in SPECULATIVE:
            yield from _other_json(view, argument)


def _may_be_object(value: str) -> bool:
    return value.lstrip().startswith(("{", "'", '"'))


def _bare_level(view: LaunchView, argument: Argument) -> Iterator[Hit]:
    """``--compilation-config 3``, which ``-O`` alone still takes."""
    value = view.launch.scope.resolve(argument.value or "")
    if argument.written.startswith("-O") or view.launch.program == PYTHON_CALL:
        return
    if is_open(value) or view.engine.old:
        return
    level = value in ("0", "1", "2", "3")
    severity = view.refusal(lambda one: not level or one.vllm >= _NO_BARE_LEVEL)
    if severity is None:
        return
    meant = json.dumps({"mode": int(value)}) if level else None
    yield Hit(
        message=text(
            "{flag} wants a JSON object and gets {value}.",
            flag=argument.name,
            value=value[:60],
        ),
        fix=text("Write {meant}.", meant=meant) if meant else None,
        severity=severity,
        evidence=value[:60],
        start=argument.start,
        edits=(set_flag(argument.name, meant),) if meant else (),
    )


def _other_json(view: LaunchView, argument: Argument) -> Iterator[Hit]:
    """Flags that take JSON by the profile of the version, lists among them."""
    value = view.launch.scope.resolve(argument.value or "")
    if view.engine.old or view.launch.program == PYTHON_CALL:
        return
    if "$" in value or "{{" in value or "<" in value or value in ("", "None"):
        return
    read = read_json(_expanded(argument.name, value))
    if read.damage is None:
        if argument.name in OBJECTS and not isinstance(read.value, dict):
            yield _no_object(argument, value)
        return
    severity = view.refusal(
        lambda one: (
            _takes_json(one, argument.name)
            and not _takes_pairs(one, argument.name, value)
        )
    )
    if severity is None:
        return
    meant = _json_meant(argument.name, value, read.value)
    yield Hit(
        message=text(
            "The value of {flag} does not parse as JSON: {cause}.",
            flag=argument.name,
            cause=cause_of(read.damage),
        ),
        fix=text("Write {meant}.", meant=meant) if meant else None,
        severity=severity,
        evidence=value[:200],
        start=argument.start,
        edits=(set_flag(argument.name, meant),) if meant else (),
    )


def _takes_json(profile: EngineProfile, name: str) -> bool:
    flag = profile.flag(name)
    return flag is not None and flag.kind is ValueKind.JSON


def _takes_pairs(profile: EngineProfile, name: str, value: str) -> bool:
    """Whether an old version reads ``image=2,video=1`` instead of JSON."""
    return name == PAIRED and profile.vllm < _NO_PAIRS and "=" in value


def _json_meant(name: str, value: str, read: Json) -> str | None:
    if isinstance(read, dict | list):
        return json.dumps(read, separators=(",", ":"))
    if name.startswith("--allowed-"):
        return json.dumps([one.strip() for one in value.split(",")])
    pairs = re.findall(r"([a-z_]+)=(-?[\d.]+)(?:,|$)", value)
    if not pairs or ",".join("=".join(one) for one in pairs) != value:
        return None
    try:
        found = {key: json.loads(number) for key, number in pairs}
    except ValueError:
        return None
    return json.dumps(found, separators=(",", ":"))


def _no_object(argument: Argument, value: str) -> Hit:
    return Hit(
        message=text(
            "{flag} wants a JSON object and gets {value}.",
            flag=argument.name,
            value=value[:60],
        ),
        evidence=value[:60],
        start=argument.start,
    )


def _expanded(name: str, value: str) -> str:
    """JSON with the sizes that vLLM reads in it, such as 80m, written as numbers."""
    if name not in OBJECTS:
        return value
    pieces = re.split(r'("(?:[^"\\]|\\.)*")', value)
    pieces[::2] = [_SIZE.sub(_as_number, one) for one in pieces[::2]]
    return "".join(pieces)


def _as_number(match: re.Match[str]) -> str:
    number = whole_number(match[0])
    return match[0] if number is None else str(number)


def _broken(view: LaunchView, argument: Argument) -> Iterator[Hit]:
    value = view.launch.scope.resolve(argument.value or "")
    read = read_json(_expanded(argument.name, value))
    if "$" in value:
        return
    if read.damage is None:
        if argument.name in OBJECTS and not isinstance(read.value, dict):
            yield _no_object(argument, value)
        return
    repaired = read.value is not None and isinstance(read.value, dict)
    yield Hit(
        message=text(
            "The value of {flag} does not parse as JSON: {cause}.",
            flag=argument.name,
            cause=cause_of(read.damage),
        ),
        severity=Severity.WARNING if read.damage is Damage.TEXT_BEHIND else None,
        evidence=value[:200],
        start=argument.start,
        edits=(set_flag(argument.name, json.dumps(read.value, separators=(",", ":"))),)
        if repaired
        else (),
    )


@RuleCard(
    code="VARIABLE_IN_SINGLE_QUOTES",
    category="quoting",
    severity=Severity.ERROR,
    summary=text(
        "A variable stands inside single quotes, where a shell does not replace it."
    ),
    fix=text("Close the single quotes around the variable, or write the value."),
    source="POSIX shell, quoting; vllm-ascend#10801",
)
def frozen_variable(view: LaunchView) -> Iterator[Hit]:
    """Fires where a drafter's path would reach the engine as ``$NAME``."""
    speculation = view.speculation
    if (
        speculation is None
        or speculation.argument is None
        or view.launch.program == PYTHON_CALL
    ):
        return
    word = speculation.argument.value_word
    if word is None or word.form != "shell" or not word.frozen:
        return
    name = word.frozen[0]
    assigned = any(one in view.launch.scope.values for one in word.frozen)
    yield Hit(
        message=text(
            "${name} stands inside single quotes: the engine looks for a path of that very name.",
            name=name,
        ),
        fix=text(
            "Close the quotes around it: {example}.",
            example='\'{"model":"\'"$' + name + "\"'\"}'",
        ),
        severity=None if assigned else Severity.WARNING,
        evidence=f"${name}",
        start=view.spec_place,
        edits=(set_flag(FLAG, word.text.partition("=")[2]),)
        if speculation.argument.attached
        else (set_flag(FLAG, word.text),),
    )


QUOTING_RULES: tuple[LaunchRule, ...] = (spec_json, flag_json, frozen_variable)
