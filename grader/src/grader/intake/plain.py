"""For no particular platform: a folder, a source or an archive per student, whose name identifies the student.

With a roster, the class itself shows at which position of the names students are identified (`places`), and on which
level of folders: sections may have folders of their own. Files of one student in the same folder, such as a source and
its headers, are one hand-in. Folders such as ``ada/2026-11-20-21-58-01/`` or ``ada/2/`` are attempts if most students
have them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from grader.base.files import FileError
from grader.base.names import distinct, shown
from grader.intake.archive import SUFFIXES, is_archive
from grader.intake.handin import HandIn, Who
from grader.intake.matching import Matcher, named
from grader.intake.moments import PATTERN, moment
from grader.intake.places import PART, SHORTEST, Found, Places
from grader.intake.tree import FILE, FOLDER, Branch, Node, Renamed, is_junk, readable
from grader.model.handed import ADDRESS, GROUP, LOGIN, NAME, SID
from grader.model.handed import FOLDER as FOLDER_COLUMN
from grader.model.roster import Student

TITLE = "Plain folder"
SOURCES = (".cu", ".py")
FILE_NAMES = "file names"
_STAMP = "timestamp.txt"
_DEEPEST = 4  # levels of folders that are not named after students
_TIME = re.compile(PATTERN, re.I)
_ATTEMPT = re.compile(
    r"(?i)(?:(?:version|revision|attempt|submission|try|versuch|abgabe|intento|entrega|tentative|v)[\s_-]*)?(\d{1,4})"
    r"(?:\W+(?P<mark>on time|late))?"
)
_LETTERS = re.compile(r"[\W\d_]+")
_OTHER = re.compile(r"(?i)\.(?:ipynb|pdf|docx?|odt|rtf|txt|cuh|hpp|hh?|c|cc|cpp|7z|rar|png|jpe?g|html?|md)$")
_MOST_ATTEMPTS = 20
_MOST_ENTRIES = 5_000


@dataclass(frozen=True)
class _Entry:
    """A possible hand-in: a file or folder, and the names of the folders above it."""

    node: Node
    above: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        name = self.node.name.removesuffix(".txt") if self.node.kind == FILE else self.node.name
        stem = without_suffix(name)
        return shown(readable(_OTHER.sub("", stem) if stem == name and self.node.kind == FILE else stem))

    @property
    def is_work(self) -> bool:
        """Whether it is a hand-in even if its name contains no student's."""
        name = self.node.name.casefold()
        return self.node.kind != FILE or name.endswith(SOURCES) or is_archive(self.node.name)


class Level:
    """The entries of one level of folders, and the student of each."""

    def __init__(self, entries: Sequence[_Entry], matcher: Matcher) -> None:
        """Finds the positions that identify students in the entries' names."""
        self.entries = [one for one in entries if not is_junk(one.node.name)]
        self.matcher = matcher
        work = [one for one in self.entries if one.is_work] or self.entries
        files = [one for one in work if one.node.kind != FOLDER]
        self._places = Places([one.text for one in work], matcher, are_files=2 * len(files) > len(work))
        there = [(one.text, self._places.read(one.text)) for one in work]
        # If whole names identify students, people may have written them, some an id, some a login: not strict then.
        whole = [
            text == each[0].text if each else len(text) < SHORTEST and matcher.match(Who(text=text)).student is not None
            for text, each in there
        ]
        are_whole = 2 * sum(whole) > len(there)
        self.has_attempts = _are_usual(work, lambda node: any(True for _ in _inner(node)))
        self._is_strict = bool(self._places) and (self.has_attempts or not are_whole)
        self.found = {id(one): self._find(one.text) for one in self.entries}
        self.students = {one for found, _ in self.found.values() if found for one in found.students}

    def _find(self, text: str) -> tuple[Found | None, tuple[Student, ...]]:
        """The student identified by a name, or None; and the candidates if several fit."""
        if not self.matcher.roster:
            return None, ()
        there = self._places.read(text)
        every = [found for found in self._places.all(text).values() if found.kind in (SID, ADDRESS, LOGIN, NAME)]
        members = list(dict.fromkeys(one for found in every for one in found.students))
        if len(members) > 1 and (team := self.matcher.team_of(members)):
            return Found(GROUP, team, tuple(self.matcher.of_team(team))), ()
        alone = self.matcher.match(Who(text=text))
        if self._is_strict and alone.rule != FOLDER_COLUMN and len(there) < 2:  # noqa: PLR2004
            return (there[0], ()) if there else (None, tuple(self.matcher.words_in(text)))
        if alone.doubt:  # reported where it is resolved
            return None, ()
        own = [] if alone.student is None else [Found(alone.rule, text, (alone.student,))]
        whose = {one.students: one for one in (*there, *own)}
        if len(whose) > 1 and not (own and there and set(own[0].students) <= set(there[0].students)):
            return None, tuple(one.students[0] for one in whose.values())
        return next(iter((*there, *own)), None), ()

    def doubt(self, entry: "_Entry") -> str:
        """Why an entry's student can't be determined, although somebody fits."""
        found, rivals = self.found[id(entry)]
        if found is None and self._is_strict and len(self._places.read(entry.text)) < 2:  # noqa: PLR2004
            return "the part of its name that identifies students in the others matches nobody"
        return f"its name can be read as {' and as '.join(map(named, rivals))}" if rivals else ""

    def deeper(self) -> "tuple[Level, bool] | None":
        """Entries with a student, and those one level down; whether half of the opened folders hold a student's.

        None if the names on this level are students'.
        """
        work = [one for one in self.entries if one.is_work]
        nobodys = [one for one in work if one.node.kind == FOLDER and not self.found[id(one)][0]]
        if not self.matcher.roster or 2 * len(nobodys) <= len(work):
            return None
        below: list[_Entry] = []
        for one in nobodys:
            path = (*one.above, readable(one.node.name))
            try:
                below += [_Entry(node, path) for node in one.node.visible()]
            except FileError:
                below.append(one)
        if len(below) > _MOST_ENTRIES:
            return None
        level = Level([*(one for one in self.entries if one not in nobodys), *below], self.matcher)
        holding = {one.above for one in level.entries if one.above and level.found[id(one)][0]}
        return level, 2 * len(holding) >= len(nobodys)


