"""A folder on disk as a tree. Nothing is opened through a symbolic link: each step opens relative to a descriptor, so a
folder that is swapped for a link in the meantime isn't followed either.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from grader.base.errors import GraderError
from grader.base.files import FileError, read_regular
from grader.intake.tree import FILE, FOLDER, REFUSED, Node, readable

_MOST_ENTRIES = 20_000  # per folder


class DiskNode(Node):
    """A directory entry, as it was when the folder was listed."""

    def __init__(self, root: int, above: tuple[str, ...], name: str, status: os.stat_result) -> None:
        """`root` is the download folder's descriptor, `above` the folders between it and this entry."""
        mode = status.st_mode
        if stat.S_ISDIR(mode):
            super().__init__(name, FOLDER)
        elif stat.S_ISREG(mode):
            super().__init__(name, FILE)
        else:
            what = "is a symbolic link; links are not followed" if stat.S_ISLNK(mode) else "is no regular file"
            super().__init__(name, REFUSED, f"{readable(name)} {what}")
        self._root = root
        self._above = above

    def children(self) -> list[Node]:
        """Sorted by name. Raises FileError if the folder can't be opened."""
        if self.kind != FOLDER:
            return []
        with _opened(self._root, (*self._above, self.name)) as inner:
            return listed(inner, self._root, (*self._above, self.name))

    def child(self, name: str) -> Node | None:
        """The child of this name, or None."""
        if self.kind != FOLDER:
            return None
        try:
            with _opened(self._root, (*self._above, self.name)) as inner:
                status = os.stat(name, dir_fd=inner, follow_symlinks=False)
        except (OSError, FileError):
            return None
        return DiskNode(self._root, (*self._above, self.name), name, status)

    def read(self, limit: int) -> bytes:
        """A regular file's bytes."""
        with _opened(self._root, self._above) as folder:
            try:
                return read_regular(self.name, limit, dir_fd=folder)
            except FileNotFoundError as error:
                raise FileError(f"{readable(self.name)} is gone") from error

    @contextlib.contextmanager
    def folder(self) -> Iterator[int]:
        """A descriptor of this folder."""
        with _opened(self._root, (*self._above, self.name)) as inner:
            yield inner


class DiskRoot(Node):
    """The download's folder itself."""

    def __init__(self, path: Path, descriptor: int) -> None:
        """`descriptor` stays open as long as the tree is used."""
        super().__init__(path.name, FOLDER)
        self._path = path
        self._descriptor = descriptor

    def children(self) -> list[Node]:
        """Sorted by name."""
        try:
            return listed(self._descriptor, self._descriptor, ())
        except FileError as error:
            raise GraderError(f"{self._path}: {error}") from error

    def read(self, limit: int) -> bytes:
        """Raises FileError: a folder can't be read as a file."""
        raise FileError(f"{self.name} is a folder, not a file")


@contextlib.contextmanager
def disk_tree(path: Path) -> Iterator[DiskRoot]:
    """The folder as a tree; raises OSError if it can't be opened."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield DiskRoot(path, descriptor)
    finally:
        os.close(descriptor)


def listed(folder: int, root: int, above: tuple[str, ...]) -> list[Node]:
    """The entries of an open folder."""
    names = sorted(os.listdir(folder))
    if len(names) > _MOST_ENTRIES:
        raise FileError(f"{len(names):,} entries in one folder; at most {_MOST_ENTRIES:,} are accepted")
    nodes: list[Node] = []
    for name in names:
        with contextlib.suppress(OSError):  # deleted meanwhile
            nodes.append(DiskNode(root, above, name, os.stat(name, dir_fd=folder, follow_symlinks=False)))
    return nodes


@contextlib.contextmanager
def _opened(root: int, names: tuple[str, ...]) -> Iterator[int]:
    """A descriptor of the folder at the end of this path."""
    current = os.dup(root)
    try:
        for name in names:
            try:
                inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=current)
            except OSError as error:
                raise FileError(f"{readable(name)} can't be opened: {error.strerror}") from error
            os.close(current)
            current = inner
        yield current
    finally:
        os.close(current)
