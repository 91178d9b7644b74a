"""One student's hand-in, and the choice of the file in it for an assignment.

Students put files into folders and archives, rename them, and hand in several. The rules, first to last:

* in a folder named like the assignment, if there is one;
* the file with the assignment's name, with or without the assignment's id before it; of several, the least deep;
* one renamed by a browser or platform: `reduction (1).cu`, `reduction-2.cu`, `Reduction.CU`;
* the only file of its kind that no other one includes. A file named after another assignment is never taken.

A notebook counts as a folder of the files that its cells write. Where two files fit equally well and differ, none is
taken, and the message names them. Unused files are reported.
"""

import contextlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Protocol

from grader.base.counted import counted, listed
from grader.base.files import FileError
from grader.base.names import shown
from grader.intake import notebook
from grader.intake.archive import CLASS, HAND_IN, Room, archive_tree, is_archive, is_other_archive
from grader.intake.joined import HEADERS, included, joined
from grader.intake.tree import FILE, FOLDER, REFUSED, Held, Node, Refused, Renamed, readable, walk
from grader.model.discovery import MOST_BYTES, Wanted
from grader.model.roster import Student

_DEEPEST = 3  # nesting depth of archives
_MOST_ARCHIVES = 50
_FEW = 4
_KEPT = 64 << 20  # limit for the unpacked archives of one hand-in, in total
_MOST_SAID = 12
_BUILD_FILES = {"makefile", "cmakelists.txt", "build.sh", "run.sh"}
# Documents that students hand in instead of a source, and what to say about them.
_DOCUMENTS = {
    ".pdf": "a PDF", ".docx": "a Word document", ".doc": "a Word document", ".odt": "a text document",
    ".rtf": "a text document", ".txt": "a text file", ".png": "a picture", ".jpg": "a picture", ".jpeg": "a picture",
    ".exe": "a program", ".out": "a program", ".o": "compiled code", ".html": "a web page", ".lnk": "a shortcut",
}  # fmt: skip
Path = tuple[str, ...]


@dataclass(frozen=True)
class Who:
    """A platform's data on one person.

    `name` was chosen by the person and is used only as a name. `text` comes from a folder or file name and may be
    anything. `platform_id`, `sid`, `email` and `logins` are asserted by the platform.
    """

    text: str = ""
    name: str = ""
    sid: str = ""
    email: str = ""
    logins: tuple[str, ...] = ()  # most likely first
    platform_id: str = ""


@dataclass(frozen=True)
class State:
    """A commit that changed a source: its hash, and its time in UTC."""

    commit: str
    at: datetime


class History(Protocol):
    """The states of a repository, which has no hand-in event of its own."""

    def states(self, moments: Sequence[datetime]) -> list[State]:
        """The newest state at each of the moments, and the newest of all; oldest first, without repeats."""

    def files(self, state: State) -> Node:
        """The contents of the repository in that state."""


@dataclass(frozen=True)
class HandIn:
    """One attempt of one person or team.

    `label` is the same in every download; attempts with the same label belong together, ordered by `at`, `order` and
    position. `origin` is its path in the download. `team` names a group whose members only the roster knows.
    """

    label: str
    people: tuple[Who, ...]
    nodes: tuple[Node, ...]
    origin: str
    at: str = ""
    late: bool = False
    order: int = 0
    again: bool = False  # the platform says that this replaces an earlier one
    platform_id: str = ""
    team: str = ""
    source: str = ""  # where `at` or `late` comes from
    extended: str = ""
    is_version: bool = False
    is_spare: bool = False  # somebody's second repository, used if there is nothing in the first
    history: History | None = None
    is_repository: bool = False
    is_only: bool = False  # the platform has one hand-in per person
    doubt: str = ""  # why its student can't be determined, although somebody fits
    rivals: tuple[Student, ...] = ()  # the candidates in that case
    unused: tuple[str, ...] = ()
    section: str = ""  # the enclosing folders shared by several hand-ins: a section's, an assignment's


@dataclass(frozen=True)
class Found:
    """The file for an assignment, or why there is none; `refused` if there was one that is not accepted.

    `asks`: a person has to ask the student: there is a document instead of a source, or several sources may be meant.
    """

    source: bytes | None
    problem: str = ""
    refused: bool = False
    unused: tuple[str, ...] = ()
    asks: bool = False


@dataclass
class _Contents:
    """What is in a hand-in. `files`: possible sources; `folders`: names; `refusals`: what was not read, and why."""

    files: list[tuple[Path, Node]] = field(default_factory=list)
    headers: list[tuple[Path, Node]] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)
    refusals: list[str] = field(default_factory=list)
    others: list[tuple[Path, str]] = field(default_factory=list)


