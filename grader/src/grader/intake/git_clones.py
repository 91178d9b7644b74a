"""Git clones: a folder with a .git for each student or team, ``{assignment}-{login}``.

A repository is never handed in: it has states. Each commit that changes a source is one, and the commit time is the
hand-in time; later changes of a README don't matter. With a deadline, the last state before it counts, and later ones
are attempts too (`GitHistory.states`).

A .git is as hostile as the rest: its config can name programs that git starts (a pager, a signature checker, a helper
of a remote) and hooks are programs. So git is never run in it. The last commit's hash is read from the files HEAD, refs
and packed-refs, like any other file. git then runs in an empty repository of ours that borrows only the folder of
objects, from which it reads data but no configuration; a folder that leads to other objects is not borrowed. Commit
times are set by the student: a clone does not record when it was pushed. An archive has no such folder on disk, so its
hand-ins have no times.
"""

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader.base.files import FileError
from grader.base.names import distinct, shown
from grader.base.process import run_command
from grader.intake.archive import SUFFIXES
from grader.intake.by_rule import best_start
from grader.intake.disk import DiskNode
from grader.intake.handin import HandIn, State, Who
from grader.intake.matching import Matcher
from grader.intake.tree import FILE, FOLDER, REFUSED, Branch, Node, Refused, is_junk, readable

TITLE = "Git clones"
COMMITS = "commits"
_NAME = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"ref: (refs/heads/[\w./+-]{1,200})")
_SECOND = re.compile(r"(.+)-[1-9]\d?")  # suffix of a repository whose name was taken
_LONGEST_REFS = 4 << 20
_SECONDS = 10
_LATEST = 1 << 37  # seconds; a later time is invalid (git reads -5 as 2^64 - 5) and counts as after every deadline
_MOST_COMMITS = 5_000
_MOST_FILES = 5_000
_MOST_BLOCKS = 64 << 11  # of 512 bytes: the limit of git's output is 64 MiB
# The files whose change makes a new state of the work.
_SOURCES = tuple(f":(icase,glob)**/*{suffix}" for suffix in (".cu", ".cuh", ".h", ".hpp", ".py", ".ipynb", *SUFFIXES))


@dataclass(frozen=True)
class GitHistory:
    """The states of one repository, newest first."""

    objects: DiskNode
    all_states: tuple[State, ...]

    def states(self, moments: Sequence[datetime]) -> list[State]:
        """The newest state at each of the moments, and the newest of all; oldest first, without repeats."""
        found = {self.all_states[0]: None}
        for moment in moments:
            before = next((state for state in self.all_states if state.at <= moment), None)
            if before is not None:
                found[before] = None
        return [state for state in reversed(self.all_states) if state in found]

    def files(self, state: State) -> Node:
        """The contents of the repository in that state."""
        root = Branch("")
        text = _git(self.objects, state.commit, "ls-tree", "-r", "-l", "-z", state.commit)
        entries = [one for one in text.split("\0") if one][:_MOST_FILES]
        for entry in entries:
            about, _, path = entry.partition("\t")
            mode, _, blob, size = about.split()[:4]
            branch, *names = root, *path.split("/")
            for name in names[:-1]:
                branch = branch.folder(name)
            if mode.startswith("100") and size.isdecimal():
                branch.add(_Blob(names[-1], self.objects, blob, int(size)))
            else:
                branch.add(Refused(names[-1], f"{readable(names[-1])} is a link or a repository of its own"))
        return root


class _Blob(Node):
    """A file of a commit."""

    def __init__(self, name: str, objects: DiskNode, blob: str, size: int) -> None:
        super().__init__(name, FILE)
        self._objects, self._blob, self._size = objects, blob, size

    def children(self) -> list[Node]:
        """Files have no children."""
        return []

    def read(self, limit: int) -> bytes:
        """Its contents, from git."""
        if self._size > limit:
            raise FileError(f"{readable(self.name)} has {self._size:,} bytes; at most {limit:,} are taken")
        data = _git_bytes(self._objects, self._blob, "cat-file", "blob", self._blob)
        if len(data) != self._size:
            raise FileError(f"{readable(self.name)} can't be read from the repository")
        return data


def fits(entries: list[Node]) -> int:
    """How many entries are clones."""
    return sum(1 for node in entries if _git_of(node) is not None)


def hand_ins(root: Node, matcher: Matcher) -> list[HandIn]:
    """A hand-in for each clone: the checked-out files, and its history."""
    clones = {node.name: (node, git) for node in root.visible() if (git := _git_of(node)) is not None}
    rest = _behind_starts(list(clones), matcher)
    found = []
    for name, (node, git) in clones.items():
        text = shown(readable(name))
        login, is_spare = rest[name], False
        if matcher.roster and not matcher.has_login(login) and (second := _SECOND.fullmatch(login)):
            is_spare = matcher.has_login(second[1])
            login = second[1] if is_spare else login
        history = _history(git)
        at = history.all_states[0].at.isoformat(timespec="seconds") if history else ""
        who = Who(text="" if login != name else text, logins=(shown(readable(login)),) if login != name else ())
        found.append(
            HandIn(
                distinct(text, name), (who,), (node,), name, at=at, team=shown(readable(login)),
                source=COMMITS if at else "", history=history, is_spare=is_spare, is_repository=True,
            )
        )  # fmt: skip
    return found