def level_of(nodes: Sequence[Node], matcher: Matcher) -> Level:
    """A level of the folder tree with these nodes."""
    return Level([_Entry(node) for node in nodes], matcher)


def best_level(top: Node, matcher: Matcher) -> Level:
    """The level of folders on which most students are found, the highest if several tie."""
    best = level = level_of(top.visible(), matcher)
    for _ in range(_DEEPEST):
        below = level.deeper()
        if below is None:
            break
        level, holds = below
        best = level if holds and len(level.students) > len(best.students) else best
    return best


def hand_ins(level: Level, zone: tzinfo) -> list[HandIn]:
    """A hand-in per folder, source or archive, with the files of the same student; attempts are separate."""
    has_stamps = _are_usual(level.entries, lambda node: _stamp(node) is not None)
    made: list[HandIn] = []
    files: dict[object, list[tuple[_Entry, Found]]] = {}
    for entry in sorted(level.entries, key=lambda one: _natural(one.node.name)):
        found, rivals = level.found[id(entry)]
        doubt = level.doubt(entry)
        if entry.node.kind == FILE and not is_archive(entry.node.name) and found is not None:
            files.setdefault((found.students, _time(entry, zone)), []).append((entry, found))
        elif entry.is_work:
            one = replace(_hand_in(entry, found, zone), rivals=rivals, doubt=doubt)
            made += _attempts(one, entry.node, zone, is_usual=level.has_attempts, has_stamps=has_stamps)
    for each in files.values():
        made += _together(each, zone)
    order = {id(one): place for place, one in enumerate(made)}
    return [replace(one, order=one.order or order[id(one)]) for one in made]


def _hand_in(entry: _Entry, found: Found | None, zone: tzinfo) -> HandIn:
    text = entry.text
    at = _time(entry, zone)
    name = without_suffix(entry.node.name)
    return HandIn(
        distinct(text, name), (_who(text, found),), (_below(entry.above, entry.node),),
        "/".join((*entry.above, entry.node.name)), at=at, section="/".join(entry.above),
        team=found.text if found and found.kind == GROUP else text, source=FILE_NAMES if at else "",
    )  # fmt: skip


def _below(above: Sequence[str], node: Node) -> Node:
    """The node with the folders above it, because their names may be assignments'."""
    for name in reversed(above):
        node = Branch(name, [node])
    return Branch("", [node]) if above else node


def _who(text: str, found: Found | None) -> Who:
    if found and found.kind == SID:
        return Who(text=text, sid=found.text)
    if found is None or found.kind == GROUP or (found.text == text and found.kind != PART):
        return Who(text=text)
    if found.kind in (ADDRESS, LOGIN):
        return Who(email=found.text) if found.kind == ADDRESS else Who(logins=(found.text,))
    return Who(name=found.students[0].name)


def _time(entry: _Entry, zone: tzinfo) -> str:
    found = _TIME.search(readable(entry.node.name))
    return moment(found[0], zone) if found else ""