def find_source(hand_in: HandIn, wanted: Wanted) -> Found:
    """The source for this assignment in the hand-in, with the student's own headers in it."""
    with contextlib.ExitStack() as stack:
        try:
            contents = _contents(hand_in.nodes, wanted.suffix, stack)
            chosen = _chosen(contents, wanted)
            if chosen is not None:
                source, used = _whole(chosen, contents, wanted)
                return Found(source, unused=_unused(contents, wanted, [chosen[0], *used]))
        except _AmbiguousError as error:
            return Found(None, shown(str(error), 300), asks=not _has_anothers(contents, wanted))
        except FileError as error:
            return Found(None, shown(readable(str(error)), 300), refused=True)
        except OSError as error:
            return Found(None, f"it can't be read: {error.strerror}", refused=True)
    if contents.refusals:
        more = len(contents.refusals) - 1
        rest = f" ({more} more not taken)" if more else ""
        return Found(None, shown(readable(contents.refusals[0]), 280) + rest, refused=True)
    documents = [f"{readable(path[-1])} is {what}" for path, what in contents.others if what]
    ask = f"; {documents[0]}, and a {wanted.suffix} is needed" if documents else ""
    problem = shown(f"there is no {wanted.file_name} in this folder{ask}", 300)
    return Found(None, problem, asks=bool(documents) and not _has_anothers(contents, wanted))


def is_for(hand_in: HandIn, wanted: Wanted) -> bool:
    """Whether the hand-in has a file or folder with the assignment's name."""
    with contextlib.ExitStack() as stack, contextlib.suppress(FileError, OSError):
        contents = _contents(hand_in.nodes, wanted.suffix, stack)
        names = {path[-1] for path, node in contents.files if node.kind != FOLDER}
        return wanted.assignment in contents.folders or not names.isdisjoint(_names(wanted))
    return False


def _has_anothers(contents: _Contents, wanted: Wanted) -> bool:
    """Whether another assignment was handed in here, so that the remaining files may belong to it."""
    paths = [path for path, _ in (*contents.files, *contents.others)]
    return any(wanted.is_of_another(path[-1]) or any(part in wanted.others for part in path) for path in paths)


class _AmbiguousError(Exception):
    """Several files fit."""


def _names(wanted: Wanted) -> tuple[str, str]:
    return wanted.file_name, f"{wanted.assignment}-{wanted.file_name}"


def _contents(nodes: Sequence[Node], suffix: str, stack: contextlib.ExitStack) -> _Contents:  # noqa: PLR0912 - by kind
    found = _Contents()
    room = Room(_KEPT)
    opened = 0
    own: list[Node] = []
    for node in nodes:
        own += node.visible() if node.kind == FOLDER else [node]
        found.refusals += [node.problem] if node.kind == REFUSED else []
    pending: list[tuple[Path, list[Node], int]] = [((), own, 0)]
    while pending:
        above, inner, depth = pending.pop(0)
        for path, node in walk(inner, HAND_IN.members):
            whole = (*above, *path)
            name = node.name.casefold()
            if node.kind == FOLDER:
                found.folders.add(node.name)
                found.files.append((whole, node))  # an unexpected kind of file; the student is told
            elif is_archive(node.name) and node.kind == FILE:
                opened += 1
                if depth == _DEEPEST or opened > _MOST_ARCHIVES:
                    what = f"more than {_DEEPEST} deep" if depth == _DEEPEST else f"more than {_MOST_ARCHIVES}"
                    found.refusals.append(f"{node.name}: archives inside archives, {what}")
                    continue
                try:
                    data = io.BytesIO(node.read((HAND_IN if depth else CLASS).kept))
                    tree = stack.enter_context(archive_tree(data, node.name, HAND_IN, room))
                    pending.append((whole, tree.visible(), depth + 1))
                except FileError as error:
                    found.refusals.append(str(error))
            elif name.endswith(suffix.casefold()) or node.kind == REFUSED:
                found.files.append((whole, node))
                found.refusals += [node.problem] if isinstance(node, Refused) else []
            elif name.endswith(f"{suffix}.txt".casefold()):  # renamed by a mail program or platform
                found.files.append(((*whole[:-1], node.name[:-4]), Renamed(node, node.name[:-4])))
            elif name.endswith((".ipynb", ".py")):
                _add_notebook(found, whole, node, suffix)
            elif name.endswith(HEADERS):
                found.headers.append((whole, node))
            elif is_other_archive(node.name):
                found.refusals.append(
                    f"{node.name} is an archive of a kind that is not taken; pack a .zip or a .tar.gz"
                )
            else:
                found.others.append((whole, _DOCUMENTS.get(PurePosixPath(name).suffix, "")))
    return found


def _add_notebook(found: _Contents, path: Path, node: Node, suffix: str) -> None:
    """Adds a notebook as a folder of the files that its cells write."""
    is_script = node.name.casefold().endswith(".py")
    cells = notebook.script_sources if is_script else notebook.sources
    try:
        for name, data in cells(node.read(HAND_IN.kept), suffix).items():
            one = Held(name, data)
            (found.headers if name.casefold().endswith(HEADERS) else found.files).append(((*path, name), one))
        why = "" if is_script else f"a notebook; a cell of it should begin with %%writefile NAME{suffix}"
        found.others.append((path, why))
    except FileError as error:
        found.refusals.append(f"{node.name} {error}")


