"""Simple commands of a script: words, environment, redirections, and what variables stand for."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from deployments.planning.importing.lexer import Lexer
from deployments.planning.importing.limits import DEEPEST_SCRIPT, MOST_WORDS, Budget
from deployments.planning.importing.words import (
    Operator,
    Remark,
    RemarkKind,
    Token,
    Word,
)

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=)(.*)", re.DOTALL)
_OPTION = re.compile(r"[-+][A-Za-z]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:=.*)?", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_DEFAULTED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):?-([^{}]*)\}")
_ARRAY_USE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\[[@*]\]\}")
COMPOSE = re.compile(r"^services[ \t]*:", re.MULTILINE)
_UNIT_KEYS = frozenset(("ExecStart", "Environment"))
_DECLARERS = frozenset(("export", "declare", "local", "readonly", "typeset"))
_WRAPPERS = frozenset(("nohup", "sudo", "exec", "time", "setsid", "command"))
_ODD_DASHES = ("\u2014", "\u2013", "\u2012", "\u2212", "\uff0d")


@dataclass(slots=True)
class Scope:
    """Variables assigned so far: plain values, arrays, and those that are exported.

    ``assigned`` holds what a line of its own gave a value, ``marked`` the names behind ``export``;
    ``exports_all`` is true behind ``set -a``.
    """

    values: dict[str, Word] = field(default_factory=dict)
    arrays: dict[str, tuple[Word, ...]] = field(default_factory=dict)
    exported: dict[str, Word] = field(default_factory=dict)
    assigned: dict[str, Word] = field(default_factory=dict)
    marked: set[str] = field(default_factory=set)
    exports_all: bool = False

    @property
    def kept_back(self) -> dict[str, Word]:
        """What the shell alone knows: no program that it starts gets these."""
        return {
            name: word
            for name, word in self.assigned.items()
            if name not in self.exported
        }

    def export(self, name: str) -> None:
        """``export NAME``: its value, now or later, reaches programs from here on."""
        self.marked.add(name)
        if name in self.values:
            self.exported[name] = self.values[name]

    def forget(self, name: str) -> None:
        """``unset NAME``."""
        self.marked.discard(name)
        for names in (self.values, self.assigned, self.exported):
            names.pop(name, None)

    def reassign(self, name: str) -> None:
        """``NAME=value`` on a line of its own: programs get it if it is exported already."""
        self.assigned[name] = self.values[name]
        if self.exports_all or name in self.marked:
            self.export(name)

    def hide(self, name: str) -> None:
        """``export -n NAME``: the shell keeps it to itself."""
        self.marked.discard(name)
        word = self.exported.pop(name, None)
        if word is not None:
            self.assigned[name] = word

    def resolve(self, text: str, depth: int = 0) -> str:
        """Put literal values in the place of variables that the same input assigns."""
        if "$" not in text or depth > 4:
            return text

        def value(match: re.Match[str]) -> str:
            word = self.values.get(match[1] or match[2])
            if word is None or len(word.text) > 4096:
                return match[0]
            return self.resolve(word.text, depth + 1)

        def default(match: re.Match[str]) -> str:
            word = self.values.get(match[1])
            return match[2] if word is None else word.text

        return _VARIABLE.sub(value, _DEFAULTED.sub(default, text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command with the environment that it sees; ``redirected`` is a file that takes its output."""

    words: tuple[Word, ...]
    environment: dict[str, Word]
    scope: Scope
    redirected: str | None = None


def read_commands(
    text: str, start: int, end: int, budget: Budget, depth: int = 0
) -> tuple[list[Command], list[Remark]]:
    """Read the commands of a script between two offsets, here-documents included."""
    lexer = Lexer(text, start, end, budget)
    remarks = list(lexer.remarks)
    commands: list[Command] = []
    scope = Scope()
    for tokens in _joined(_split(lexer.tokens), remarks):
        for token in tokens:
            if token.document is None or COMPOSE.search(text, *token.document):
                continue
            if depth < DEEPEST_SCRIPT:
                inner, noticed = read_commands(text, *token.document, budget, depth + 1)
                commands.extend(inner)
                remarks.extend(noticed)
        command = _command(tokens, scope, remarks)
        if command is not None:
            commands.append(command)
    return commands, remarks


