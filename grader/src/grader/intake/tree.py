"""A download as a read-only tree: folders and files, on disk or in an archive.

Names are untrusted and kept unchanged; `names.shown` cleans them for display. Refused entries (a link, a device, a path
that leaves the archive) are in the tree too, with the reason, so that their owner can be told.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from grader.base.files import FileError

FILE, FOLDER, REFUSED = "file", "folder", "refused"
_JUNK = frozenset({"__MACOSX", "Thumbs.db", "desktop.ini"})


def is_junk(name: str) -> bool:
    """Whether an operating system or a tool created this: no student's work."""
    return name.startswith(".") or name in _JUNK


def readable(name: str) -> str:
    """A file name as text: bytes that are not UTF-8 become U+FFFD."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class Node(ABC):
    """A file, a folder, or a refused entry, whose `problem` says why."""

    def __init__(self, name: str, kind: str, problem: str = "") -> None:
        """`name` is the last part of the path."""
        self.name = name
        self.kind = kind
        self.problem = problem

    @abstractmethod
    def children(self) -> list["Node"]:
        """The entries of a folder, by name. Raises FileError if it can't be read."""

    @abstractmethod
    def read(self, limit: int) -> bytes:
        """A file's bytes, `limit` at most. Raises FileError if the file is refused."""

    def child(self, name: str) -> "Node | None":
        """The entry of this name in a folder."""
        return next((one for one in self.children() if one.name == name), None)

    def visible(self) -> list["Node"]:
        """The children that may be a student's work."""
        return [one for one in self.children() if not is_junk(one.name)]


class Branch(Node):
    """A folder of an archive, or a synthetic one for files that belong together."""

    def __init__(self, name: str, children: Sequence[Node] = ()) -> None:
        """A folder with these children."""
        super().__init__(name, FOLDER)
        self._children: dict[str, list[Node]] = {}
        for one in children:
            self.add(one)

    def add(self, node: Node) -> None:
        """Adds a child; a name may occur several times."""
        self._children.setdefault(node.name, []).append(node)

    def folder(self, name: str) -> "Branch":
        """The folder of this name, created if missing."""
        for one in self._children.get(name, ()):
            if isinstance(one, Branch):
                return one
        made = Branch(name)
        self.add(made)
        return made

    def children(self) -> list[Node]:
        """The entries by name. Two files with the same path are both refused: it is unclear which one counts."""
        return [one for name in sorted(self._children) for one in _distinct(self._children[name])]

    def child(self, name: str) -> Node | None:
        """The child of this name, or None."""
        return next(iter(_distinct(self._children.get(name, []))), None)

    def read(self, limit: int) -> bytes:
        """A folder has no contents."""
        raise FileError(f"{self.name} is a folder, not a file")


class Refused(Node):
    """A refused entry."""

    def __init__(self, name: str, problem: str) -> None:
        """`problem` is the reason."""
        super().__init__(name, REFUSED, problem)

    def children(self) -> list[Node]:
        """Not searched."""
        return []

    def read(self, limit: int) -> bytes:
        """Raises FileError."""
        raise FileError(self.problem)


def _distinct(nodes: list[Node]) -> list[Node]:
    if len(nodes) < 2:  # noqa: PLR2004
        return nodes
    folders = [one for one in nodes if one.kind == FOLDER]
    others = [one for one in nodes if one.kind != FOLDER]
    if not others or (len(others) == 1 and not folders):
        return nodes
    name = readable(nodes[0].name)
    how = "is in the archive as a file and as a folder" if len(others) == 1 else "is in the archive several times"
    return [*folders, Refused(nodes[0].name, f"{name} {how}, and it is unclear which one counts")]


def walk(nodes: Sequence[Node], most: int) -> Iterator[tuple[tuple[str, ...], Node]]:
    """All nodes below these, each with its path, folders before their contents; FileError for more than `most`."""
    pending: list[tuple[tuple[str, ...], Node]] = [((), one) for one in reversed(nodes)]
    count = 0
    while pending:
        above, node = pending.pop()
        count += 1
        if count > most:
            raise FileError(f"there are more than {most:,} files and folders in it")
        path = (*above, node.name)
        yield path, node
        if node.kind == FOLDER:
            try:
                pending += [(path, one) for one in reversed(node.visible())]
            except FileError as error:
                yield path, Refused(node.name, str(error))


class Renamed(Node):
    """A node under another name."""

    def __init__(self, node: Node, name: str) -> None:
        """`node` as `name`."""
        super().__init__(name, node.kind, node.problem)
        self._node = node

    def children(self) -> list[Node]:
        """The original node's."""
        return self._node.children()

    def read(self, limit: int) -> bytes:
        """The original node's."""
        return self._node.read(limit)


class Held(Node):
    """A file in memory."""

    def __init__(self, name: str, data: bytes) -> None:
        """With its contents."""
        super().__init__(name, FILE)
        self._data = data

    def children(self) -> list[Node]:
        """Files have no children."""
        return []

    def read(self, limit: int) -> bytes:
        """Its contents."""
        if len(self._data) > limit:
            raise FileError(f"{readable(self.name)} has {len(self._data):,} bytes; at most {limit:,} are taken")
        return self._data
