"""What a plan would change: settings, commands and files, side by side with what runs now."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from deployments.planning.launch.command import readable_command
from deployments.planning.plan import Plan, PlannedReplica
from deployments.selectors.plan_settings import (
    PLAN_SETTINGS,
    is_detail,
    replica_settings,
)
from deployments.selectors.texts import listed, role_name

CONTEXT_LINES = 2

ReplicaKey = tuple[str, int]


class Mark(StrEnum):
    """What happened to a line; ``skipped`` stands for lines that are left out."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting of some replicas before and after; ``None`` means that it is not set.

    ``scope`` names the roles, or the replicas, that share the pair; empty for all of them.
    """

    name: str
    scope: str
    before: str | None
    after: str | None

    @property
    def detail(self) -> bool:
        """Whether it is the same in nearly every plan, so that a first plan folds it away."""
        return is_detail(self.name)

    @property
    def sign(self) -> str:
        """``+`` for added, a minus for taken away, ``±`` for changed."""
        if self.before is None:
            return "+"
        return "\u2212" if self.after is None else "±"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a text with what happened to it."""

    mark: Mark
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChange:
    """One text (a command, a file) before and after, as the lines of a unified diff.

    ``whole`` is the text afterwards, to copy; empty where nothing is left of it.
    """

    title: str
    lines: tuple[Line, ...]
    whole: str

    @property
    def changed(self) -> bool:
        """Whether any line was added or removed."""
        return any(line.mark in {Mark.ADDED, Mark.REMOVED} for line in self.lines)


def setting_changes(before: Plan | None, after: Plan) -> tuple[Setting, ...]:
    """Every setting that differs, most telling first; without ``before`` all that are set.

    What only names the revision that it belongs to differs in every one and is left out.
    """
    rows = [
        Setting(name=name, scope="", before=old, after=new)
        for name, read in PLAN_SETTINGS
        if (old := read(before) if before else None) != (new := read(after))
    ]
    numbers = _number(before), _number(after)
    old_replicas = _settings_by_replica(before)
    new_replicas = _settings_by_replica(after)
    everyone = sorted(old_replicas.keys() | new_replicas.keys())
    for name in _ordered_names(new_replicas, old_replicas):
        pairs: dict[tuple[str | None, str | None], list[ReplicaKey]] = {}
        for key in everyone:
            pair = (
                old_replicas.get(key, {}).get(name),
                new_replicas.get(key, {}).get(name),
            )
            pairs.setdefault(pair, []).append(key)
        rows += [
            Setting(name=name, scope=_scope(keys, everyone), before=old, after=new)
            for (old, new), keys in pairs.items()
            if old != new and not _numbered(name, old, new, numbers)
        ]
    return tuple(rows)


def command_changes(before: Plan | None, after: Plan) -> tuple[TextChange, ...]:
    """The command of every replica as a diff; replicas with the same diff share one."""
    old = _replicas(before)
    new = _replicas(after)
    everyone = sorted(old.keys() | new.keys())
    same: dict[tuple[Line, ...], list[ReplicaKey]] = {}
    for key in everyone:
        lines = diff_lines(
            command_lines(old.get(key)) if before else None, command_lines(new.get(key))
        )
        same.setdefault(lines, []).append(key)
    return tuple(
        TextChange(
            title=_scope(keys, everyone), lines=lines, whole=_command(new.get(keys[0]))
        )
        for lines, keys in same.items()
    )


def file_changes(
    before: Mapping[str, str] | None, after: Mapping[str, str]
) -> tuple[TextChange, ...]:
    """Files by path, each as a diff; files that one side lacks are added or removed whole."""
    names = sorted(after.keys() | (before or {}).keys())
    return tuple(
        TextChange(
            title=name,
            lines=diff_lines(
                None if before is None else before.get(name, "").splitlines(),
                after.get(name, "").splitlines(),
            ),
            whole=after.get(name, ""),
        )
        for name in names
    )


def _command(replica: PlannedReplica | None) -> str:
    return readable_command(replica.container.command) if replica else ""


def command_lines(replica: PlannedReplica | None) -> list[str]:
    """The argument vector as a shell would take it, one flag with its value a line."""
    if replica is None:
        return []
    lines: list[list[str]] = [[]]
    for word in replica.container.command:
        if word.startswith("--"):
            lines.append([])
        lines[-1].append(word)
    return [shlex.join(words) for words in lines if words]


def diff_lines(before: list[str] | None, after: list[str]) -> tuple[Line, ...]:
    """A unified diff; lines far from a change become one ``skipped`` line.

    ``None`` for ``before`` means that there is nothing to compare with: every line is the same.
    """
    if before is None:
        return tuple(Line(mark=Mark.SAME, text=text) for text in after)
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    lines: list[Line] = []
    shown_until = 0
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        if group[0][1] > shown_until:
            lines.append(Line(mark=Mark.SKIPPED, text=""))
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                lines += _marked(Mark.SAME, before[a1:a2])
            else:
                lines += _marked(Mark.REMOVED, before[a1:a2])
                lines += _marked(Mark.ADDED, after[b1:b2])
        shown_until = group[-1][2]
    if lines and shown_until < len(before):
        lines.append(Line(mark=Mark.SKIPPED, text=""))
    return tuple(lines)


def _marked(mark: Mark, texts: list[str]) -> Iterator[Line]:
    return (Line(mark=mark, text=text) for text in texts)


def _replicas(plan: Plan | None) -> dict[ReplicaKey, PlannedReplica]:
    replicas = plan.replicas if plan else ()
    return {(replica.role.value, replica.rank): replica for replica in replicas}


def _settings_by_replica(plan: Plan | None) -> dict[ReplicaKey, dict[str, str]]:
    return {key: replica_settings(replica) for key, replica in _replicas(plan).items()}


def _ordered_names(*sides: dict[ReplicaKey, dict[str, str]]) -> list[str]:
    """Every name once, in the order in which replicas list them."""
    names: dict[str, None] = {}
    for side in sides:
        for settings in side.values():
            names.update(dict.fromkeys(settings))
    return list(names)


def _number(plan: Plan | None) -> int:
    number = plan.revision["number"] if plan else 0
    return number if isinstance(number, int) else 0


def _in_revision(name: str, value: str, old: int, new: int) -> str:
    """The value that a setting of revision ``old`` has in ``new`` when nothing else changes."""
    if name == "label draftboard.revision" and value == str(old):
        return str(new)
    if name == "container name":
        return value.replace(f"-r{old}-", f"-r{new}-")
    return value


def _numbered(
    name: str, old: str | None, new: str | None, numbers: tuple[int, int]
) -> bool:
    """Whether both sides only name the revision that they belong to."""
    return old is not None and _in_revision(name, old, *numbers) == new


def _scope(keys: list[ReplicaKey], everyone: list[ReplicaKey]) -> str:
    if keys == everyone:
        return ""
    parts = []
    for role in dict.fromkeys(role for role, _rank in keys):
        of_role = [key for key in everyone if key[0] == role]
        mine = [key for key in keys if key[0] == role]
        ranks = "" if mine == of_role else " " + listed(rank for _, rank in mine)
        parts.append(role_name(role) + ranks)
    return "; ".join(parts)
