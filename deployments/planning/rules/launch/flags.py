"""Flags: unknown, removed, too new, old speculative ones, values that are missing or given twice."""

import difflib
from collections.abc import Callable, Iterator

from deployments.planning.engines.profile import EngineProfile
from deployments.planning.importing.arguments import Argument
from deployments.planning.importing.flag_table import (
    OLD_NAMES,
    OLD_SPECULATIVE,
    flag_table,
)
from deployments.planning.importing.launch import PYTHON_CALL
from deployments.planning.importing.speculation import SHORTCUTS
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import (
    Hit,
    LaunchRule,
    RuleCard,
    drop_flag,
    set_flag,
)
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import text

SOURCES = "vLLM and vllm-ascend sources, argument parsers, 0.8.5 to 0.33.0"
ALWAYS_REFUSED = frozenset(("--disable-log-requests",))
OMNI = frozenset(
    f"--{name}"
    for name in [
        "omni",
        "init-timeout",
        "cfg-parallel-size",
        "deploy-config",
        "hsdp-shard-size",
        "ulysses-degree",
        "use-hsdp",
        "ring",
        "usp",
        "num-gpus",
        "ignored-layers",
        "stage-configs-path",
        "vae-parallel-mode",
        "vae-patch-parallel-size",
        "vae-use-tiling",
    ]
)
"""Flags of the package vllm-omni (vllm-project/recipes, 2026-08-21)."""

MISPRINTED = {"--tool-call-parser-plugin": "--tool-parser-plugin"}
"""Flags of published recipes that no version has, and what they mean."""


def refuses(name: str) -> Callable[[EngineProfile], bool]:
    """Return the question whether a profile refuses a flag."""

    def refuses_it(profile: EngineProfile) -> bool:
        return not profile.knows(name) and not _abbreviates(profile, name)

    return refuses_it


def _abbreviates(profile: EngineProfile, name: str) -> bool:
    return any(known.startswith(name) for known in (*profile.flags, *profile.switches))


def _judged(view: LaunchView) -> Iterator[Argument]:
    seen: set[str] = set()
    for argument in view.launch.arguments.flags if view.launch.is_vllm else ():
        name = argument.name.partition(".")[0]
        if name in seen or not name.startswith("--") or name == "--model":
            continue
        seen.add(name)
        yield argument


@RuleCard(
    code="FLAG_UNKNOWN",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text("No engine version that this panel knows takes the flag."),
    fix=text("Check the spelling, or leave it out."),
    source=SOURCES,
)
def unknown_flag(view: LaunchView) -> Iterator[Hit]:
    """Fires on a flag that no profile knows."""
    if view.engine.old or view.launch.program == PYTHON_CALL:
        return
    table = flag_table()
    for argument in _judged(view):
        name = argument.name.partition(".")[0]
        if name in table.by_name or name in table.negated or name in OLD_NAMES:
            continue
        own = view.engine.own
        taken = own is not None and not refuses(name)(own)
        if taken or any(known.startswith(name) for known in table.by_name):
            continue
        if name in OMNI:
            yield Hit(
                message=text(
                    "{flag} belongs to the package vllm-omni.", flag=argument.written
                ),
                fix=text("Serve it with an image that holds vllm-omni."),
                severity=Severity.INFO,
                evidence=argument.written,
                start=argument.start,
            )
            continue
        near = (
            [MISPRINTED[name]]
            if name in MISPRINTED
            else difflib.get_close_matches(name, table.by_name, n=1, cutoff=0.85)
        )
        yield Hit(
            message=text("The engine does not know {flag}.", flag=argument.written),
            severity=Severity.WARNING if name in MISPRINTED else None,
            fix=text("Did you mean {near}?", near=near[0])
            if near
            else text("Leave it out."),
            evidence=argument.written,
            start=argument.start,
            edits=(
                drop_flag(name),
                set_flag(near[0], True if argument.value is None else argument.value),
            )
            if near
            else (),
        )


