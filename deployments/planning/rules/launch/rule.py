"""What a rule over an existing launch is made of: its card, its check, and what it found."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from deployments.planning.canonical import Json
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.view import LaunchView


class EditKind(StrEnum):
    """What a mechanical fix does to the input."""

    KEY_SET = "key-set"
    KEY_DROP = "key-drop"
    FLAG_SET = "flag-set"
    FLAG_DROP = "flag-drop"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change: of a key of the speculative config, of a flag, or of the text between offsets."""

    kind: EditKind
    name: str = ""
    value: Json = None
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Where and why a rule fires. Empty ``fix`` and ``severity`` ``None`` are the rule's own."""

    message: str
    fix: str = ""
    severity: Severity | None = None
    evidence: str = ""
    start: int = -1
    edits: tuple[Edit, ...] = ()


Check = Callable[[LaunchView], Iterator[Hit]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRule:
    """One rule. ``summary`` and ``fix`` say it without a launch at hand, for the reference pages.

    ``versions`` says in words where it applies; ``platforms`` is empty for all.
    """

    code: str
    category: str
    severity: Severity
    summary: str
    fix: str
    source: str
    check: Check = field(compare=False)
    versions: str = "all"
    platforms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFinding:
    """What one rule says about one launch; ``launch`` counts from 0, ``line`` from 1.

    ``correction`` is the corrected piece of the input, empty where the fix is not mechanical.
    """

    code: str
    category: str
    severity: Severity
    message: str
    fix: str
    source: str
    evidence: str = ""
    line: int | None = None
    launch: int | None = None
    correction: str = ""
    edits: tuple[Edit, ...] = ()

    @property
    def document(self) -> dict[str, Json]:
        """The object that ``lint_launch`` prints."""
        return {
            "code": self.code,
            "category": self.category,
            "severity": self.severity.value,
            "message": self.message,
            "fix": self.fix,
            "source": self.source,
            "evidence": self.evidence,
            "line": self.line,
            "launch": self.launch,
            "correction": self.correction or None,
        }


def rule(
    *,
    code: str,
    category: str,
    severity: Severity,
    summary: str,
    fix: str,
    source: str,
    versions: str = "all",
    platforms: tuple[str, ...] = (),
) -> Callable[[Check], LaunchRule]:
    """Make a rule of the function below."""

    def made(check: Check) -> LaunchRule:
        return LaunchRule(
            code=code,
            category=category,
            severity=severity,
            summary=summary,
            fix=fix,
            source=source,
            versions=versions,
            platforms=platforms,
            check=check,
        )

    return made


def set_key(name: str, value: Json) -> Edit:
    """Set a key of the speculative config."""
    return Edit(kind=EditKind.KEY_SET, name=name, value=value)


def drop_key(name: str) -> Edit:
    """Take a key out of the speculative config."""
    return Edit(kind=EditKind.KEY_DROP, name=name)


def set_flag(name: str, value: Json) -> Edit:
    """Set a flag; ``True`` is a switch."""
    return Edit(kind=EditKind.FLAG_SET, name=name, value=value)


def drop_flag(name: str) -> Edit:
    """Take every use of a flag out."""
    return Edit(kind=EditKind.FLAG_DROP, name=name)


def replace_text(start: int, end: int, text: str) -> Edit:
    """Replace the input between two offsets."""
    return Edit(kind=EditKind.REPLACE, start=start, end=end, value=text)