def _behind_starts(names: list[str], matcher: Matcher) -> dict[str, str]:
    """The login in each name: strips the prefix that most names share, then the one that most of the rest share."""
    rest: dict[str, str] = {}
    while names:
        start = best_start(names, "-", matcher)
        own = [name for name in names if start and name.startswith(start) and len(name) > len(start)]
        rest |= {name: name[len(start) :] for name in own}
        if not own:
            return rest | {name: name for name in names}
        names = [name for name in names if name not in rest]
    return rest


def leftovers(root: Node) -> list[Node]:
    """The entries that are not clones."""
    return [node for node in root.visible() if _git_of(node) is None]


def _git_of(node: Node) -> Node | None:
    if node.kind != FOLDER or is_junk(node.name):
        return None
    git = node.child(".git")
    return git if git is not None and git.kind == FOLDER else None


def _history(git: Node) -> GitHistory | None:
    """The commits of a repository that change sources, else only its newest one; None if they can't be read."""
    if not isinstance(git, DiskNode):
        return None
    try:
        commit = _head(git)
        objects = git.child("objects")
        if not _NAME.fullmatch(commit) or not isinstance(objects, DiskNode) or not _is_own(objects):
            return None
        words = ("rev-list", "--first-parent", "--timestamp", f"--max-count={_MOST_COMMITS}", commit)
        text = _git(objects, commit, *words, "--", *_SOURCES) or _git(objects, commit, *words, "--max-count=1")
        lines = re.findall(r"^(\d{1,20}) ([0-9a-f]{40,64})$", text, re.M)
        states = tuple(State(name, datetime.fromtimestamp(min(int(at), _LATEST), UTC)) for at, name in lines)
    except (FileError, OSError, UnicodeError, OverflowError, ValueError):
        return None
    return GitHistory(objects, states) if states else None


def _is_own(objects: Node) -> bool:
    """Whether git finds this folder's objects only: a link or `alternates` would lead it to another repository's."""
    pending = [objects]
    while pending:
        folder = pending.pop()
        inner = folder.children()
        if folder.kind != FOLDER or any(one.kind == REFUSED or one.name.endswith("alternates") for one in inner):
            return False
        pending += [one for one in inner if one.kind == FOLDER]
    return True


def _head(git: Node) -> str:
    head = _line(git, "HEAD")
    named = _REF.fullmatch(head)
    if named is None:
        return head
    folder: Node | None = git
    *above, last = named[1].split("/")
    for name in above:
        folder = folder.child(name) if folder is not None and folder.kind == FOLDER else None
    loose = _line(folder, last) if folder is not None else ""
    if loose:
        return loose
    packed = git.child("packed-refs")
    for line in packed.read(_LONGEST_REFS).decode().splitlines() if packed is not None else ():
        name, _, ref = line.partition(" ")
        if ref.strip() == named[1]:
            return name
    return ""


def _line(folder: Node, name: str) -> str:
    file = folder.child(name)
    return file.read(1 << 12).decode().strip() if file is not None else ""


def _git(objects: DiskNode, commit: str, *words: str) -> str:
    return _git_bytes(objects, commit, *words).decode("utf-8", "surrogateescape")


def _git_bytes(objects: DiskNode, commit: str, *words: str) -> bytes:
    """git's output in an empty repository of ours that borrows the objects; b"" if it fails. Raises FileError."""
    with tempfile.TemporaryDirectory(prefix="lockstep-git-") as own, objects.folder() as descriptor:
        for name in ("objects", "refs"):
            (Path(own) / name).mkdir()
        (Path(own) / "HEAD").write_text("ref: refs/heads/none\n")
        version = "1\n[extensions]\nobjectformat = sha256" if len(commit) > 40 else "0"  # noqa: PLR2004
        (Path(own) / "config").write_text(f"[core]\nbare = true\nrepositoryformatversion = {version}\n")
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "GIT_DIR": own,
            "GIT_OBJECT_DIRECTORY": f"/proc/self/fd/{descriptor}",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "HOME": own,
            "LC_ALL": "C",
        }
        said = Path(own) / "said"
        script = 'ulimit -f "$1"; shift; exec git "$@" > said 2> /dev/null'
        ended = run_command(
            ["/bin/sh", "-c", script, "sh", str(_MOST_BLOCKS), *words], seconds=_SECONDS, output_cap=1 << 12,
            cwd=Path(own), environment=environment, pass_fds=(descriptor,),
        )  # fmt: skip
        return said.read_bytes() if ended.status == 0 and not ended.timed_out else b""
