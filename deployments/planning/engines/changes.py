"""What changes between two engine profiles: names that come, go, or take other values."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Protocol, TypeVar

from deployments.planning.engines.definition import EngineProfile
from deployments.planning.engines.nearest import FLAG_SUCCESSORS, KEY_SUCCESSORS


class Named(Protocol):
    """Anything with a name that compares."""

    @property
    def name(self) -> str:
        """The name."""


N = TypeVar("N", bound=Named)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameChanges:
    """Names of one kind; ``successors`` are (old, new) for those that something replaced."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    successors: tuple[tuple[str, str], ...] = ()

    @property
    def count(self) -> int:
        """How many names differ."""
        return len(self.added) + len(self.removed) + len(self.changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileChanges:
    """Everything that differs between two profiles, kind by kind."""

    flags: NameChanges
    keys: NameChanges
    methods: NameChanges
    metrics: NameChanges
    entrypoint: bool
    unknown_keys: bool

    @property
    def count(self) -> int:
        """How many things differ."""
        named = (self.flags, self.keys, self.methods, self.metrics)
        return (
            sum(one.count for one in named)
            + int(self.entrypoint)
            + int(self.unknown_keys)
        )


def profile_changes(old: EngineProfile, new: EngineProfile) -> ProfileChanges:
    """Compare two profiles; an entrypoint that one of them does not know is no change."""
    known = old.entrypoint is not None and new.entrypoint is not None
    return ProfileChanges(
        flags=_changes(old.arguments, new.arguments, FLAG_SUCCESSORS),
        keys=_changes(old.keys, new.keys, KEY_SUCCESSORS),
        methods=_changes(old.spellings, new.spellings, {}),
        metrics=_changes(old.metrics, new.metrics, {}),
        entrypoint=known and old.entrypoint != new.entrypoint,
        unknown_keys=old.unknown_keys != new.unknown_keys,
    )


def change_lines(changes: ProfileChanges) -> list[str]:
    """One line for each kind of change, for a terminal."""
    lines = []
    for field in fields(changes):
        value = getattr(changes, field.name)
        label = field.name.replace("_", " ")
        if isinstance(value, NameChanges):
            for what in ("added", "removed", "changed"):
                names = getattr(value, what)
                if names:
                    lines.append(f"{label} {what}: {', '.join(names)}")
        elif value:
            lines.append(f"{label} changed")
    return lines


def _changes(
    old: Iterable[N], new: Iterable[N], successors: dict[str, str]
) -> NameChanges:
    before = {one.name: one for one in old}
    after = {one.name: one for one in new}
    removed = tuple(name for name in before if name not in after)
    return NameChanges(
        added=tuple(name for name in after if name not in before),
        removed=removed,
        changed=tuple(
            name for name in after if name in before and before[name] != after[name]
        ),
        successors=tuple(
            (name, successors[name])
            for name in removed
            if successors.get(name) in after
        ),
    )
