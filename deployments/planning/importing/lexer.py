"""Splits shell text into words and operators, expanding nothing and running nothing."""

import re

from deployments.planning.importing.limits import (
    MOST_WORDS,
    Budget,
    UnreadableLaunchError,
)
from deployments.planning.importing.words import (
    Operator,
    Remark,
    RemarkKind,
    Token,
    Word,
)
from deployments.planning.text import text

_PLAIN = re.compile(r"[^\s'\"\\$`|&;()<>{}#]+")
_BLANK = re.compile(r"(?:[ \t\r\f\v\u00a0\u3000]|\\\r?\n|[`^]\r?\n)+")
_LOST_BACKSLASH = re.compile(r"\\[ \t]+\r?\n")
_ARRAY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=\(")
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\1")
_REDIRECT = re.compile(r"\d*(?:<<<|&>>|&>|>>|>&|<&|>\||<>|>|<)")
_NAME = re.compile(r"\$(?:\{?([A-Za-z_][A-Za-z0-9_]*)|[0-9@*#?!$-])")
_PROSE = re.compile(r"[^\n'\"=$|{}\\]*[A-Za-z]'(?:s|t|re|ll|ve|d|m)\b[^\n]*")
_PLACEHOLDER = re.compile(r"<[^<>\s|&;'\"]{1,80}>")
_FENCE = re.compile(r"```[^\n]*|~~~[^\n]*")
_CLOSERS = {"(": ")", "{": "}"}


class Lexer:
    """Reads one script; ``tokens`` and ``remarks`` hold what was found."""

    def __init__(self, text: str, start: int, end: int, budget: Budget) -> None:
        """Read ``text`` from ``start`` to ``end``."""
        self.text = text
        self.at = start
        self.end = end
        self.tokens: list[Token] = []
        self.remarks: list[Remark] = []
        self._line_start = True
        self._documents: list[str] = []
        self._after_comment = False
        budget.spend(end - start + 1)
        self._read()

    def _read(self) -> None:
        while self.at < self.end:
            if len(self.tokens) > MOST_WORDS:
                raise UnreadableLaunchError(
                    text(
                        "The input has more than {most} words; paste the launch command alone.",
                        most=MOST_WORDS,
                    )
                )
            if self._line_start and self._skip_line():
                continue
            self._line_start = False
            self._step()

    def _skip_line(self) -> bool:
        for pattern in (_FENCE, _PROSE):
            match = pattern.match(self.text, self.at, self.end)
            if match:
                self.at = match.end()
                self._line_start = False
                return True
        return False

    def _step(self) -> None:
        blank = _BLANK.match(self.text, self.at, self.end)
        if blank:
            self.at = blank.end()
            return
        character = self.text[self.at]
        if character == "\n":
            self._line_end()
        elif character == "#":
            self.at = self._line_stop()
            self._after_comment = True
        elif self._placeholder():
            return
        elif character in "|&;()<>" or self._is_redirect():
            self._operator()
        elif not self._lost_backslash() and not self._array():
            self._word()

    def _placeholder(self) -> bool:
        """A name that the reader of a document is to fill in, such as ``<MODEL>``."""
        match = _PLACEHOLDER.match(self.text, self.at, self.end)
        if match is None:
            return False
        self._add(Token(word=Word(text=match[0], start=match.start(), end=match.end())))
        self.at = match.end()
        return True

    def _is_redirect(self) -> bool:
        match = _REDIRECT.match(self.text, self.at, self.end)
        return match is not None

    def _line_end(self) -> None:
        self.at += 1
        self._line_start = True
        self._add(Token(operator=Operator.LINE, after_comment=self._after_comment))
        self._after_comment = False
        for name in self._documents:
            self._document(name)
        self._documents = []

    def _document(self, name: str) -> None:
        pattern = re.compile(rf"^[ \t]*{name}[ \t\r]*$", re.MULTILINE)
        match = pattern.search(self.text, self.at, self.end)
        stop = match.start() if match else self.end
        self._add(Token(document=(self.at, stop)))
        self._add(Token(operator=Operator.LINE))
        self.at = match.end() if match else self.end

    def _operator(self) -> None:
        heredoc = _HEREDOC.match(self.text, self.at, self.end)
        redirect = _REDIRECT.match(self.text, self.at, self.end)
        if heredoc:
            self._documents.append(heredoc[2])
            self.at = heredoc.end()
        elif redirect:
            self.at = redirect.end()
            self._add(Token(operator=Operator.REDIRECT))
        else:
            self.at += 1
            self._add(Token(operator=Operator.OTHER))

    def _lost_backslash(self) -> bool:
        match = _LOST_BACKSLASH.match(self.text, self.at, self.end)
        if match is None:
            return False
        self.remarks.append(
            Remark(
                kind=RemarkKind.SPACE_AFTER_BACKSLASH,
                start=match.start(),
                end=match.end(),
            )
        )
        self.at = match.end()
        return True

    def _array(self) -> bool:
        match = _ARRAY.match(self.text, self.at, self.end)
        if match is None:
            return False
        name = Word(text=match[0][:-1], start=match.start(), end=match.end() - 1)
        self.at = match.end()
        members: list[Word] = []
        while self.at < self.end and self.text[self.at] != ")":
            character = self.text[self.at]
            if character.isspace() or character in "|&;(<>":
                self.at += 1
            elif character == "#":
                self.at = self._line_stop()
            elif not self._lost_backslash():
                before = self.at
                members.append(self._scan())
                self.at = max(self.at, before + 1)
        self.at += 1
        self._add(Token(word=name, array=tuple(members)))
        return True

    def _word(self) -> None:
        before = self.at
        word = self._scan()
        self.at = max(self.at, before + 1)
        self._add(Token(word=word))

    def _scan(self) -> Word:
        start, pieces = self.at, _Pieces()
        while self.at < self.end:
            plain = _PLAIN.match(self.text, self.at, self.end)
            if plain:
                pieces.bare(plain[0])
                self.at = plain.end()
                continue
            if not self._special(pieces):
                break
        return Word(
            text="".join(pieces.texts),
            start=start,
            end=self.at,
            quoted=pieces.quoted,
            damaged=pieces.damaged,
            frozen=tuple(pieces.frozen),
        )

    def _special(self, pieces: "_Pieces") -> bool:
        character = self.text[self.at]
        if character in "'\"":
            self._quote(character, pieces)
        elif character == "\\":
            return self._backslash(pieces)
        elif character == "$":
            self._dollar(pieces)
        elif character == "`":
            self._command("`", pieces)
        elif character in "{}#":
            pieces.bare(character)
            self.at += 1
        else:
            return False
        return True

    def _quote(self, mark: str, pieces: "_Pieces") -> None:
        stop = self._closing(mark)
        if stop is None:
            self.remarks.append(
                Remark(kind=RemarkKind.QUOTE_NOT_CLOSED, start=self.at, end=self.at + 1)
            )
            stop = self._line_stop()
        inside = self.text[self.at + 1 : stop]
        pieces.quote(inside, mark)
        self.at = min(stop + 1, self.end)

    def _closing(self, mark: str) -> int | None:
        at = self.at + 1
        while at < self.end:
            found = self.text.find(mark, at, self.end)
            if found < 0:
                return None
            if mark == "'" or not self._escaped(found):
                return found
            at = found + 1
        return None

    def _escaped(self, position: int) -> bool:
        count = 0
        while (
            position - 1 - count > self.at and self.text[position - 1 - count] == "\\"
        ):
            count += 1
        return count % 2 == 1

    def _line_stop(self) -> int:
        found = self.text.find("\n", self.at, self.end)
        return self.end if found < 0 else found

    def _backslash(self, pieces: "_Pieces") -> bool:
        following = self.text[self.at + 1 : self.at + 2]
        if following in ("\n", "\r", ""):
            return False
        if _LOST_BACKSLASH.match(self.text, self.at, self.end):
            return False
        pieces.texts.append(following)
        self.at += 2
        return True

    def _dollar(self, pieces: "_Pieces") -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following in _CLOSERS:
            self._group(following, pieces)
        elif following == "'":
            self.at += 1
            self._quote("'", pieces)
        else:
            name = _NAME.match(self.text, self.at, self.end)
            stop = name.end() if name else self.at + 1
            pieces.texts.append(self.text[self.at : stop])
            self.at = stop

    def _group(self, opener: str, pieces: "_Pieces") -> None:
        depth, at = 0, self.at + 1
        closer = _CLOSERS[opener]
        while at < self.end:
            depth += (self.text[at] == opener) - (self.text[at] == closer)
            at += 1
            if depth == 0:
                break
        pieces.texts.append(self.text[self.at : at])
        self.at = at

    def _command(self, mark: str, pieces: "_Pieces") -> None:
        found = self.text.find(mark, self.at + 1, self._line_stop())
        stop = self.at + 1 if found < 0 else found + 1
        pieces.texts.append(self.text[self.at : stop])
        self.at = stop

    def _add(self, token: Token) -> None:
        self.tokens.append(token)


class _Pieces:
    """What one word is put together from."""

    __slots__ = ("_bare_after_brace", "_brace", "damaged", "frozen", "quoted", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.quoted = False
        self.damaged = False
        self.frozen: list[str] = []
        self._brace = False
        self._bare_after_brace = False

    def bare(self, text: str) -> None:
        """Take unquoted text; inside braces it may be taken apart."""
        if self._brace and ("," in text or ":" in text):
            self.damaged = True
        if "{" in text:
            self._brace = True
        self.texts.append(text)

    def quote(self, inside: str, mark: str) -> None:
        """Take quoted text."""
        self.quoted = True
        if self._brace and mark == '"':
            self.damaged = True
        if mark == '"':
            self.texts.append(re.sub(r'\\(["\\$`])|\\\r?\n', r"\1", inside))
        else:
            self.frozen.extend(name for name in _NAME.findall(inside) if name)
            self.texts.append(inside)
        if inside.lstrip().startswith("{") and not inside.rstrip().endswith("}"):
            self._brace = self._brace or mark == '"'
