"""Words that a page shows and no catalog can translate, found in the source."""

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser

from django.template.base import Lexer, Token, TokenType

NAMES = frozenset(
    {
        *("Draftboard", "vLLM", "Docker", "MTP", "EAGLE", "KV", "API", "CANN", "NIXL"),
        *("HCCL", "YAML", "JSON", "CSV", "zip", "Ctrl", "Esc", "Enter", "Shift"),
        *("NVIDIA", "AMD", "GPU", "CPU", "NPU", "Ascend", "Atlas"),
    }
)
UNITS = frozenset({"ms", "KiB", "MiB", "GiB", "TiB"})
WORD = re.compile(r"(?<!\w)[A-Za-z][A-Za-z'-]+")
CODE_ELEMENTS = frozenset({"code", "pre", "kbd", "script", "style", "samp"})
SPOKEN_ATTRIBUTES = frozenset(
    {"title", "aria-label", "placeholder", "alt", "data-label"}
)
GAP = "\N{OBJECT REPLACEMENT CHARACTER}"
QUOTED = re.compile(r"""(?<![\w(])(["'])((?:(?!\1).)*)\1""")
PHRASE = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,}")
FILTER_WORDS = re.compile(r"""\|(?:default|default_if_none|yesno|add):(["'])(.*?)\1""")


def words_of(text: str) -> list[str]:
    """Return the words of a text that are neither names nor units."""
    found = WORD.findall(re.sub(r"&[a-z]+;|\S*[/_=]\S*|--\S+", " ", text))
    return [word for word in found if word not in NAMES | UNITS]


class _Spoken(HTMLParser):
    """Collects what a person reads or hears of a page, code left out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._code = 0
        self._text = ""

    def handle_starttag(
        self, tag: str, attributes: list[tuple[str, str | None]]
    ) -> None:
        """Take attributes that are read out; a place to break a word ends nothing."""
        if tag != "wbr":
            self._end_of_text()
        self._code += tag in CODE_ELEMENTS
        self.found += [
            value
            for name, value in attributes
            if value and name in SPOKEN_ATTRIBUTES and words_of(value)
        ]

    def handle_endtag(self, tag: str) -> None:
        """Leave code again."""
        self._end_of_text()
        self._code -= tag in CODE_ELEMENTS

    def handle_data(self, data: str) -> None:
        """Take text."""
        if not self._code:
            self._text += data

    def close(self) -> None:
        """Take what stands after the last element."""
        super().close()
        self._end_of_text()

    def _end_of_text(self) -> None:
        if words_of(self._text):
            self.found.append(self._text.strip())
        self._text = ""


def plain_text_of_template(source: str) -> list[str]:
    """Return the words of a template that stand outside translation tags."""
    page: list[str] = []
    found: list[str] = []
    skipped: str | None = None
    for token in Lexer(source).tokenize():
        name = token.contents.split()[0] if token.contents.split() else ""
        if skipped:
            skipped = None if _ends(token, name, skipped) else skipped
        elif token.token_type == TokenType.BLOCK and name in {
            "blocktranslate",
            "comment",
        }:
            skipped = name
        else:
            page.append(_shown(token))
            found += _literals(token, name)
    spoken = _Spoken()
    spoken.feed("".join(page))
    spoken.close()
    return [text.replace(GAP, "…") for text in spoken.found] + found


def _ends(token: Token, name: str, skipped: str) -> bool:
    return token.token_type == TokenType.BLOCK and name == f"end{skipped}"


def _shown(token: Token) -> str:
    if token.token_type == TokenType.TEXT:
        return token.contents
    return GAP if token.token_type == TokenType.VAR else ""


def _literals(token: Token, name: str) -> list[str]:
    """Return words in the arguments of filters and phrases handed to another template."""
    if token.token_type not in {TokenType.VAR, TokenType.BLOCK}:
        return []
    found = [
        words
        for _quote, words in FILTER_WORDS.findall(token.contents)
        if PHRASE.search(words)
    ]
    if token.token_type == TokenType.BLOCK and name in {"include", "with"}:
        found += [
            words
            for _q, words in QUOTED.findall(token.contents)
            if PHRASE.search(words)
        ]
    return found


MESSAGE_LEVELS = frozenset({"debug", "info", "success", "warning", "error"})
SPOKEN_ARGUMENTS = frozenset(
    {
        *("label", "help_text", "empty_label", "verbose_name", "verbose_name_plural"),
        *("message", "fix", "because", "cause", "next_action", "question", "answer"),
        *("hint", "summary"),
    }
)
SPOKEN_KEYS = frozenset({"placeholder", "aria-label", "title", "required", "invalid"})
CHOICES = frozenset({"TextChoices", "IntegerChoices"})
REFUSALS = frozenset({"ValidationError", "add_error"})


def plain_text_of_code(source: str, errors: frozenset[str]) -> list[str]:
    """Return literals of a module that people read though nothing translates them.

    ``errors`` are the names of exceptions whose message is shown.
    """
    finder = _Finder(errors | REFUSALS)
    finder.visit(ast.parse(source))
    return finder.found


class _Finder(ast.NodeVisitor):
    """Looks where strings become words for people."""

    def __init__(self, shown: frozenset[str]) -> None:
        self.found: list[str] = []
        self._shown = shown

    def visit_Call(self, node: ast.Call) -> None:
        """Take arguments of messages, fields, findings and errors."""
        name = _name(node.func)
        owner = _name(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        if owner == "messages" and name in MESSAGE_LEVELS:
            self._take(*node.args[1:2])
        elif name in self._shown:
            self._take(*(node.args[1:2] if name == "add_error" else node.args))
        for keyword in node.keywords:
            if keyword.arg in SPOKEN_ARGUMENTS:
                self._take(keyword.value)
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        """Take attributes of widgets and messages of fields."""
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value in SPOKEN_KEYS:
                self._take(value)
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Take the labels of choices."""
        if any(_name(base) in CHOICES for base in node.bases):
            for line in node.body:
                if isinstance(line, ast.Assign):
                    self._take_label(line.value)
        self.generic_visit(node)

    def _take_label(self, value: ast.expr) -> None:
        if isinstance(value, ast.Tuple) and len(value.elts) > 1:
            self._take(value.elts[-1])
        else:
            self._take(value)

    def _take(self, *values: ast.expr) -> None:
        for value in values:
            self.found += [
                words for words in _plain(value) if words_of(words) and " " in words
            ]


def _name(node: ast.expr) -> str:
    """Return the last name of a dotted expression."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _plain(node: ast.expr) -> Iterator[str]:
    """Yield the literals that an expression may come to, calls not looked into."""
    match node:
        case ast.Constant(value=str(words)):
            yield words
        case ast.JoinedStr(values=parts):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}"
                for part in parts
            )
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            yield from _plain(one)
            yield from _plain(other)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _plain(value)
        case _:
            return
