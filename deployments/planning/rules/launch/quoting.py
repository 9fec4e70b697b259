"""Quotes, braces, backslashes and comments: what reached the engine is not what was meant."""

import json
from collections.abc import Iterator

from deployments.planning.importing.arguments import Argument
from deployments.planning.importing.json_repair import Damage, read_json
from deployments.planning.importing.launch import PYTHON_CALL
from deployments.planning.importing.speculation import FLAG
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import (
    Edit,
    Hit,
    LaunchRule,
    RuleCard,
    set_flag,
)
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import Text, text

JSON_FLAGS = (
    "--compilation-config",
    "--kv-transfer-config",
    "--additional-config",
    "--hf-overrides",
)
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
        if argument.name not in JSON_FLAGS or argument.value is None:
            continue
        if (
            argument.name == "--compilation-config"
            and not argument.value.lstrip().startswith(("{", "'", '"'))
        ):
            continue
        yield from _broken(view, argument)


def _broken(view: LaunchView, argument: Argument) -> Iterator[Hit]:
    value = view.launch.scope.resolve(argument.value or "")
    read = read_json(value)
    if read.damage is None or "$" in value:
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