def _split(tokens: list[Token]) -> Iterator[tuple[list[Token], Token | None]]:
    current: list[Token] = []
    for token in tokens:
        if token.operator in (Operator.LINE, Operator.OTHER):
            yield current, token
            current = []
        else:
            current.append(token)
    yield current, None


def _joined(
    pieces: Iterator[tuple[list[Token], Token | None]], remarks: list[Remark]
) -> Iterator[list[Token]]:
    """Join a line that begins with a flag to the command above it."""
    current: list[Token] = []
    ended_by: Token | None = None
    for tokens, closer in pieces:
        first = tokens[0].word if tokens else None
        if first is not None and _runs(current) and _continues(first, ended_by):
            remarks.append(_not_continued(first, ended_by))
            current = [*current, *tokens]
        elif tokens:
            if current:
                yield current
            current = tokens
        ended_by = _ending(ended_by, closer) if not tokens else closer
    if current:
        yield current


def _runs(tokens: list[Token]) -> bool:
    """Whether there is more than assignments and here-documents."""
    return any(
        token.word is not None
        and token.array is None
        and _ASSIGNMENT.fullmatch(token.word.text) is None
        for token in tokens
    )


def _continues(first: Word, ended_by: Token | None) -> bool:
    line_ended = ended_by is not None and ended_by.operator is Operator.LINE
    return line_ended and _is_flag(first.text)


def _not_continued(first: Word, ended_by: Token | None) -> Remark:
    comment = ended_by is not None and ended_by.after_comment
    return Remark(
        kind=RemarkKind.COMMENT_ENDS_COMMAND
        if comment
        else RemarkKind.LINE_NOT_CONTINUED,
        start=first.start,
        end=first.end,
        text=first.text,
    )


def _ending(before: Token | None, closer: Token | None) -> Token | None:
    """What ended the last command, when only comments and blank lines stand behind it."""
    if before is not None and closer is not None and closer.after_comment:
        return Token(operator=before.operator, after_comment=True)
    return before


def _is_flag(text: str) -> bool:
    return re.match(r"--?[A-Za-z]", text) is not None


def _command(
    tokens: list[Token], scope: Scope, remarks: list[Remark]
) -> Command | None:
    words, redirected = _without_redirects(tokens, scope)
    words = _undeclared(words, scope)
    environment: dict[str, Word] = {}
    kept: list[Word] = []
    for word in words:
        begun = any(one.text not in _WRAPPERS for one in kept)
        match = None if begun else _ASSIGNMENT.fullmatch(word.text)
        if match and match[1] in _UNIT_KEYS:
            kept.extend(_of_unit(match, word, scope, environment))
        elif match:
            _assign(scope, environment, match, word)
        elif begun or word.text != "env":
            kept.append(word)
    if not kept:
        for name in environment if words and words[0].text != "env" else ():
            scope.reassign(name)
        return None
    expanded = tuple(_expanded(kept, scope, remarks))
    seen = {**scope.exported, **environment}
    return Command(words=expanded, environment=seen, scope=scope, redirected=redirected)


def _undeclared(words: list[Word], scope: Scope) -> list[Word]:
    """What is left to run behind ``export``, ``declare`` and their like, ``set`` and ``unset``."""
    first = words[0].text if words else ""
    texts = [word.text for word in words[1:]]
    if first == "set":
        if texts[:1] in (["-a"], ["+a"]) or texts[1:2] == ["allexport"]:
            scope.exports_all = texts[0].startswith("-")
        return []
    if first == "unset":
        for text in texts:
            scope.forget(text)
        return []
    return words if first not in _DECLARERS else _declared(first, words[1:], scope)


