"""Environment variables: misspelt, gone, of another platform; repositories that nobody knows."""

import re
from collections.abc import Iterator
from itertools import islice

from deployments.planning.importing.words import Word
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.known import (
    environment,
    is_engine_variable,
    near_variable,
)
from deployments.planning.rules.launch.rule import (
    Hit,
    LaunchRule,
    RuleCard,
    replace_text,
)
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import text
from deployments.planning.versions import Version, parse_version

SOURCES = "vLLM and vllm-ascend sources, environment variables, 0.8.5 to 0.33.0"
MOST_COMPARED = 100
LONGEST_LINE = 4096
LONGEST_SEARCHED = 50_000
"""Characters: a long input with many names that are misspelt is not searched for each of them."""
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_SIZES = {
    re.compile(r"Qwen/Qwen3-(?P<size>\d+(?:\.\d+)?B)(?!-A)"): (
        "0.6B",
        "1.7B",
        "4B",
        "8B",
        "14B",
        "32B",
    ),
    re.compile(r"Qwen/Qwen2\.5-(?P<size>\d+(?:\.\d+)?B)"): (
        "0.5B",
        "1.5B",
        "3B",
        "7B",
        "14B",
        "32B",
        "72B",
    ),
    re.compile(r"meta-llama/(?:Meta-)?Llama-3\.1-(?P<size>\d+B)"): (
        "8B",
        "70B",
        "405B",
    ),
    re.compile(r"meta-llama/(?:Meta-)?Llama-3\.3-(?P<size>\d+B)"): ("70B",),
}
"""Families that are complete: every size that was published."""

_GONE = {
    "VLLM_ASCEND_ENABLE_CONTEXT_PARALLEL": "vllm-ascend removed it; the flags say it",
    "ASCEND_BUFFER_POOL": "removed; use ASCEND_ENABLE_USE_FABRIC_MEM or HCCL_INTRA_ROCE_ENABLE",
}


@RuleCard(
    code="VARIABLE_MISSPELT",
    category="environment",
    severity=Severity.WARNING,
    summary=text(
        "An environment variable is one or two letters away from one that exists; as written it does nothing."
    ),
    fix=text("Correct the name."),
    source=f"{SOURCES}; vllm-ascend#13523",
)
def misspelt(view: LaunchView) -> Iterator[Hit]:
    """Fires on near misses of known names; of very many unknown names only the first are compared."""
    for name, word in _unknown_names(view):
        near = near_variable(name)
        if near is None:
            continue
        at = _name_before(view.source.text, name, word.start)
        yield Hit(
            message=text(
                "{name} is no variable of the engine; {near} is.", name=name, near=near
            ),
            fix=text("Write {near}.", near=near),
            evidence=name,
            start=word.start if at is None else at,
            edits=() if at is None else (replace_text(at, at + len(name), near),),
        )


def _unknown_names(view: LaunchView) -> Iterator[tuple[str, Word]]:
    """The first names that look like the engine's and are not."""
    found = (
        (name, word)
        for name, word in view.launch.environment.items()
        if name not in environment() and _may_be_meant(name)
    )
    return islice(found, MOST_COMPARED)


def _name_before(content: str, name: str, value: int) -> int | None:
    """Where the name stands on its value's line: ``NAME=``, ``NAME: `` or ``"NAME": ``.

    Where the value has no place of its own, the name's only place in a short input counts.
    """
    written = re.compile(rf"(?<!\w){re.escape(name)}(?=[\"']?\s*[:=])")
    if value >= 0:
        line = max(content.rfind("\n", 0, value) + 1, value - LONGEST_LINE)
        places = [one.start() for one in written.finditer(content, line, value + 1)]
        return places[-1] if places else None
    if len(content) > LONGEST_SEARCHED:
        return None
    places = [one.start() for one in written.finditer(content)]
    return places[0] if len(places) == 1 else None


def _may_be_meant(name: str) -> bool:
    return is_engine_variable(name) or name.endswith(
        ("VISIBLE_DEVICES", "VISIBLE_DEVICE")
    )


@RuleCard(
    code="VARIABLE_NOT_EXPORTED",
    category="environment",
    severity=Severity.WARNING,
    summary=text(
        "A variable of the engine gets a value and is not exported, so the shell keeps it to itself."
    ),
    fix=text("Write export before it."),
    source="POSIX shell, execution environment",
)
def not_exported(view: LaunchView) -> Iterator[Hit]:
    """Fires on known names that a line of its own assigns and nothing passes on."""
    launch = view.launch
    if launch.container is not None or not launch.is_vllm:
        return
    for name, word in launch.scope.kept_back.items():
        known = name in environment() and is_engine_variable(name)
        if not known or name in launch.environment:
            continue
        if re.search(rf"\$\{{?{name}\b", view.source.text):
            continue
        at = word.start - len(name) - 1
        placed = at >= 0 and view.source.text.startswith(f"{name}=", at)
        begins = placed and view.source.text[:at].rpartition("\n")[2].strip() == ""
        yield Hit(
            message=text(
                "{name} is assigned and not exported: the engine does not see it.",
                name=name,
            ),
            evidence=name,
            start=at if placed else word.start,
            edits=(replace_text(at, at + len(name), f"export {name}"),)
            if begins
            else (),
        )