@RuleCard(
    code="FLAG_NOT_IN_VERSION",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text(
        "The flag exists, but not in this engine version: it was removed, or came later."
    ),
    fix=text("Leave it out, or use a version that has it."),
    source=SOURCES,
    versions=text("by the profile of each version"),
)
def flag_by_version(view: LaunchView) -> Iterator[Hit]:
    """Fires on a flag that the judged version refuses."""
    if view.engine.old or view.launch.program == PYTHON_CALL:
        return
    table = flag_table()
    for argument in _judged(view):
        name = argument.name.partition(".")[0]
        known = name in table.by_name or name in table.negated
        if not known or name in OLD_SPECULATIVE or name in SHORTCUTS:
            continue
        severity = view.refusal(refuses(name))
        if severity is None:
            continue
        yield _not_in_version(view, argument, name, severity)


def _not_in_version(
    view: LaunchView, argument: Argument, name: str, severity: Severity
) -> Hit:
    having = [one.version for one in view.engine.profiles if one.knows(name)]
    if view.engine.version is None and view.ascend and name not in ALWAYS_REFUSED:
        severity = Severity.WARNING
    if not having:
        message = text(
            "No version of {engine} has {flag} any more.",
            engine=view.engine.name,
            flag=name,
        )
    else:
        message = text(
            "{flag} exists in {engine} {first} to {last} only.",
            flag=name,
            engine=view.engine.name,
            first=having[0],
            last=having[-1],
        )
    return Hit(
        message=message,
        severity=severity,
        evidence=argument.written,
        start=argument.start,
        edits=(drop_flag(name),),
    )


@RuleCard(
    code="FLAG_WITHOUT_VALUE",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text("A flag that takes a value has none."),
    fix=text("Write the value behind it."),
    source=SOURCES,
)
def without_value(view: LaunchView) -> Iterator[Hit]:
    """Fires on a flag whose value is missing."""
    table = flag_table()
    for argument in view.launch.arguments.flags:
        flag = table.flag(argument.name)
        if flag is None or argument.value is not None or flag.optional:
            continue
        if table.takes_value(argument.name):
            yield Hit(
                message=text(
                    "{flag} takes a value, and none follows.", flag=argument.written
                ),
                evidence=argument.written,
                start=argument.start,
            )


@RuleCard(
    code="FLAG_REPEATED",
    category="other",
    severity=Severity.INFO,
    summary=text("A flag is given more than once; the last value counts."),
    fix=text("Keep one."),
    source="Python argparse",
)
def repeated(view: LaunchView) -> Iterator[Hit]:
    """Fires on a flag with two different values."""
    table = flag_table()
    seen: dict[str, str | None] = {}
    for argument in view.launch.arguments.flags:
        if argument.name in seen and not table.takes_several(argument.name):
            yield Hit(
                message=text(
                    "{flag} is given more than once; the last value counts.",
                    flag=argument.name,
                ),
                severity=Severity.INFO,
                evidence=argument.written,
                start=argument.start,
            )
        seen[argument.name] = argument.value


@RuleCard(
    code="FLAG_AND_VALUE_IN_ONE_WORD",
    category="quoting",
    severity=Severity.ERROR,
    summary=text(
        "A flag and its value stand in one word with a blank between; the parser takes them for one unknown flag."
    ),
    fix=text("Make two words of them, or put = between."),
    source="Python argparse: unrecognized arguments",
)
def one_word(view: LaunchView) -> Iterator[Hit]:
    """Fires on an element such as "--max-model-len 8192"; a warning where a shell may split it."""
    for argument in view.launch.arguments.flags:
        if not argument.glued:
            continue
        word = argument.words[0]
        yield Hit(
            message=text(
                "{word} is one word, so the parser sees no {flag}.",
                word=word.text[:120],
                flag=argument.written,
            ),
            severity=None if word.form == "yaml" else Severity.WARNING,
            evidence=word.text[:120],
            start=argument.start,
            edits=(set_flag(argument.name, argument.value),),
        )


FLAG_RULES: tuple[LaunchRule, ...] = (
    one_word,
    unknown_flag,
    flag_by_version,
    without_value,
    repeated,
)