def _declared(first: str, rest: list[Word], scope: Scope) -> list[Word]:
    options = [word.text for word in rest if _OPTION.fullmatch(word.text)]
    exporting = first == "export" or any("x" in option for option in options)
    for index, word in enumerate(rest):
        match = _ASSIGNMENT.fullmatch(word.text)
        if match:
            _assign(scope, {}, match, word)
        elif word.text in options:
            continue
        elif not all(_NAME.fullmatch(one.text) for one in rest[index:]):
            return rest[index:]
        name = match[1] if match else word.text
        if first == "export" and "-n" in options:
            scope.hide(name)
        elif exporting:
            scope.export(name)
        elif match:
            scope.reassign(name)
    return []


def _of_unit(
    match: re.Match[str], word: Word, scope: Scope, environment: dict[str, Word]
) -> Iterator[Word]:
    """What stands behind a key of a systemd unit: a program, or a variable that it gets."""
    text = match[3].lstrip("-@+!:|")
    start = word.end - len(text) if word.has_place and not word.quoted else -1
    inside = replace(word, text=text, start=start)
    if match[1] == "Environment":
        setting = _ASSIGNMENT.fullmatch(text)
        if setting:
            _assign(scope, environment, setting, inside)
            scope.export(setting[1])
    elif text:
        yield inside


def _assign(
    scope: Scope,
    environment: dict[str, Word],
    match: re.Match[str],
    word: Word,
) -> None:
    name, operator, text = match.groups()
    offset = len(name) + len(operator)
    value = replace(
        word,
        text=text,
        start=word.start + offset if word.has_place else -1,
    )
    if operator == "+=" and name in scope.values:
        value = replace(value, text=scope.values[name].text + text, start=-1, end=-1)
    scope.values[name] = value
    environment[name] = value


def _without_redirects(
    tokens: list[Token], scope: Scope
) -> tuple[list[Word], str | None]:
    words: list[Word] = []
    redirected: str | None = None
    after_redirect = False
    for token in tokens:
        if token.operator is Operator.REDIRECT:
            after_redirect = True
        elif token.array is not None and token.word is not None:
            _assign_array(scope, token.word.text, token.array)
        elif token.word is not None and after_redirect:
            if not token.word.text.isdigit() and token.word.text != "/dev/null":
                redirected = token.word.text
            after_redirect = False
        elif token.word is not None:
            words.append(token.word)
    return words, redirected


def _assign_array(scope: Scope, written: str, members: tuple[Word, ...]) -> None:
    name = written.rstrip("=").rstrip("+")
    before = scope.arrays.get(name, ()) if written.endswith("+=") else ()
    scope.arrays[name] = (*before, *members)


def _expanded(words: list[Word], scope: Scope, remarks: list[Remark]) -> Iterator[Word]:
    for word in words:
        array = _ARRAY_USE.fullmatch(word.text)
        if array and array[1] in scope.arrays:
            yield from scope.arrays[array[1]]
        elif not word.quoted and _VARIABLE.fullmatch(word.text):
            yield from _several(word, scope, read_again=words[0].text == "eval")
        else:
            yield _plain_dashes(word, remarks)


def _several(word: Word, scope: Scope, *, read_again: bool) -> Iterator[Word]:
    """A bare variable that stands for several words, as ``$ARGS`` does.

    A shell splits it at blanks and leaves quotes in it as they are, unless ``eval`` reads it again.
    """
    value = scope.resolve(word.text)
    if not value.lstrip().startswith(("-", "{")) or value == word.text:
        yield word
        return
    if not read_again:
        pieces = value.split()[:MOST_WORDS]
        yield from [word] if len(pieces) < 2 else (Word(text=one) for one in pieces)
        return
    lexer = Lexer(value, 0, len(value), Budget(200_000))
    for token in lexer.tokens:
        if token.word is not None:
            yield replace(token.word, start=-1, end=-1)


def _plain_dashes(word: Word, remarks: list[Remark]) -> Word:
    if not word.text.startswith(_ODD_DASHES):
        return word
    text = "--" + word.text.lstrip("".join(_ODD_DASHES) + "-")
    remarks.append(
        Remark(kind=RemarkKind.ODD_DASH, start=word.start, end=word.end, text=text)
    )
    return replace(word, text=text)