@RuleCard(
    code="VARIABLE_UNKNOWN",
    category="environment",
    severity=Severity.INFO,
    summary=text("No version of the engine reads the variable."),
    fix=text("Leave it out, unless a plugin of yours reads it."),
    source=SOURCES,
)
def unknown(view: LaunchView) -> Iterator[Hit]:
    """Fires on VLLM_ names that no release has, the first of very many, and on variables that are gone."""
    for name, word in view.launch.environment.items():
        if name in _GONE:
            yield Hit(
                message=text("{name}: {why}.", name=name, why=_GONE[name]),
                evidence=name,
                start=word.start,
            )
    for name, word in _unknown_names(view):
        ours = name.startswith("VLLM_") and name not in _GONE
        if ours and near_variable(name) is None:
            yield Hit(
                message=text("No release of the engine reads {name}.", name=name),
                evidence=name,
                start=word.start,
            )


@RuleCard(
    code="VARIABLE_NOT_IN_VERSION",
    category="environment",
    severity=Severity.INFO,
    summary=text("The variable exists in other versions of vLLM only."),
    fix=text("Leave it out."),
    source=SOURCES,
    versions=text("by the first and last release that reads it"),
)
def not_in_version(view: LaunchView) -> Iterator[Hit]:
    """Fires on a variable outside the releases that read it."""
    version = view.engine.vllm
    if version is None or view.engine.old or version > parse_version("0.33.0"):
        return
    for name, word in view.launch.environment.items():
        span = environment().get(name)
        if span is None or name == "VLLM_USE_V1":
            continue
        first, last = span
        after = version > _release(last) and last != "0.33.0"
        if after or (version < _release(first) and first != "0.8.5"):
            yield Hit(
                message=text(
                    "vLLM {first} to {last} read {name}; this version does not.",
                    first=first,
                    last=last,
                    name=name,
                ),
                evidence=name,
                start=word.start,
            )


def _release(text_: str) -> Version:
    return Version(
        parse_version(
            ".".join(text_.split(".post", maxsplit=1)[0].split(".")[:3])
        ).release
    )


@RuleCard(
    code="OLD_ENGINE_ASKED_FOR",
    category="environment",
    severity=Severity.WARNING,
    summary=text(
        "VLLM_USE_V1=0 asks for the V0 engine, which vLLM 0.10.0 lost for speculative decoding."
    ),
    fix=text("Leave VLLM_USE_V1 out."),
    source="vLLM sources, 0.9.2 and 0.10.0",
    versions=text("vLLM 0.10.0 and later"),
)
def old_engine(view: LaunchView) -> Iterator[Hit]:
    """Fires on VLLM_USE_V1=0 in a version without V0."""
    if view.launch.variable("VLLM_USE_V1") == "0" and view.vllm_since(0, 10, 0):
        yield Hit(
            message=text("This version has no V0 engine to draft with."),
            evidence="VLLM_USE_V1=0",
            start=view.launch.start,
        )


@RuleCard(
    code="DEVICES_OF_OTHER_PLATFORM",
    category="device",
    severity=Severity.WARNING,
    summary=text(
        "CUDA_VISIBLE_DEVICES chooses nothing on Ascend, nor ASCEND_RT_VISIBLE_DEVICES on GPUs."
    ),
    fix=text(
        "Use ASCEND_RT_VISIBLE_DEVICES on Ascend and CUDA_VISIBLE_DEVICES on GPUs."
    ),
    source="vllm-ascend documentation v0.23.0",
)
def other_devices(view: LaunchView) -> Iterator[Hit]:
    """Fires on the variable of the other platform alone."""
    given = view.launch.environment
    wrong, right = ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
    if not view.ascend:
        wrong, right = right, wrong
    if view.ascend and wrong in given and right not in given:
        yield Hit(
            message=text(
                "{wrong} chooses no device here; {right} does.",
                wrong=wrong,
                right=right,
            ),
            evidence=wrong,
            start=given[wrong].start,
        )


@RuleCard(
    code="REPOSITORY_UNKNOWN",
    category="other",
    severity=Severity.WARNING,
    summary=text("No such repository is known, and one with nearly the same name is."),
    fix=text("Check the name."),
    source="vllm-project/recipes and vllm-ascend tutorials, 2026-08-21; the catalog",
)
def repository(view: LaunchView) -> Iterator[Hit]:
    """Fires on sizes that a family never had, and on near misses of known names."""
    drafter = view.speculation.drafter_resolved if view.speculation else None
    for name in (view.model, drafter):
        if not name or _REPOSITORY.fullmatch(name) is None or not view.launch.is_vllm:
            continue
        near = _nearest(view, name)
        if near is None:
            continue
        places = [one.words[-1] for one in view.launch.arguments.all("--model")]
        word = view.launch.model_word if name == view.model else None
        exact = (
            word is not None
            and word.has_place
            and view.source.text[word.start : word.end] == name
        )
        yield Hit(
            message=text("No repository {name} is known.", name=name),
            fix=text("The nearest known one is {near}.", near=near),
            evidence=name,
            start=word.start
            if word
            else places[0].start
            if places
            else view.spec_place,
            edits=(replace_text(word.start, word.end, near),)
            if exact
            and word
            and name.lower().replace(".", "-") == near.lower().replace(".", "-")
            else (),
        )


def _nearest(view: LaunchView, name: str) -> str | None:
    if name in view.known.repositories:
        return None
    for pattern, sizes in _SIZES.items():
        match = pattern.match(name)
        if match and match["size"] not in sizes:
            wanted = float(match["size"][:-1])
            nearest = min(sizes, key=lambda size: abs(float(size[:-1]) - wanted))
            return name.replace(match["size"], nearest)
    return view.known.nearest(name)


ENVIRONMENT_RULES: tuple[LaunchRule, ...] = (
    misspelt,
    not_exported,
    unknown,
    not_in_version,
    old_engine,
    other_devices,
    repository,
)
