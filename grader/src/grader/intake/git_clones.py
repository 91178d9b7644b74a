"""Git clones: a folder with a .git for each student, as GitHub Classroom's tools make them: ``{assignment}-{login}``.

When a student handed in is the time of the last commit. A .git is as hostile as the rest: its config can name programs
that git starts (a pager, a signature checker, a helper of a remote) and hooks are programs. So git is never run in
it. `_commit_time` finds the last commit's name in the files HEAD, refs and packed-refs, which are read as any file is,
and gives it to git in an empty repository of ours that borrows only the folder of objects: of that git reads data,
and no configuration. What a commit says of its time is the student's word: the time of a push is not in a clone.
In an archive there is no such folder, and so there is no time.
"""

import os
import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from grader.base.files import FileError
from grader.base.names import distinct, shown
from grader.base.process import run_command
from grader.intake.disk import DiskNode
from grader.intake.handin import HandIn, Who
from grader.intake.tree import FOLDER, Node, is_junk, readable

TITLE = "Git clones"
_NAME = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"ref: (refs/heads/[\w./+-]{1,200})")
_LONGEST_REFS = 4 << 20
_SECONDS = 10


def fits(entries: list[Node]) -> int:
    """How many entries are clones."""
    return sum(1 for node in entries if _git_of(node) is not None)


def hand_ins(root: Node) -> list[HandIn]:
    """One for each clone: what is checked out counts."""
    clones = [(node, git) for node in root.visible() if (git := _git_of(node)) is not None]
    shared = _shared_start([node.name for node, _ in clones])
    found = []
    for node, git in clones:
        text = shown(readable(node.name))
        rest = node.name[len(shared) :]
        logins = (rest, *(_ends(node.name) if not shared else ()))
        who = Who(text=text, logins=tuple(shown(readable(login)) for login in logins))
        found.append(
            HandIn(
                distinct(text, node.name), (who,), (node,), node.name, at=_commit_time(git), team=shown(readable(rest))
            )
        )
    return found


def leftovers(root: Node) -> list[Node]:
    """What is no clone."""
    return [node for node in root.visible() if _git_of(node) is None]


def _git_of(node: Node) -> Node | None:
    if node.kind != FOLDER or is_junk(node.name):
        return None
    git = node.child(".git")
    return git if git is not None and git.kind == FOLDER else None


def _shared_start(names: list[str]) -> str:
    """What all names have before the login: up to the last hyphen that they have in common."""
    start = os.path.commonprefix(names) if len(names) > 1 else ""  # noqa: RUF071 - by characters
    return start[: start.rfind("-") + 1]


def _ends(name: str) -> tuple[str, ...]:
    """All that may be the login behind an assignment's name, which may have hyphens too."""
    parts = name.split("-")
    return tuple("-".join(parts[place:]) for place in range(1, len(parts)))


def _commit_time(git: Node) -> str:
    """When the commit that HEAD names was made; "" where that can't be told."""
    if not isinstance(git, DiskNode):
        return ""
    try:
        commit = _head(git)
        if not _NAME.fullmatch(commit):
            return ""
        objects = git.child("objects")
        if not isinstance(objects, DiskNode) or objects.kind != FOLDER:
            return ""
        with objects.folder() as descriptor:
            return _asked(descriptor, commit)
    except (FileError, OSError, UnicodeError):
        return ""


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


def _asked(objects: int, commit: str) -> str:
    """The committer's time, from git in an empty repository."""
    with tempfile.TemporaryDirectory(prefix="lockstep-git-") as own:
        for name in ("objects", "refs"):
            (Path(own) / name).mkdir()
        (Path(own) / "HEAD").write_text("ref: refs/heads/none\n")
        version = "1\n[extensions]\nobjectformat = sha256" if len(commit) > 40 else "0"  # noqa: PLR2004
        (Path(own) / "config").write_text(f"[core]\nbare = true\nrepositoryformatversion = {version}\n")
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "GIT_DIR": own,
            "GIT_OBJECT_DIRECTORY": f"/proc/self/fd/{objects}",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "HOME": own,
            "LC_ALL": "C",
        }
        ended = run_command(
            ["git", "cat-file", "commit", commit], seconds=_SECONDS, output_cap=1 << 16, cwd=Path(own),
            environment=environment, pass_fds=(objects,),
        )  # fmt: skip
    found = re.search(r"^committer .* (\d{1,11}) [+-]\d{4}$", ended.output.partition("\n\n")[0], re.M)
    try:
        return datetime.fromtimestamp(int(found[1]), UTC).isoformat(timespec="seconds") if found else ""
    except (OverflowError, ValueError, OSError):
        return ""
