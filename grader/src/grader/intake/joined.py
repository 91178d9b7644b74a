"""Joins a source with the student's own headers: one text is compiled, compared and shown.

Each ``#include "x.cuh"`` of a file that the student handed in is replaced by that file. Files provided by the
assignment are left to the compiler, and the student's copies are ignored. Line numbers refer to the joined text, which
is what the card shows.
"""

import re
from collections.abc import Container, Mapping
from pathlib import PurePosixPath

from grader.base.files import FileError
from grader.intake.tree import Node, readable
from grader.model.discovery import MOST_BYTES

HEADERS = (".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc")
_DEEPEST = 20
# Comments, literals (raw ones first), and include directives at the start of a line.
_PIECES = re.compile(
    rb"//(?:[^\n\\]|\\.)*|/\*.*?\*/|R\"([^()\\\s]{0,16})\(.*?\)\1\"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|"
    rb"^[ \t]*#[ \t]*(?:include[ \t]*\"(?P<name>[^\"\n]+)\"[^\n]*|(?P<once>pragma[ \t]+once)[^\n]*)",
    re.S | re.M,
)
Path = tuple[str, ...]


def included(text: bytes) -> list[str]:
    """The names that a source includes in quotes, as written."""
    return [found["name"].decode("utf-8", "replace") for found in _PIECES.finditer(text) if found["name"]]


def joined(path: Path, text: bytes, files: Mapping[Path, Node], provided: Container[str]) -> tuple[bytes, list[Path]]:
    """The source at `path` with its own headers, and which of `files` it contains; FileError if too large."""
    work = _Work(files, provided)
    return work.whole(path, text, 0), work.used


class _Work:
    """The text joined so far."""

    def __init__(self, files: Mapping[Path, Node], provided: Container[str]) -> None:
        self.used: list[Path] = []
        self._files, self._provided = files, provided
        self._once: set[Path] = set()
        self._bytes = 0

    def whole(self, path: Path, text: bytes, depth: int) -> bytes:
        self._bytes += len(text)
        if self._bytes > MOST_BYTES or depth > _DEEPEST:
            what = f"{MOST_BYTES:,} bytes" if depth <= _DEEPEST else f"{_DEEPEST} files that include each other"
            raise FileError(f"{readable(path[-1])} with its headers is more than {what}")
        out, end, has_own = [], 0, False
        for found in _PIECES.finditer(text):
            replacement = b""
            if found["name"]:
                target = self._target(path, found["name"].decode("utf-8", "replace"))
                if target is None:
                    continue
                replacement, has_own = self._inner(path, target, depth), True
            elif not (found["once"] and depth):
                continue
            out += [text[end : found.start()], replacement]
            end = found.end()
        return b"".join([*out, text[end:]]) if has_own or depth else text

    def _inner(self, path: Path, target: Path, depth: int) -> bytes:
        if target in self._once:
            return b""
        text = self._files[target].read(MOST_BYTES).removeprefix(b"\xef\xbb\xbf")
        if any(found["once"] for found in _PIECES.finditer(text)):
            self._once.add(target)
        if target not in self.used:
            self.used.append(target)
        inner = self.whole(target, text, depth + 1)
        ending = b"" if inner.endswith(b"\n") else b"\n"
        return b"// ---- %b\n%b%b// ---- %b" % (_name(target), inner, ending, _name(path))

    def _target(self, path: Path, name: str) -> Path | None:
        """The included file: the one in the same folder, else the only one of that name."""
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if not parts or parts[-1] in self._provided:
            return None
        beside = list(path[:-1])
        for part in parts:
            if part == ".." and beside:
                beside.pop()
            elif part not in ("..", ".", "/"):
                beside.append(part)
        if tuple(beside) in self._files:
            return tuple(beside)
        same = [one for one in self._files if one[-1] == parts[-1] and one != path]
        return same[0] if len(same) == 1 else None


def _name(path: Path) -> bytes:
    return re.sub(r"[^\w.+ -]", "_", readable(path[-1])).encode()