def _chosen(contents: _Contents, wanted: Wanted) -> tuple[Path, Node] | None:
    files = [one for one in contents.files if one[1].kind != FOLDER]
    if wanted.assignment in contents.folders:
        files = [one for one in files if wanted.assignment in one[0][:-1]]
    else:
        files = [one for one in files if not any(part in wanted.others for part in one[0][:-1])]
    for exact in _names(wanted):
        fitting = [one for one in files if one[0][-1] == exact]
        fitting = fitting or [one for one in contents.files if one[0] == (exact,)]
        if fitting:
            return _least_deep(fitting)
    own = [one for one in files if not wanted.is_of_another(one[0][-1]) and one[0][-1].endswith(wanted.suffix)]
    stem = re.escape(PurePosixPath(wanted.file_name).stem)
    renamed = re.compile(rf"(?i)(.*[\W_])?{stem}([\W_].*)?{re.escape(wanted.suffix)}")
    fitting = [one for one in files if renamed.fullmatch(one[0][-1]) and not wanted.is_of_another(one[0][-1])]
    if fitting:
        return _least_deep(fitting)
    if len(own) > 1 and len({one[0][-1] for one in own if one[1].kind == FILE}) > 1:
        own = _not_included(own)
    if len(own) > 1 and len({one[0][-1] for one in own if one[1].kind == FILE}) > 1:
        raise _AmbiguousError(_several(own, wanted))
    return _least_deep(own) if own else None


def _not_included(own: list[tuple[Path, Node]]) -> list[tuple[Path, Node]]:
    """The files that none of the others includes; all of them, if each is included."""
    names: set[str] = set()
    for _, node in own:
        if node.kind == FILE:
            names |= {PurePosixPath(name).name for name in included(node.read(MOST_BYTES))}
    return [one for one in own if one[0][-1] not in names] or own


def _whole(chosen: tuple[Path, Node], contents: _Contents, wanted: Wanted) -> tuple[bytes, list[Path]]:
    path, node = chosen
    source = node.read(MOST_BYTES)
    if wanted.suffix != ".cu":
        return source, []
    files = {
        one: inner
        for one, inner in (*contents.files, *contents.headers)
        if inner.kind == FILE and wanted.is_taken(one[-1])
    }
    return joined(path, source, files, wanted.provided)


def _unused(contents: _Contents, wanted: Wanted, used: Sequence[Path]) -> tuple[str, ...]:
    """A sentence for each unused file, except other assignments'."""
    said: dict[str, None] = {}
    every = [
        (path, "")
        for path, node in (*contents.files, *contents.headers)
        if node.kind == FILE and not (path[-1] in wanted.provided and _is(node, wanted.provided[path[-1]]))
    ]
    for path, what in (*every, *contents.others):
        name = path[-1]
        is_other = wanted.is_of_another(name) or any(part in wanted.others for part in path[:-1])
        if name in wanted.provided and not name.endswith((*HEADERS, wanted.suffix)):
            continue
        if path in used or is_other or any(path == one[: len(path)] for one in used):
            continue
        if name in wanted.provided:
            why = "the assignment's own is used"
        elif not wanted.is_taken(name) and name.casefold().endswith((*HEADERS, wanted.suffix)):
            why = f"the assignment takes {listed([wanted.file_name, *wanted.takes])}"
        elif name.casefold().endswith(HEADERS):
            why = f"{wanted.file_name} does not include it"
        elif name.endswith(wanted.suffix):
            why = f"not used: {readable(used[0][-1])} is graded and does not include it"
        else:
            why = what or ("not run" if name.casefold() in _BUILD_FILES else "not read")
        said[f"{shown(readable('/'.join(path)), 100)}: {why}"] = None
    for refusal in contents.refusals:
        said[shown(readable(refusal), 200)] = None
    kept = list(said)
    more = len(kept) - _MOST_SAID
    return tuple(kept[:_MOST_SAID] + ([f"{more} more files"] if more > 0 else []))


def _is(node: Node, data: bytes) -> bool:
    with contextlib.suppress(FileError):
        return node.read(MOST_BYTES).split() == data.split()
    return False


def _least_deep(files: list[tuple[Path, Node]]) -> tuple[Path, Node]:
    taken = [one for one in files if one[1].kind == FILE] or files
    depth = min(len(path) for path, _ in taken)
    nearest = [one for one in taken if len(one[0]) == depth]
    if len(nearest) > 1 and len({node.read(MOST_BYTES) for _, node in nearest}) > 1:
        raise _AmbiguousError(_several(nearest))
    return nearest[0]


def _several(files: list[tuple[Path, Node]], wanted: Wanted | None = None) -> str:
    listed = ", ".join(sorted(readable("/".join(path)) for path, _ in files)[:_FEW])
    missing = f"there is no {wanted.file_name}, and " if wanted else ""
    return f"{missing}{counted(len(files), 'file')} could be it: {listed}{', …' if len(files) > _FEW else ''}"
