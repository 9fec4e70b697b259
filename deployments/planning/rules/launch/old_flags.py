"""Flags of other times: old speculative ones, and shortcuts that came later."""

import json
from collections.abc import Iterator

from deployments.planning.canonical import Json
from deployments.planning.engines.profile import EngineProfile
from deployments.planning.importing.arguments import Argument
from deployments.planning.importing.flag_table import (
    OLD_SPECULATIVE,
)
from deployments.planning.importing.launch import PYTHON_CALL
from deployments.planning.importing.speculation import FLAG, SHORTCUTS, bracketed
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.flags import SOURCES, refuses
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
from deployments.planning.text import listed, text

SHORT_NAME = "-sc"


@RuleCard(
    code="OLD_SPECULATIVE_FLAGS",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text(
        "Flags such as --speculative-model ended with vLLM 0.8.5, which takes one --speculative-config."
    ),
    fix=text("Write one --speculative-config with a JSON object."),
    source="vLLM sources 0.8.0 and 0.8.5; run with 0.32.0: unrecognized arguments",
    versions=text("vLLM 0.8.5 and later"),
)
def old_flags(view: LaunchView) -> Iterator[Hit]:
    """Fires on old flags: an error when a newer version is named, else worth knowing."""
    speculation = view.speculation
    if speculation is None or not speculation.old_flags:
        return
    used = [one for one in view.launch.arguments.flags if one.name in OLD_SPECULATIVE]
    newer = view.engine.version is not None and not view.engine.old
    if view.launch.program == PYTHON_CALL and not newer:
        return
    yield Hit(
        message=text(
            "{flags} ended with vLLM 0.8.2; later versions answer: unrecognized arguments.",
            flags=listed(dict.fromkeys(one.name for one in used)),
        ),
        severity=Severity.ERROR if newer else Severity.INFO,
        evidence=used[0].written,
        start=used[0].start,
        edits=_modern(view, used),
    )


def _modern(view: LaunchView, used: list[Argument]) -> tuple[Edit, ...]:
    config: dict[str, Json] = dict(view.config)
    if isinstance(config.get("model"), str) and bracketed(str(config["model"])):
        del config["model"]
    if view.method and "method" not in config:
        config = {"method": view.method, **config}
    return (
        *(drop_flag(one.name) for one in used),
        set_flag(FLAG, json.dumps(config, separators=(",", ":"))),
    )


@RuleCard(
    code="SPECULATION_GIVEN_TWICE",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text(
        "The same key stands in --speculative-config and in a --spec-... flag."
    ),
    fix=text("Keep one of them."),
    source="vLLM 0.22.1 and later: are mutually exclusive",
    versions=text("vLLM 0.22.1 and later"),
)
def given_twice(view: LaunchView) -> Iterator[Hit]:
    """Fires on a key that is given in both ways."""
    speculation = view.speculation
    if speculation is None or not speculation.repeated:
        return
    used = [one for one in view.launch.arguments.flags if one.name in SHORTCUTS]
    if used:
        yield Hit(
            message=text(
                "{keys} stand in --speculative-config and in {flag} too; they are mutually exclusive.",
                keys=listed(speculation.repeated),
                flag=used[0].name,
            ),
            evidence=used[0].written,
            start=used[0].start,
            edits=tuple(drop_flag(one.name) for one in used),
        )


@RuleCard(
    code="SHORTCUT_NOT_IN_VERSION",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text(
        "--spec-method, --spec-model and --spec-tokens exist since vLLM 0.22.1, -sc since 0.19.0."
    ),
    fix=text("Write one --speculative-config with a JSON object."),
    source=SOURCES,
    versions=text("before vLLM 0.22.1"),
)
def early_shortcut(view: LaunchView) -> Iterator[Hit]:
    """Fires on a shortcut that the version does not have."""
    yield from _short_name(view)
    used = [one for one in view.launch.arguments.flags if one.name in SHORTCUTS]
    for argument in used[:1]:
        severity = view.refusal(refuses(argument.name))
        if severity is not None:
            yield Hit(
                message=text("{flag} exists since vLLM 0.22.1.", flag=argument.name),
                severity=severity,
                evidence=argument.written,
                start=argument.start,
                edits=(
                    *(drop_flag(one.name) for one in used),
                    set_flag(FLAG, json.dumps(view.config, separators=(",", ":"))),
                ),
            )


def _short_name(view: LaunchView) -> Iterator[Hit]:
    argument = view.launch.flag(FLAG)
    if argument is None or argument.written != SHORT_NAME:
        return
    severity = view.refusal(lambda one: not _has_short_name(one))
    if severity is not None:
        end = argument.start + len(SHORT_NAME)
        placed = argument.start >= 0 and argument.words[0].form == "shell"
        yield Hit(
            message=text("{flag} exists since vLLM 0.19.0.", flag=SHORT_NAME),
            fix=text("Write --speculative-config."),
            severity=severity,
            evidence=SHORT_NAME,
            start=argument.start,
            edits=(replace_text(argument.start, end, FLAG),) if placed else (),
        )


def _has_short_name(profile: EngineProfile) -> bool:
    flag = profile.flag(FLAG)
    return flag is not None and SHORT_NAME in flag.names


OLD_FLAG_RULES: tuple[LaunchRule, ...] = (
    old_flags,
    given_twice,
    early_shortcut,
)
