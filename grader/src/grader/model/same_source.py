"""Tells whether two CUDA C++ files are the same except for comments and white space, and which line is which.

A file becomes its tokens, each with its line. Two files with the same tokens compile to the same code, so one run
serves both, and where the run names a line of one file, `line_map` has the other's. Files where that may not hold have
no normal form, and are then the same only byte for byte: a wrong line on a card is worse than a run too many.

* What can show a line number (``__LINE__``, ``assert`` …) keeps its lines and its spacing: those have to agree.
* What can turn source into text (``#`` in a macro) keeps its spacing.
* What a line-wise reading may get wrong has no form: ``##``, digraphs, trigraphs, a backslash at the end of a comment
  or within a word, a comment over several lines in or before a directive, quotes that aren't closed, raw strings.
  Nor has a file without code.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from grader.base.tokens import NUMBER

_PIECE = re.compile(
    rf"""
    (?P<comment>  //[^\n]* | /\*.*?\*/ )
  | (?P<header>   (?<=include)[ \t]*<[^>\n]*> )
  | (?P<raw>      (?:u8|[uUL])?R" )
  | (?P<token>    (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
                | (?:u8|[uUL])?'(?:\\.|[^'\\\n])*'
                | {NUMBER}
                | [^\W\d][\w$]*
                | <<<|>>>|<=>|->\*|<<=|>>=|\.\.\.|\+\+|--|->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|\.\* )
  | (?P<splice>   \\[ \t\r\f\v]*\n )
  | (?P<blank>    [ \t\r\f\v]+ )
  | (?P<feed>     \n )
  | (?P<other>    . )
    """,
    re.VERBOSE | re.DOTALL,
)
_SHOWS_LINES = re.compile(
    r"__(?:LINE|FILE|FILE_NAME|BASE_FILE|COUNTER|DATE|TIME|TIMESTAMP|INCLUDE_LEVEL)__|__builtin_(?:LINE|FILE|source)"
    r"|\bassert\b|source_location|stacktrace|_Pragma|__has_include|^[ \t]*#[ \t]*(?:line\b|\d)",
    re.MULTILINE,
)
_HAS_NO_FORM = re.compile(r"##|\?\?[=/'()!<>-]|[\x00\x1f]|^\ufeff")
_DIGRAPHS = {"<:", ":>", "<%", "%>", "%:"}
_SPLIT_END = re.compile(r"\*\\\s*\n")  # the end of a comment, */, split by a line continuation
_BETWEEN = "\x1f"
_HASH = "\n#"  # the start of a directive


@dataclass(frozen=True)
class Normal:
    """A file's tokens as one text, and the line of each."""

    text: str
    lines: tuple[int, ...]


def normal_form(source: bytes, headers: str = "") -> Normal | None:
    """The file's normal form; None if it has none. `headers` are the texts of the assignment's headers."""
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if _HAS_NO_FORM.search(text):
        return None
    reader = _Reader(text, shows_lines=bool(_SHOWS_LINES.search(text) or _SHOWS_LINES.search(headers)))
    return reader.normal(keeps_blanks="#" in re.sub(r"^[ \t]*#", "", headers, flags=re.MULTILINE))


def line_map(one: Normal, other: Normal) -> Mapping[int, int] | None:
    """Maps each line of one file to the other's; None if a line corresponds to several lines."""
    lines: dict[int, int] = {}
    for mine, theirs in zip(one.lines, other.lines, strict=True):
        if lines.setdefault(mine, theirs) != theirs:
            return None
    return lines


class _Reader:
    """Reads one file piece by piece."""

    def __init__(self, text: str, *, shows_lines: bool) -> None:
        self._text = text
        self._shows_lines = shows_lines
        self._tokens: list[tuple[str, bool, bool]] = []  # whether each is preceded by a blank, and whether that matters
        self._lines: list[int] = []
        self._is_directive = False
        self._is_first = True  # of its line
        self._is_after_comment = False  # a comment over several lines, which may end before a directive
        self._has_blank = False
        self._makes_text = False

    def normal(self, *, keeps_blanks: bool) -> Normal | None:
        line, at, last = 1, 0, ""
        for match in _PIECE.finditer(self._text):
            kind, piece = str(match.lastgroup), match[0]
            if kind == "raw":  # each may end anywhere: searching takes quadratic time
                return None
            if kind in ("comment", "splice", "other") and not self._is_readable(kind, piece, match):
                return None
            if kind == "feed":
                self._end_line(line)
            elif kind in ("comment", "splice", "blank"):
                self._has_blank = True
                self._is_after_comment |= kind == "comment" and "\n" in piece
            elif piece == "#" and self._is_first:
                if self._is_after_comment:
                    return None
                self._is_directive = True
                self._add(_HASH, line)
            else:
                if at == match.start() and last[-1:] + piece[0] in _DIGRAPHS:
                    return None
                self._makes_text |= piece == "#"
                self._add(piece, line)
            line += piece.count("\n")
            at, last = match.end(), piece
        self._end_line(line)
        if not self._tokens:
            return None
        keeps = keeps_blanks or self._makes_text or self._shows_lines
        words = [
            f" {token}" if has_blank and (keeps or matters) else token for token, has_blank, matters in self._tokens
        ]
        lines = tuple(self._lines)
        numbers = _BETWEEN + repr(lines) if self._shows_lines else ""
        return Normal(_BETWEEN.join(words) + numbers, lines)

    def _add(self, token: str, line: int) -> None:
        # A blank before the first token of a line is its indentation.
        has_blank = self._has_blank and not self._is_first and self._tokens[-1][0] != _HASH
        # In a directive "F (x)" is not "F(x)".
        self._tokens.append((token.strip(" \t"), has_blank, self._is_directive))
        self._lines.append(line)
        self._is_first = self._has_blank = False

    def _end_line(self, line: int) -> None:
        if self._is_directive:
            self._tokens.append(("\n", False, False))
            self._lines.append(line)
        self._is_directive = self._is_after_comment = False
        self._is_first = True

    def _is_readable(self, kind: str, piece: str, match: re.Match[str]) -> bool:
        text = self._text
        if kind == "splice":  # next to a blank it separates words; it never joins them
            after = text[match.end() : match.end() + 1]
            return text[match.start() - 1 : match.start()].isspace() or not after or after.isspace()
        if kind == "comment":
            if piece.startswith("//"):
                return not piece.rstrip().endswith("\\")
            return not (_SPLIT_END.search(piece) or ("\n" in piece and self._is_directive))
        if piece == "/" and text.startswith("*", match.end()):  # an unclosed comment
            return False
        return piece not in "\"'\\"
