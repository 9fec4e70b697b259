"""What a rule over an existing launch is made of: its card, its check, and what it found."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.canonical import Json
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import Text, text

ALL_VERSIONS = text("all versions")


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
    """Where and why a rule fires. ``fix`` and ``severity`` ``None`` are the rule's own."""

    message: Text
    fix: Text | None = None
    severity: Severity | None = None
    evidence: str = ""
    start: int = -1
    edits: tuple[Edit, ...] = ()


Check = Callable[[LaunchView], Iterator[Hit]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCard:
    """What is known of a rule without a launch at hand; the reference pages show it.

    ``versions`` says in words where it applies; ``platforms`` is empty for all.
    """

    code: str
    category: str
    severity: Severity
    summary: Text
    fix: Text
    source: str
    versions: Text = ALL_VERSIONS
    platforms: tuple[str, ...] = ()

    def __call__(self, check: Check) -> "LaunchRule":
        """Make a rule of a check; used as a decorator."""
        return LaunchRule(card=self, check=check)

    def finding(self, hit: Hit) -> "LaunchFinding":
        """Return what the rule says where it fires; line and launch are the caller's to set."""
        return LaunchFinding(
            code=self.code,
            category=self.category,
            severity=hit.severity or self.severity,
            message=hit.message,
            fix=hit.fix or self.fix,
            source=self.source,
            evidence=hit.evidence,
            edits=hit.edits,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRule:
    """A card and the check that looks for it."""

    card: RuleCard
    check: Check


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFinding:
    """What one rule says about one launch; ``launch`` counts from 0, ``line`` from 1.

    ``correction`` is the corrected piece of the input, empty where the fix is not mechanical.
    """

    code: str
    category: str
    severity: Severity
    message: Text
    fix: Text
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
            "message": self.message.english,
            "fix": self.fix.english,
            "source": self.source,
            "evidence": self.evidence,
            "line": self.line,
            "launch": self.launch,
            "correction": self.correction or None,
        }


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
