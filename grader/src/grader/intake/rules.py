"""A rule describes which part of a path identifies the student: ``{login}/{attempt}/``, ``{name}_{number}_{file}``.

Known platforms are such rules (`presets`), and an instructor writes one for any other (`[matching]` in course.toml).
docs/reference/submissions.md lists the fields. A rule that ends with ``/`` is for folders: the whole folder is the
hand-in.

A name is chosen by its owner, and may contain the separator that ends it in a rule: "Ada_4201" before "_4300_…". So a
path may have several readings, which are all in `Hit.readings`; the roster decides between them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from grader.base.errors import GraderError
from grader.base.files import FileError
from grader.intake.moments import PATTERN as TIME
from grader.intake.tree import FOLDER, Node

IDENTITY = ("name", "group", "login", "id", "address", "number")
_LONGEST = 400  # characters of a name that are read
_MOST_READINGS = 16
_FIELDS = {
    "name": ".+?", "group": ".+?", "login": ".+?", "id": r"[^\s_]+?", "address": r"[^\s/]+?@[^\s_/]+",
    "number": r"\d{1,20}", "attempt": r"\d{1,9}", "time": TIME, "late": "LATE|late", "file": ".+", "*": ".+?",
    "#": r"\d+",
    # Fields only for presets: the code of an anonymous person, text typed online, Moodle's kinds.
    "code": "[0-9A-Za-z]{1,40}", "typed": r"(?:text|link)(?:-\d+)?\.html", "kind": "(?:file|onlinetext|comments)",
}  # fmt: skip
_LAZY = {"name", "group", "login", "id", "address", "*"}
_TOKEN = re.compile(r"\{([^{}]*)\}|\[|\]|[^{}\[\]]+")
Reading = Mapping[str, str]


@dataclass(frozen=True)
class Hit:
    """A match of a rule: the node, its top-level entry, its path, its readings."""

    node: Node
    top: str
    path: str
    readings: tuple[Reading, ...]


@dataclass(frozen=True)
class _Part:
    """A pattern for one name in a path, split at the first field that can end in several places."""

    before: re.Pattern[str]
    hinge: str
    after: re.Pattern[str]
    longest_first: bool

    def readings(self, name: str) -> Iterator[dict[str, str]]:
        start = self.before.match(name)
        if start is None or len(name) > _LONGEST:
            return
        if not self.hinge:
            if found := self.after.fullmatch(name):
                yield _named(found)
            return
        ends = range(start.end() + 1, len(name) + 1)
        for end in reversed(ends) if self.longest_first else ends:
            rest = self.after.fullmatch(name, end)
            value = name[start.end() : end]
            if rest and re.fullmatch(_FIELDS[self.hinge], value, re.S):
                yield {**_named(start), self.hinge: value, **_named(rest)}


def _named(found: re.Match[str]) -> dict[str, str]:
    return {name: value for name, value in found.groupdict().items() if value is not None}


@dataclass(frozen=True)
class Rule:
    """A compiled rule. `shared`: the separator that ends the prefix of all names, if the rule begins `{*}_{login}`."""

    text: str
    parts: tuple[_Part, ...]
    is_folder: bool
    shared: str = ""
    fields: frozenset[str] = field(default_factory=frozenset)

    def hits(self, top: Node) -> Iterator[Hit]:
        """All matches in a folder, sorted by name."""
        yield from self._below(top, 0, (), ({},))

    def _below(self, folder: Node, depth: int, path: tuple[str, ...], above: tuple[Reading, ...]) -> Iterator[Hit]:
        is_last = depth + 1 == len(self.parts)
        try:
            inner = folder.visible()
        except FileError:
            return  # reported to its owner when it is read
        for node in inner:
            if (node.kind == FOLDER) != (not is_last or self.is_folder):
                continue
            found = []
            for number, own in enumerate(self.parts[depth].readings(node.name)):
                if number == _MOST_READINGS:
                    break
                found += [{**one, **own} for one in above]
            if found and is_last:
                whole = (*path, node.name)
                yield Hit(node, whole[0], "/".join(whole), tuple(found))
            elif found:
                yield from self._below(node, depth + 1, (*path, node.name), tuple(found[:_MOST_READINGS]))


def rule(text: str, where: str = "") -> Rule:
    """Compiles a rule; raises GraderError, prefixed by `where`, saying what is wrong with it."""
    names = text.removesuffix("/").split("/")
    parts: list[_Part] = []
    fields: set[str] = set()
    for name in names:
        part, own = _part(name, text, where)
        parts.append(part)
        if again := fields & own - {"*", "#"}:
            raise _wrong(text, where, f"{{{min(again)}}} is in it twice")
        fields |= own
    if not fields & {*IDENTITY, "code"}:
        raise _wrong(text, where, f"it has none of {', '.join(f'{{{one}}}' for one in IDENTITY)}: whose is it?")
    if "file" in fields and (text.endswith("/") or "{file}" not in names[-1] or not names[-1].endswith("{file}")):
        raise _wrong(text, where, "{file} is the end of a rule")
    if names[-1] == "{file}":  # everything in the folder
        parts, text = parts[:-1], text.removesuffix("{file}")
    shared = re.match(r"\{\*\}([^{}\[\]/])\{(login|group)\}", text)
    return Rule(text, tuple(parts), text.endswith("/"), shared[1] if shared else "", frozenset(fields))


def _part(name: str, text: str, where: str) -> tuple[_Part, set[str]]:
    before, after, hinge, follows, depth = "", "", "", "", 0
    own: set[str] = set()
    if not name or "".join(token[0] for token in _TOKEN.finditer(name)) != name:
        raise _wrong(text, where, "an empty part, or a bracket that is not closed")
    for token in _TOKEN.finditer(name):
        piece = re.escape(token[0])
        if token[0] in "[]":
            depth += 1 if token[0] == "[" else -1
            if depth < 0:
                raise _wrong(text, where, "a ] without its [")
            piece = "(?:" if token[0] == "[" else ")?"
        elif token[1] is not None:
            if token[1] not in _FIELDS:
                raise _wrong(text, where, f"{{{token[1]}}} is no field; known are {', '.join(_FIELDS)}")
            if token[1] in own - {"*", "#"}:
                raise _wrong(text, where, f"{{{token[1]}}} is in it twice")
            is_kept = token[1] not in "*#" or (token[1] == "#" and "#" not in own)
            key = "digits" if token[1] == "#" else token[1]
            piece = f"(?P<{key}>{_FIELDS[token[1]]})" if is_kept else _FIELDS[token[1]]
            own.add(token[1])
            if token[1] in _LAZY and not hinge and not depth:
                hinge = token[1]
                continue
            follows = follows or (token[1] if hinge else "")
        if hinge:
            after += piece
        else:
            before += piece
    if depth:
        raise _wrong(text, where, "a [ without its ]")
    if not hinge:
        before, after = "", before
    return _Part(re.compile(before, re.S), hinge, re.compile(after, re.S), follows == "login"), own


def _wrong(text: str, where: str, why: str) -> GraderError:
    return GraderError(
        f'{where}: the rule "{text}" can\'t be used: {why}.\n'
        'Write for instance  rule = "{login}/{file}"  and look what it finds with:  grader match'
    )
