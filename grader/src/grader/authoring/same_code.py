"""Finds launchers with the same code in two sources of one assignment: a test passed by one is passed by the other."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from grader.base.tokens import COMMENT, NUMBER, QUOTED

_COMMENT = re.compile(rf"{COMMENT} | ((?<!\w){NUMBER} | {QUOTED})", re.VERBOSE)
_TOKEN = re.compile(rf"{NUMBER} | {QUOTED} | \w+ | \S", re.VERBOSE)
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_OPEN, _CLOSE = "({[", ")}]"
_UNNAMED = {"namespace", "extern", "operator", "__attribute__", "asm"}  # such code may matter although no code names it
_TYPES = {"struct", "class", "union", "enum"}
_COMMON = {
    *("alignas", "auto", "bool", "char", "class", "const", "constexpr", "double", "enum", "float", "inline", "int"),
    *("long", "short", "signed", "static", "struct", "template", "typedef", "typename", "union", "unsigned", "using"),
    *("void", "__constant__", "__device__", "__forceinline__", "__global__", "__host__", "__launch_bounds__"),
    *("__managed__", "__noinline__", "__restrict__", "__shared__"),
}


@dataclass(frozen=True)
class _Piece:
    """A top-level declaration. `defines`: its names; `is_unnamed`: it may matter although no code names it."""

    words: tuple[str, ...]
    defines: frozenset[str]
    is_unnamed: bool = False
    has_state: bool = False
    has_body: bool = False

    @property
    def names(self) -> frozenset[str]:
        return frozenset(word for word in self.words if _NAME.match(word))


class Code:
    """A source, cut into its top-level declarations."""

    def __init__(self, source: str) -> None:
        self._pieces = [_piece(words) for words in _cut(source)]
        self._named: defaultdict[str, list[int]] = defaultdict(list)
        for index, piece in enumerate(self._pieces):
            for name in piece.defines:
                self._named[name].append(index)

    def key(self, launcher: str) -> str:
        """A hash of a launcher's code; "" where its definition isn't found."""
        own = self._named.get(launcher, [])
        if not any(self._pieces[index].has_body for index in own):
            return ""
        unnamed = self._reached(index for index, piece in enumerate(self._pieces) if piece.is_unnamed)
        reached = self._reached(own)
        while sharing := self._sharing_state(reached) - reached:
            reached |= self._reached(sharing)
        text = "\n".join(" ".join(self._pieces[index].words) for index in sorted(reached | unnamed))
        return hashlib.sha256(text.encode()).hexdigest()

    def _reached(self, start: Iterable[int]) -> set[int]:
        reached: set[int] = set()
        todo = list(start)
        while todo:
            index = todo.pop()
            if index not in reached:
                reached.add(index)
                todo += [other for name in self._pieces[index].names for other in self._named.get(name, ())]
        return reached

    def _sharing_state(self, reached: set[int]) -> set[int]:
        state = {name for index in reached if self._pieces[index].has_state for name in self._pieces[index].defines}
        return {index for index, piece in enumerate(self._pieces) if state & piece.names}


def _cut(source: str) -> list[tuple[str, ...]]:
    """The tokens of each top-level declaration; empty for unbalanced braces, raw strings and `##`."""
    if 'R"' in source or "##" in source:
        return []
    text = _COMMENT.sub(lambda match: match[1] or " ", source.replace("\\\n", " "))
    pieces: list[tuple[str, ...]] = []
    piece: list[str] = []
    depth = 0
    for line in text.split("\n"):
        words = _TOKEN.findall(line)
        if words and words[0] == "#":  # inside a function it is part of that function
            if piece:
                piece += ["\n", *words, "\n"]
            else:
                pieces.append(tuple(words))
            continue
        for word in words:
            piece.append(word)
            depth += (word in _OPEN) - (word in _CLOSE)
            if depth == 0 and (word == ";" or (word == "}" and _has_body(piece))):
                pieces.append(tuple(piece))
                piece = []
    return [] if piece or depth else [words for words in pieces if words != (";",)]


def _has_body(piece: list[str]) -> bool:
    """Whether its braces belong to a function or namespace, which no semicolon follows."""
    head = _outside(_head(piece))
    return "=" not in head and not _TYPES & set(head[:1]) and ("(" in piece[: len(_head(piece))] or "namespace" in head)


def _head(words: Iterable[str]) -> list[str]:
    """The tokens before the first brace."""
    head: list[str] = []
    for word in words:
        if word == "{":
            break
        head.append(word)
    return head


def _outside(words: Iterable[str]) -> list[str]:
    """The tokens outside all brackets, without a template's head."""
    outside: list[str] = []
    depth = angle = 0
    for word in words:
        if angle or (outside[-1:] == ["template"] and word == "<"):
            angle += (word == "<") - (word == ">")
            if not angle:
                outside.pop()
            continue
        depth += (word in _OPEN) - (word in _CLOSE)
        if not depth and word not in _CLOSE:
            outside.append(word)
    return outside


def _piece(words: tuple[str, ...]) -> _Piece:
    if words[0] == "#":
        return _Piece(words, frozenset(), is_unnamed=True)
    head = _head(words)
    outside = _outside(words)
    names = frozenset(word for word in outside if _NAME.match(word) and word not in _COMMON)
    every = frozenset(word for word in words if _NAME.match(word)) - _COMMON
    if _UNNAMED & set(head):
        return _Piece(words, every, is_unnamed=True, has_state=True)
    first = outside[0] if outside else ""
    if first in _TYPES:
        is_object = words[-2] != "}" if "{" in words else len(names) > 1
        defined = every if first == "enum" else names
        return _Piece(words, defined, is_unnamed=is_object, has_state=is_object or "static" in words)
    called = {name for name, after in pairwise(head) if after == "(" and name in names}
    if called and len(head) < len(words) and "=" not in _outside(head):
        return _Piece(words, frozenset(called), has_state="static" in words[len(head) :], has_body=True)
    is_variable = first not in ("using", "typedef") and "constexpr" not in head  # or a function's declaration
    return _Piece(words, names, is_unnamed=is_variable, has_state=is_variable)
