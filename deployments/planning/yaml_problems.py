"""What is wrong with text that is no YAML, and how to mend it, in a person's language."""

import re

import yaml

from deployments.planning.text import Text, text

PROBLEMS: tuple[tuple[str, Text], ...] = (
    (
        r"mapping values are not allowed",
        text(
            "a colon stands where no value may begin; put quotes around the text, or indent the line like its neighbours"
        ),
    ),
    (
        r"could not find expected ':'",
        text("a key on this line or the one before has no colon and space after it"),
    ),
    (
        r"\\t'|tab character",
        text("a tab stands where YAML wants spaces"),
    ),
    (
        r"sequence entries are not allowed",
        text("a list entry stands where none may begin; give each a line of its own"),
    ),
    (
        r"mapping keys are not allowed",
        text("a key stands where none may begin; give each a line of its own"),
    ),
    (
        r"<block end>|expected key$|expected '-' indicator",
        text(
            "what stands here does not fit the lines before; look at its indentation, and for text behind a closing quotation mark"
        ),
    ),
    (
        r"',' or '\]'",
        text("a list in square brackets lacks a comma or its closing bracket"),
    ),
    (
        r"',' or '\}'",
        text("a block in braces lacks a comma or its closing brace"),
    ),
    (
        r"unexpected end of stream|unexpected document (separator|indicator)",
        text("a quotation mark that was opened is never closed"),
    ),
    (
        r"unknown escape character|escape sequence of|hexdecimal number",
        text(
            "between double quotes a backslash begins an escape that YAML does not know; use single quotes"
        ),
    ),
    (
        r"undefined (tag handle|alias)|expected alphabetic or numeric|URI|directive name",
        text("a text begins with *, &, ! or %; put quotes around it"),
    ),
    (
        r"cannot start any token",
        text(
            "a text begins with a sign that YAML keeps for itself, such as @, % or a tab; put quotes around it"
        ),
    ),
    (
        r"special characters|[cC]ontrol characters|codec can't decode|UTF-8",
        text("it has a character that is no text"),
    ),
    (
        r"node content|<document start>|another document|single document",
        text("one value ends and something else follows; only one may stand there"),
    ),
    (
        r"chomping or indentation|indentation indicator|comment or (a )?line break",
        text("after | or > only a line break may follow"),
    ),
)
"""Patterns of what PyYAML 6.0 and libyaml 0.2.5 say (scanner, parser, composer, reader)."""


def yaml_problem(error: yaml.YAMLError) -> Text:
    """Say what a parser found; what is in no pattern is quoted as the parser said it."""
    said = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "")
    for pattern, words in PROBLEMS:
        if re.search(pattern, said):
            return words
    if said:
        return text("the parser says “{said}”", said=said)
    return text("it is not YAML")


def yaml_line(error: yaml.YAMLError) -> int:
    """The line at which a parser stopped, counted from 1; 1 where it does not say."""
    mark = getattr(error, "problem_mark", None)
    return mark.line + 1 if mark is not None else 1
