"""What one student handed in, and the file in it that is meant for an assignment.

Students put files into folders and archives, rename them, and hand in several. The rules, first to last:

* in a folder named like the assignment, if there is one;
* the file with the assignment's name, with or without the assignment's id before it, the least deep one;
* the file that was renamed on the way: `reduction (1).cu`, `reduction-2.cu`, `Reduction.CU`;
* the only file of its kind. What is another assignment's by its name is never taken.

Where two files fit equally well and differ, none is taken, and the message names them.
"""

import contextlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from grader.base.counted import counted
from grader.base.files import FileError
from grader.base.names import shown
from grader.intake.archive import CLASS, HAND_IN, archive_tree, is_archive, is_other_archive
from grader.intake.tree import FILE, FOLDER, REFUSED, Node, Refused, readable, walk
from grader.model.discovery import MOST_BYTES, Wanted

_DEEPEST = 3  # archives in archives
_MOST_ARCHIVES = 50
_FEW = 4


@dataclass(frozen=True)
class Who:
    """What a platform tells of one person. `text` is a name that people chose, and may be anything: a folder's."""

    text: str = ""
    name: str = ""
    sid: str = ""
    email: str = ""
    logins: tuple[str, ...] = ()  # the likeliest first
    platform_id: str = ""


@dataclass(frozen=True)
class HandIn:
    """One attempt of one person or team.

    `label` is the same in every download; attempts with the same one belong together, ordered by `at`, `order` and
    place. `origin` is its path in the download. `team` names a group whose members only the roster knows.
    """

    label: str
    people: tuple[Who, ...]
    nodes: tuple[Node, ...]
    origin: str
    at: str = ""
    late: bool = False
    order: int = 0
    again: bool = False  # the platform says that it replaces an earlier one
    platform_id: str = ""
    team: str = ""


@dataclass(frozen=True)
class Found:
    """The file for an assignment, or why there is none; `refused` where there was one that is not taken."""

    source: bytes | None
    problem: str = ""
    refused: bool = False


@dataclass
class _Contents:
    """All that may be a source, by its path; the folders; and what was not opened, with the reason."""

    files: list[tuple[tuple[str, ...], Node]] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)
    refusals: list[str] = field(default_factory=list)


def find_source(hand_in: HandIn, wanted: Wanted) -> Found:
    """The source for this assignment in the hand-in."""
    with contextlib.ExitStack() as stack:
        try:
            contents = _contents(hand_in.nodes, wanted.suffix, stack)
            node = _chosen(contents, wanted)
            if node is not None:
                return Found(node.read(MOST_BYTES))
        except _AmbiguousError as error:
            return Found(None, shown(str(error), 300))
        except FileError as error:
            return Found(None, shown(readable(str(error)), 300), refused=True)
        except OSError as error:
            return Found(None, f"it can't be read: {error.strerror}", refused=True)
    if contents.refusals:
        more = len(contents.refusals) - 1
        rest = f" ({more} more not taken)" if more else ""
        return Found(None, shown(readable(contents.refusals[0]), 280) + rest, refused=True)
    return Found(None, f"there is no {wanted.file_name} in this folder")


def is_for(hand_in: HandIn, wanted: Wanted) -> bool:
    """Whether the hand-in has a file or folder that carries the assignment's name."""
    with contextlib.ExitStack() as stack, contextlib.suppress(FileError, OSError):
        contents = _contents(hand_in.nodes, wanted.suffix, stack)
        names = {path[-1] for path, node in contents.files if node.kind != FOLDER}
        return wanted.assignment in contents.folders or not names.isdisjoint(_names(wanted))
    return False


class _AmbiguousError(Exception):
    """Several files fit."""


def _names(wanted: Wanted) -> tuple[str, str]:
    return wanted.file_name, f"{wanted.assignment}-{wanted.file_name}"


def _contents(nodes: Sequence[Node], suffix: str, stack: contextlib.ExitStack) -> _Contents:
    found = _Contents()
    opened = 0
    own: list[Node] = []
    for node in nodes:
        own += node.visible() if node.kind == FOLDER else [node]
        found.refusals += [node.problem] if node.kind == REFUSED else []
    pending: list[tuple[tuple[str, ...], list[Node], int]] = [((), own, 0)]
    while pending:
        above, inner, depth = pending.pop(0)
        for path, node in walk(inner, HAND_IN.members):
            whole = (*above, *path)
            if node.kind == FOLDER:
                found.folders.add(node.name)
                found.files.append((whole, node))  # nobody means a folder by its file's name, and is told so
            elif is_archive(node.name) and node.kind == FILE:
                opened += 1
                if depth == _DEEPEST or opened > _MOST_ARCHIVES:
                    what = f"more than {_DEEPEST} deep" if depth == _DEEPEST else f"more than {_MOST_ARCHIVES}"
                    found.refusals.append(f"{node.name}: archives inside archives, {what}")
                    continue
                try:
                    data = io.BytesIO(node.read((HAND_IN if depth else CLASS).kept))
                    tree = stack.enter_context(archive_tree(data, node.name, HAND_IN))
                    pending.append((whole, tree.visible(), depth + 1))
                except FileError as error:
                    found.refusals.append(str(error))
            elif node.name.casefold().endswith(suffix.casefold()) or node.kind == REFUSED:
                found.files.append((whole, node))
                found.refusals += [node.problem] if isinstance(node, Refused) else []
            elif is_other_archive(node.name):
                found.refusals.append(
                    f"{node.name} is an archive of a kind that is not taken; pack a .zip or a .tar.gz"
                )
    return found


def _chosen(contents: _Contents, wanted: Wanted) -> Node | None:
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
        raise _AmbiguousError(_several(own, wanted))
    return _least_deep(own) if own else None


def _least_deep(files: list[tuple[tuple[str, ...], Node]]) -> Node:
    taken = [one for one in files if one[1].kind == FILE] or files
    depth = min(len(path) for path, _ in taken)
    nearest = [(path, node) for path, node in taken if len(path) == depth]
    if len(nearest) == 1:
        return nearest[0][1]
    contents = {node.read(MOST_BYTES) for _, node in nearest}
    if len(contents) > 1:
        raise _AmbiguousError(_several(nearest))
    return nearest[0][1]


def _several(files: list[tuple[tuple[str, ...], Node]], wanted: Wanted | None = None) -> str:
    listed = ", ".join(sorted(readable("/".join(path)) for path, _ in files)[:_FEW])
    missing = f"there is no {wanted.file_name}, and " if wanted else ""
    return f"{missing}{counted(len(files), 'file')} could be it: {listed}{', …' if len(files) > _FEW else ''}"
