"""Syntax highlighting for CUDA C++ and Python in time that is linear in the text, whatever the text is.

A lexer that looks for whole declarations tries to end one at every blank and starts over at the next: a few thousand
line feeds after a word then take minutes. This one knows only tokens, and no character is read more than a few times.
"""

import functools
import keyword
import re
import time
from dataclasses import dataclass

from markupsafe import Markup, escape

from grader.base.tokens import COMMENT, NUMBER, PYTHON_NUMBER, PYTHON_QUOTED, QUOTED

_TOKEN = re.compile(
    rf"""
    (?P<c>       {COMMENT} )
  | (?P<cp>      ^[ \t]*\#(?:[^\\\n/]+|\\[\s\S]?|/(?![/*]))* )
  | (?P<s>       (?:u8|[uUL])?R"(?P<end>[^\s()\\"]{{0,16}})\((?:[\s\S]*?\)(?P=end)"|[\s\S]*)
               | (?:(?:u8|[uUL])(?=["']))?(?:{QUOTED}) )
  | (?P<m>       {NUMBER} )
  | (?P<word>    [^\W\d][\w$]* )
  | (?P<brace>   [{{}}] )
  | (?P<rest>    [^\w\s"'/{{}}.]+ | \s+ | [\s\S] )
    """,
    re.VERBOSE | re.MULTILINE,
)
_PYTHON_TOKEN = re.compile(
    rf"""
    (?P<c>       \#[^\n]* )
  | (?P<cp>      ^[ \t]*@[\w.]* )
  | (?P<s>       (?:[bBfFrRuU]{{1,2}}(?=["']))?(?:{PYTHON_QUOTED}) )
  | (?P<m>       {PYTHON_NUMBER} )
  | (?P<word>    [^\W\d]\w* )
  | (?P<rest>    [^\w\s"'#@.]+ | \s+ | [\s\S] )
    """,
    re.VERBOSE | re.MULTILINE,
)
_CALL = re.compile(r"[ \t]*\(")
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """alignas alignof asm auto break case catch class const const_cast constexpr continue decltype
        default delete do dynamic_cast else enum explicit extern false final for friend goto if inline
        mutable namespace new noexcept nullptr operator override private protected public register
        reinterpret_cast return sizeof static static_assert static_cast struct switch template this
        thread_local throw true try typedef typeid typename union using virtual volatile while __global__
        __device__ __host__ __shared__ __constant__ __managed__ __restrict__ __forceinline__ __noinline__
        __launch_bounds__ __grid_constant__ __cluster_dims__""",
    )
)
_TYPES = re.compile(
    r"bool|wchar_t|char(?:8|16|32)_t|s?size_t|ptrdiff_t|u?int(?:8|16|32|64|ptr)_t|(?:un)?signed|void"
    r"|dim3|half|__half2?|cuda(?:Error|Stream|Event)_t|(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]?"
)
_PYTHON_TYPES = re.compile(r"bool_?|bytes|complex(?:64|128)|u?int(?:8|16|32|64|p)|int|float(?:16|32|64)?|str|void")
_TOKENS_BETWEEN_LOOKS = 1024  # between two clock checks


@dataclass(frozen=True)
class Highlighted:
    """A text's lines with their colours; `is_whole` is false if time ran out and the rest is not coloured."""

    lines: list[Markup]
    is_whole: bool


@functools.lru_cache(maxsize=1)  # a student's card and the staff's show the same text
def highlight(text: str, seconds: float, *, is_python: bool = False) -> Highlighted:
    """The lines of `text`, escaped, in spans with a class for each kind of token."""
    deadline = time.thread_time() + seconds  # processor time: load from other processes does not count
    lines: list[list[str]] = [[]]
    depth = 0
    position = 0
    for number, token in enumerate((_PYTHON_TOKEN if is_python else _TOKEN).finditer(text)):
        if number % _TOKENS_BETWEEN_LOOKS == 0 and time.thread_time() > deadline:
            break
        position = token.end()
        kind = token.lastgroup or ""
        piece = token[0]
        if kind == "brace":
            depth += 1 if piece == "{" else -1
        elif kind == "word":
            if is_python:
                kind = _python_word_kind(text, piece, token.start())
            else:
                kind = _word_kind(text, piece, position, depth)
        _add(lines, piece, kind if kind not in ("brace", "rest", "word") else "")
    else:
        position = len(text)
    if position < len(text):
        _add(lines, text[position:], "")
    return Highlighted([Markup("".join(line)) for line in lines], position == len(text))  # noqa: S704


def _word_kind(text: str, word: str, end: int, depth: int) -> str:
    if word in _KEYWORDS:
        return "k"
    if _TYPES.fullmatch(word):
        return "kt"
    return "nf" if depth == 0 and _CALL.match(text, end) else "word"


def _python_word_kind(text: str, word: str, start: int) -> str:
    if keyword.iskeyword(word):
        return "k"
    if _PYTHON_TYPES.fullmatch(word):
        return "kt"
    return "nf" if text.endswith(("def ", "class "), 0, start) else "word"


def _add(lines: list[list[str]], piece: str, kind: str) -> None:
    """A token that spans lines gets a span on each."""
    for index, part in enumerate(piece.split("\n")):
        if index:
            lines.append([])
        if part:
            text = str(escape(part))
            lines[-1].append(f'<span class="{kind}">{text}</span>' if kind else text)