def _together(each: Sequence[tuple[_Entry, Found]], zone: tzinfo) -> list[HandIn]:
    """A student's files in one folder: one hand-in, or attempts if their names differ only in numbers."""
    by_base: dict[str, list[tuple[_Entry, Found]]] = {}
    for one in each:
        by_base.setdefault(_LETTERS.sub("", one[0].node.name.casefold()), []).append(one)
    versions = max(by_base.values(), key=len)
    made = []
    for place, first in enumerate(versions):
        whole = _hand_in(*first, zone)
        last = place + 1 == len(versions)
        files = [first, *(own[-1] for own in by_base.values() if own is not versions)] if last else [first]
        nodes = [Renamed(entry.node, _own_name(entry, found)) for entry, found in files]
        made.append(whole if len(files) == 1 else replace(whole, nodes=(Branch(whole.label, nodes),)))
    return made


def _own_name(entry: _Entry, found: Found) -> str:
    """A file's name without the student's, as a source includes it."""
    suffix = entry.node.name[len(without_suffix(entry.node.name)) :] if entry.is_work else ""
    rest = (found.after or found.before).strip(" _-()[],;+~=.")
    return f"{rest}{suffix}" if rest and not rest.isdigit() else entry.node.name


def _are_usual(entries: Sequence[_Entry], has: Callable[[Node], bool]) -> bool:
    """Whether at least half of the folders satisfy `has`."""
    folders = [one.node for one in entries if one.node.kind == FOLDER]
    return 0 < len(folders) <= 2 * sum(map(has, folders))


def _inner(folder: Node) -> Iterator[tuple[Node, str, int]]:
    """The attempt folders in a folder without sources of its own, each with its time or number."""
    try:
        inside = folder.visible()
    except FileError:
        return
    folders = [one for one in inside if one.kind == FOLDER]
    if any(_Entry(one).is_work and one.kind == FILE for one in inside):
        return
    for one in folders:
        number = _ATTEMPT.fullmatch(one.name)
        if _TIME.fullmatch(one.name):
            yield one, one.name, 0
        elif number and _share_a_name(folders):
            yield one, "", int(number[1])


def _share_a_name(folders: Sequence[Node]) -> bool:
    """Whether they contain files of the same name, as attempts do and tasks don't."""
    names = [{one.name for one in folder.visible()} for folder in folders if _ATTEMPT.fullmatch(folder.name)]
    return bool(set.intersection(*names))


def _attempts(one: HandIn, node: Node, zone: tzinfo, *, is_usual: bool, has_stamps: bool) -> list[HandIn]:
    inner = list(_inner(node)) if is_usual and node.kind == FOLDER else []
    above = one.section.split("/") if one.section else ()
    marks = [(found["mark"] or "").casefold() if (found := _ATTEMPT.fullmatch(own.name)) else "" for own, *_ in inner]
    made = [
        replace(one, nodes=(_below(above, own),), at=moment(time, zone), order=number, late=mark == "late",
                origin=f"{one.origin}/{readable(own.name)}",
                source=FILE_NAMES if time or mark else "")
        for (own, time, number), mark in zip(inner, marks, strict=True)
    ]  # fmt: skip
    stamp = _stamp(node) if has_stamps and not made else None
    if stamp is not None and (at := moment(stamp.read(1 << 10).decode("utf-8", "replace"), zone)):
        one = replace(one, at=at, source=_STAMP)
    made.sort(key=lambda own: (own.at, own.order))
    return made[-_MOST_ATTEMPTS:] or [one]


def _stamp(folder: Node) -> Node | None:
    """The file with a time stamp, in a folder or in the only folder in it."""
    try:
        inside = folder.visible()
        inner = [folder, *(one for one in inside if one.kind == FOLDER and len(inside) == 1)]
        found = [file for one in inner if (file := one.child(_STAMP)) and file.kind == FILE]
    except FileError:
        return None
    return found[0] if found else None


def _natural(name: str) -> tuple[str, list[int], str]:
    """Sorts ladder.cu, ladder-2.cu, ladder-10.cu."""
    return _LETTERS.sub("", name.casefold()), [int(one[-18:]) for one in re.findall(r"\d+", name)], name


def without_suffix(name: str, sources: tuple[str, ...] = SOURCES) -> str:
    """A file's name without its source or archive suffix."""
    for suffix in sorted((*sources, *SUFFIXES), key=len, reverse=True):
        if name.casefold().endswith(suffix) and name.casefold() != suffix:
            return name[: -len(suffix)]
    return name
