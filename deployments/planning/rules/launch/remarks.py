"""Findings about the text of an input as a whole, from what its reader noticed."""

import re
from collections.abc import Iterator
from dataclasses import replace

from deployments.planning.importing.reader import ImportedInput
from deployments.planning.importing.words import Remark, RemarkKind
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import (
    Edit,
    Hit,
    LaunchFinding,
    RuleCard,
    replace_text,
)
from deployments.planning.text import text

SHELL = "POSIX shell, token recognition"


REMARK_CARDS: dict[RemarkKind, RuleCard] = {
    RemarkKind.COMMENT_ENDS_COMMAND: RuleCard(
        code="COMMENT_ENDS_COMMAND",
        category="quoting",
        severity=Severity.WARNING,
        summary=text(
            "A comment between continued lines ends the command: the shell never passes the flags below it."
        ),
        fix=text("Move the comment above the command."),
        source=SHELL,
    ),
    RemarkKind.LINE_NOT_CONTINUED: RuleCard(
        code="LINE_NOT_CONTINUED",
        category="quoting",
        severity=Severity.WARNING,
        summary=text(
            "A line begins with a flag, but the line above does not end in a backslash: the shell runs it as a command of its own."
        ),
        fix=text("End the line above with a backslash and nothing behind it."),
        source=SHELL,
    ),
    RemarkKind.SPACE_AFTER_BACKSLASH: RuleCard(
        code="SPACE_AFTER_BACKSLASH",
        category="quoting",
        severity=Severity.WARNING,
        summary=text(
            "A blank stands behind the backslash at the end of a line, so the command ends there."
        ),
        fix=text("Delete the blank."),
        source=SHELL,
    ),
    RemarkKind.QUOTE_NOT_CLOSED: RuleCard(
        code="QUOTE_NOT_CLOSED",
        category="quoting",
        severity=Severity.ERROR,
        summary=text("A quote is opened and never closed."),
        fix=text("Close it."),
        source=SHELL,
    ),
    RemarkKind.ENTRYPOINT_TWICE: RuleCard(
        code="ENTRYPOINT_TWICE",
        category="unknown-flag",
        severity=Severity.ERROR,
        summary=text(
            "The image starts the server itself, so the command must be its arguments only; it would run the server's name twice."
        ),
        fix=text("Leave the server's name out of the command, or set the entrypoint."),
        source="vllm/vllm-openai images, entrypoint by release",
    ),
    RemarkKind.YAML_BROKEN: RuleCard(
        code="COMPOSE_INVALID",
        category="quoting",
        severity=Severity.ERROR,
        summary=text("The compose file is not YAML."),
        fix=text("Correct the line; quote texts that hold braces or colons."),
        source="YAML 1.2",
    ),
    RemarkKind.ODD_DASH: RuleCard(
        code="DASH_IS_NOT_ASCII",
        category="unknown-flag",
        severity=Severity.ERROR,
        summary=text(
            "A flag begins with a typographic dash, which the parser takes for a word."
        ),
        fix=text("Type two plain hyphens."),
        source="vLLM 0.32.0, argument parser",
    ),
    RemarkKind.ENVIRONMENT_FILE: RuleCard(
        code="ENVIRONMENT_FILE_UNSEEN",
        category="environment",
        severity=Severity.INFO,
        summary=text(
            "The service reads an environment file that is not part of the input; what it sets is not judged."
        ),
        fix=text("Add its lines to the input to have them judged."),
        source="Compose specification, env_file",
    ),
    RemarkKind.NO_LAUNCH: RuleCard(
        code="NO_LAUNCH",
        category="other",
        severity=Severity.INFO,
        summary=text("The input starts no server that this panel knows."),
        fix=text(
            "Paste the vllm serve command, the docker run line or the compose file."
        ),
        source="this panel",
    ),
}


def remark_findings(source: ImportedInput) -> Iterator[LaunchFinding]:
    """Turn every remark of the reader into a finding, each kind of a place once."""
    remarks = list(dict.fromkeys(source.remarks))
    if not source.launches and not source.benchmarks and not remarks:
        remarks.append(Remark(kind=RemarkKind.NO_LAUNCH, start=-1, end=-1))
    for remark in remarks:
        card = REMARK_CARDS.get(remark.kind)
        if card is None:
            continue
        hit = Hit(
            message=card.summary,
            evidence=remark.text,
            edits=_edits(source, remark),
        )
        yield replace(card.finding(hit), line=source.line(remark.start))


def _edits(source: ImportedInput, remark: Remark) -> tuple[Edit, ...]:
    if remark.start < 0 or remark.end <= remark.start:
        return ()
    if remark.kind is RemarkKind.SPACE_AFTER_BACKSLASH:
        return (replace_text(remark.start, remark.end, "\\\n"),)
    if remark.kind is RemarkKind.ODD_DASH:
        written = source.text[remark.start : remark.end]
        plain = "--" + written.lstrip("\u2014\u2013\u2012\u2212\uff0d-")
        return (replace_text(remark.start, remark.end, plain),)
    if remark.kind is RemarkKind.ENTRYPOINT_TWICE:
        return (replace_text(remark.start, remark.end, ""),)
    if remark.kind in (RemarkKind.COMMENT_ENDS_COMMAND, RemarkKind.LINE_NOT_CONTINUED):
        return _continued(source.text, remark.start)
    return ()


def _continued(text_: str, flag: int) -> tuple[Edit, ...]:
    """Drop comments and blank lines above a flag, and end the line above them in a backslash."""
    line = text_.rfind("\n", 0, flag) + 1
    above = line
    while above > 0:
        start = text_.rfind("\n", 0, above - 1) + 1
        written = text_[start : above - 1]
        if written.strip() and not written.lstrip().startswith("#"):
            return (replace_text(start, line, _ending_in_backslash(written)),)
        above = start
    return ()


def _ending_in_backslash(line: str) -> str:
    code = re.sub(r"\s#[^'\"]*$", "", line).rstrip().removesuffix("\\").rstrip()
    return f"{code} \\\n"
