"""Words behind flags: those that a version takes, and those that are nearly right."""

import difflib
import functools
import json
import re
from collections.abc import Iterator
from importlib import resources

from deployments.planning.engines.profile import VLLM, EngineProfile, find_profile
from deployments.planning.importing.arguments import Argument
from deployments.planning.importing.launch import PYTHON_CALL
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.flag_values import SOURCES, given
from deployments.planning.rules.launch.known import edit_distance
from deployments.planning.rules.launch.rule import (
    Hit,
    LaunchRule,
    RuleCard,
    set_flag,
)
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import text

MOST_LISTED = 12
_WORD = re.compile(r"[\w.-]+")
SHORT_TYPES = {
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "f16": "float16",
    "f32": "float32",
}
"""Words for number formats that people write, and those that flags take."""

_FOLDED = frozenset(
    ("--moe-backend", "--linear-backend", "--sparse-indexer-topk-backend")
)
"""Flags whose words the parser lowers, with ``_`` for ``-`` (vLLM sources, 0.17.0 to 0.33.0)."""
_CHECKED_LATER = {
    "--kv-cache-dtype": ("octave_k3v4", "octave_k3v3", "octave_k3v3_compact"),
    "--chat-template-content-format": (),
}
"""Flags whose words the parser of vLLM 0.33.0 no longer lists, and the words new in it."""


@functools.cache
def open_words() -> dict[str, frozenset[str]]:
    """Words of flags that also take words of plugins; constant data of this package."""
    folder = resources.files("deployments.planning.rules.launch") / "data"
    document = json.loads((folder / "words.json").read_text(encoding="utf-8"))
    return {flag: frozenset(words) for flag, words in document.items()}


@RuleCard(
    code="CHOICE_UNKNOWN",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text("A flag takes one of a few words, and this is none of them."),
    fix=text("Use one of the words that the message names."),
    source=SOURCES,
    versions=text("by the profile of each version"),
)
def unknown_choice(view: LaunchView) -> Iterator[Hit]:
    """Fires on a value outside the choices of the judged version."""
    for argument, value in given(view):
        name = argument.name
        severity = view.refusal(functools.partial(_refuses_word, name, value))
        if severity is not None:
            profile = view.engine.profile or view.engine.newest
            words = words_of(profile, name)
            yield _no_choice(argument, value, words, severity)
        elif name in open_words() and view.launch.program != PYTHON_CALL:
            near = _misspelt(view, name, value)
            if near is not None:
                yield _no_choice(argument, value, (near,), Severity.ERROR)


def words_of(profile: EngineProfile, name: str) -> tuple[str, ...]:
    """The only words that a version takes behind a flag, empty where it takes any."""
    flag = profile.flag(name)
    if flag is None or flag.many or not flag.takes_value:
        return ()
    if flag.choices or name not in _CHECKED_LATER:
        return flag.choices
    known = _words_in("0.32.0", name)
    return (*known, *_CHECKED_LATER[name])


def _refuses_word(name: str, value: str, profile: EngineProfile) -> bool:
    words = words_of(profile, name)
    if not words or value in words:
        return False
    if name in _FOLDED:
        return value.lower().replace("-", "_") not in words
    return True


@functools.cache
def _words_in(version: str, name: str) -> tuple[str, ...]:
    flag = find_profile(f"{VLLM}=={version}").flag(name)
    return flag.choices if flag else ()


def _misspelt(view: LaunchView, name: str, value: str) -> str | None:
    """The known word that a value is a letter or two away from; plugins may bring other words."""
    if view.launch.flag("--tool-parser-plugin") or view.launch.flag(
        "--reasoning-parser-plugin"
    ):
        return None
    words = {one.casefold(): one for one in open_words()[name]}
    plain = value.casefold()
    if plain in words or len(plain) < 4 or not _WORD.fullmatch(value):
        return None
    most = 1 if len(plain) < 8 else 2
    digits = _digits(plain)
    near = min(
        (
            (distance, word)
            for folded, word in words.items()
            if _digits(folded) == digits
            and (distance := edit_distance(plain, folded, most)) <= most
        ),
        default=None,
    )
    return near[1] if near else None


def _digits(value: str) -> str:
    return "".join(letter for letter in value if letter.isdigit())


def _no_choice(
    argument: Argument, value: str, words: tuple[str, ...], severity: Severity
) -> Hit:
    near = _nearest(value, words)
    taken = [one for one in words if one != "None"]
    listed = ", ".join(taken[:MOST_LISTED])
    return Hit(
        message=text(
            "{flag} does not take {value}.", flag=argument.name, value=value[:60]
        ),
        fix=text("Did you mean {near}?", near=near)
        if near
        else text("It takes {words}.", words=listed)
        if len(taken) <= MOST_LISTED
        else text("It takes {words} and others.", words=listed),
        severity=severity,
        evidence=value[:60],
        start=argument.start,
        edits=(set_flag(argument.name, near),) if near else (),
    )


def _nearest(value: str, words: tuple[str, ...]) -> str | None:
    if len(words) == 1:
        return words[0]
    folded = {one.casefold(): one for one in words}
    plain = SHORT_TYPES.get(value.casefold(), value.casefold())
    plain = plain if plain in folded else plain.replace("-", "_")
    if sum(one.startswith(plain) for one in folded) > 1:
        return None
    close = difflib.get_close_matches(plain, folded, n=1, cutoff=0.7)
    return folded[close[0]] if close else None


FLAG_WORD_RULES: tuple[LaunchRule, ...] = (unknown_choice,)
