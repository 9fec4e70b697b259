"""What another engine version does to one deployment: only to what its commands use."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from deployments.planning.canonical import Json
from deployments.planning.engines.accepted import Flag, SpeculativeKey
from deployments.planning.engines.arguments import PROGRAM, flag_values
from deployments.planning.engines.lives import why_unsupported
from deployments.planning.engines.nearest import (
    FLAG_SUCCESSORS,
    KEY_SUCCESSORS,
    METRIC_SUCCESSORS,
    nearest_flag,
    nearest_key,
    nearest_method,
)
from deployments.planning.engines.profile import EngineProfile
from deployments.planning.plan import Plan
from deployments.planning.platforms.images import split_reference
from deployments.planning.text import Text, listed, text
from deployments.planning.transfer import CONNECTOR_SINCE
from deployments.planning.versions import parse_version

SPECULATIVE_FLAG = "--speculative-config"
TRANSFER_FLAG = "--kv-transfer-config"
CONNECTOR = "kv_connector"
V = TypeVar("V")


class Subject(StrEnum):
    """What kind of name changes."""

    FLAG = "flag"
    KEY = "key"
    METHOD = "method"
    CONNECTOR = "connector"
    METRIC = "metric"


class Fate(StrEnum):
    """What happens to the name.

    ``REFUSED`` stays known, but not with the value that is used; ``DEFAULT`` is not used, and the
    engine's own value differs; ``HIDDEN`` needs a flag to be exposed.
    """

    REMOVED = "removed"
    REFUSED = "refused"
    RENAMED = "renamed"
    DEPRECATED = "deprecated"
    HIDDEN = "hidden"
    CHANGED = "changed"
    DEFAULT = "default"
    ADDED = "added"


BREAKING = (Fate.REMOVED, Fate.REFUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One name and what becomes of it.

    ``before`` and ``after`` are what it takes, or its default. For a name that goes, ``after`` is
    what took its place, and ``nearest`` what is merely like it. ``why`` is a sentence more.
    """

    subject: Subject
    name: str
    fate: Fate
    before: str | None = None
    after: str | None = None
    nearest: str | None = None
    why: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the engines of a plan are started with: values by name, in the order of the commands."""

    flags: Mapping[str, tuple[str | None, ...]]
    keys: Mapping[str, tuple[Json, ...]]
    connector: Mapping[str, tuple[Json, ...]]


def usage_of(plan: Plan) -> Usage:
    """Read the commands of a plan; a router is no engine and is left out."""
    flags: dict[str, tuple[str | None, ...]] = {}
    keys: dict[str, tuple[Json, ...]] = {}
    connector: dict[str, tuple[Json, ...]] = {}
    for replica in plan.replicas:
        command = replica.container.command
        if command[: len(PROGRAM)] != PROGRAM:
            continue
        given = flag_values(command)
        for name, value in given.items():
            flags[name] = _with(flags.get(name, ()), value)
        for name, found in _members(given.get(SPECULATIVE_FLAG)):
            keys[name] = _with(keys.get(name, ()), found)
        for name, found in _members(given.get(TRANSFER_FLAG), nested=True):
            connector[name] = _with(connector.get(name, ()), found)
    return Usage(flags=flags, keys=keys, connector=connector)


def upgrade_effects(
    usage: Usage, after: Usage | None, old: EngineProfile, new: EngineProfile
) -> tuple[Effect, ...]:
    """Every name that the deployment uses and that changes, what breaks first.

    ``after`` is what the planner writes for the new version, ``None`` where it refuses; only the
    connector's keys are read from it, since no profile lists them.
    """
    found = [
        *_flags(usage, old, new),
        *_keys(usage, old, new),
        *_methods(usage, new),
        *_connector(usage, after, new),
        *_metrics(old, new),
    ]
    order = list(Fate)
    return tuple(sorted(found, key=lambda one: order.index(one.fate)))


def retagged(image: str, old: str, new: str) -> str:
    """An image with the new version where its tag holds the old one; else the image as it is.

    Local parts (``+acme``) are no part of tags and are left out on both sides.
    """
    name, tag = split_reference(image)
    release, wanted = old.partition("+")[0], new.partition("+")[0]
    if tag is None or release not in tag:
        return image
    return f"{name}:{tag.replace(release, wanted)}"


def _flags(usage: Usage, old: EngineProfile, new: EngineProfile) -> Iterator[Effect]:
    for name, values in usage.flags.items():
        before, after = old.flag(name), new.flag(name)
        if after is None:
            yield _gone(Subject.FLAG, name, FLAG_SUCCESSORS, nearest_flag(new, name))
            continue
        refused = [one for one in values if one is not None and not after.accepts(one)]
        if refused:
            yield Effect(
                subject=Subject.FLAG,
                name=name,
                fate=Fate.REFUSED,
                before=listed(refused),
                after=listed(after.choices),
            )
        elif name not in {after.name, after.negated}:
            yield Effect(
                subject=Subject.FLAG, name=name, fate=Fate.RENAMED, after=after.name
            )
        elif before is not None and _takes(before) != _takes(after):
            yield Effect(
                subject=Subject.FLAG,
                name=name,
                fate=Fate.CHANGED,
                before=_takes(before),
                after=_takes(after),
            )


def _keys(usage: Usage, old: EngineProfile, new: EngineProfile) -> Iterator[Effect]:
    if not usage.keys:
        return
    for name in usage.keys:
        before, after = old.key(name), new.key(name)
        if after is None:
            yield _gone(Subject.KEY, name, KEY_SUCCESSORS, nearest_key(new, name))
        elif before is not None and _takes(before) != _takes(after):
            yield Effect(
                subject=Subject.KEY,
                name=name,
                fate=Fate.CHANGED,
                before=_takes(before),
                after=_takes(after),
            )
    for after in new.keys:
        before = old.key(after.name)
        if before is None or after.name in usage.keys:
            continue
        if before.default != after.default:
            yield Effect(
                subject=Subject.KEY,
                name=after.name,
                fate=Fate.DEFAULT,
                before=before.default,
                after=after.default,
            )


def _methods(usage: Usage, new: EngineProfile) -> Iterator[Effect]:
    for value in usage.keys.get("method", ()):
        name = str(value)
        spelling = new.spelling(name)
        if spelling is None:
            yield Effect(
                subject=Subject.METHOD,
                name=name,
                fate=Fate.REMOVED,
                nearest=nearest_method(new, name),
            )
        elif not spelling.runs:
            method = spelling.method
            yield Effect(
                subject=Subject.METHOD,
                name=name,
                fate=Fate.REFUSED,
                why=None if method is None else why_unsupported(new, method),
            )
        elif spelling.deprecated:
            yield Effect(
                subject=Subject.METHOD,
                name=name,
                fate=Fate.DEPRECATED,
                after=None if spelling.method is None else new.spell(spelling.method),
            )


def _connector(
    usage: Usage, after: Usage | None, new: EngineProfile
) -> Iterator[Effect]:
    for value in usage.connector.get(CONNECTOR, ()):
        since = CONNECTOR_SINCE.get(str(value))
        if since and parse_version(new.version) < parse_version(since):
            yield Effect(
                subject=Subject.CONNECTOR,
                name=str(value),
                fate=Fate.REMOVED,
                why=text(
                    "{engine} has this connector from {since} on.",
                    engine=new.engine,
                    since=since,
                ),
            )
    if after is not None:
        yield from _connector_keys(usage, after)


def _connector_keys(usage: Usage, after: Usage) -> Iterator[Effect]:
    for name in usage.connector:
        if name not in after.connector:
            yield Effect(subject=Subject.CONNECTOR, name=name, fate=Fate.REMOVED)
    for name, values in after.connector.items():
        earlier = usage.connector.get(name)
        if earlier is None:
            yield Effect(
                subject=Subject.CONNECTOR,
                name=name,
                fate=Fate.ADDED,
                after=_listed(values),
            )
        elif earlier != values:
            yield Effect(
                subject=Subject.CONNECTOR,
                name=name,
                fate=Fate.CHANGED,
                before=_listed(earlier),
                after=_listed(values),
            )


def _metrics(old: EngineProfile, new: EngineProfile) -> Iterator[Effect]:
    known = {one.name: one for one in new.metrics}
    for before in old.metrics:
        if before.hidden or before.old_core:
            continue
        after = known.get(before.name)
        if after is None:
            successor = METRIC_SUCCESSORS.get(before.name)
            taken = successor if successor in known else None
            yield Effect(
                subject=Subject.METRIC,
                name=before.name,
                fate=Fate.RENAMED if taken else Fate.REMOVED,
                after=taken,
            )
        elif after.hidden:
            yield Effect(subject=Subject.METRIC, name=before.name, fate=Fate.HIDDEN)
        elif before.kind is not after.kind:
            yield Effect(
                subject=Subject.METRIC,
                name=before.name,
                fate=Fate.CHANGED,
                before=before.kind.value,
                after=after.kind.value,
            )


def _gone(
    subject: Subject, name: str, successors: Mapping[str, str], nearest: str | None
) -> Effect:
    successor = successors.get(name)
    replaced = successor is not None and successor == nearest
    return Effect(
        subject=subject,
        name=name,
        fate=Fate.REMOVED,
        after=nearest if replaced else None,
        nearest=None if replaced else nearest,
    )


def _takes(one: Flag | SpeculativeKey) -> str:
    return ", ".join(one.choices) or one.kind.value


def _with(values: tuple[V, ...], value: V) -> tuple[V, ...]:
    return values if value in values else (*values, value)


def _listed(values: tuple[Json, ...]) -> str:
    return ", ".join(one if isinstance(one, str) else json.dumps(one) for one in values)


def _members(
    written: str | None, *, nested: bool = False
) -> Iterator[tuple[str, Json]]:
    """The members of a JSON object; those of an inner object as ``outer.inner`` where asked."""
    try:
        document = json.loads(written or "{}")
    except ValueError:
        document = {}
    for name, value in document.items() if isinstance(document, dict) else ():
        if nested and isinstance(value, dict) and value:
            yield from ((f"{name}.{key}", inner) for key, inner in value.items())
        else:
            yield name, value
