"""A download as a tree that can only be read: folders and files, on disk or in an archive.

Names come from strangers and are kept as they are; `names.shown` cleans them where they are shown. What can't be taken
(a link, a device, a path that leaves the archive) is in the tree too, with the reason, so that whoever it belongs to is
told.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from grader.base.files import FileError

FILE, FOLDER, REFUSED = "file", "folder", "refused"
_JUNK = frozenset({"__MACOSX", "Thumbs.db", "desktop.ini"})


def is_junk(name: str) -> bool:
    """Whether an operating system or a tool left this: no student's work."""
    return name.startswith(".") or name in _JUNK


def readable(name: str) -> str:
    """A file name as text: bytes that are no UTF-8 become U+FFFD."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class Node(ABC):
    """A file, a folder, or something that is not taken; `problem` then says why."""

    def __init__(self, name: str, kind: str, problem: str = "") -> None:
        """`name` is the last part of the path."""
        self.name = name
        self.kind = kind
        self.problem = problem

    @abstractmethod
    def children(self) -> list["Node"]:
        """What is in a folder, by name. Raises FileError where it can't be read."""

    @abstractmethod
    def read(self, limit: int) -> bytes:
        """A file's bytes, `limit` at most. Raises FileError for what is not taken."""

    def child(self, name: str) -> "Node | None":
        """What has this name in a folder."""
        return next((one for one in self.children() if one.name == name), None)

    def visible(self) -> list["Node"]:
        """The children that may be somebody's work."""
        return [one for one in self.children() if not is_junk(one.name)]


class Branch(Node):
    """A folder of an archive, or one that is put together from what belongs together."""

    def __init__(self, name: str, children: Sequence[Node] = ()) -> None:
        """An empty one, or one of these."""
        super().__init__(name, FOLDER)
        self._children: dict[str, list[Node]] = {}
        for one in children:
            self.add(one)

    def add(self, node: Node) -> None:
        """One more; a name may come several times."""
        self._children.setdefault(node.name, []).append(node)

    def folder(self, name: str) -> "Branch":
        """The folder of this name, made where it isn't there."""
        for one in self._children.get(name, ()):
            if isinstance(one, Branch):
                return one
        made = Branch(name)
        self.add(made)
        return made

    def children(self) -> list[Node]:
        """The entries by name. Two files with the same path are both refused: nothing says which one counts."""
        return [one for name in sorted(self._children) for one in _distinct(self._children[name])]

    def child(self, name: str) -> Node | None:
        """The one of this name, or None."""
        return next(iter(_distinct(self._children.get(name, []))), None)

    def read(self, limit: int) -> bytes:
        """A folder has no bytes."""
        raise FileError(f"{self.name} is a folder, not a file")


class Refused(Node):
    """Something that is not taken."""

    def __init__(self, name: str, problem: str) -> None:
        """With the reason."""
        super().__init__(name, REFUSED, problem)

    def children(self) -> list[Node]:
        """Nothing in it is looked at."""
        return []

    def read(self, limit: int) -> bytes:
        """Not taken."""
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
    return [*folders, Refused(nodes[0].name, f"{name} {how}, and nothing tells which one counts")]


def walk(nodes: Sequence[Node], most: int) -> Iterator[tuple[tuple[str, ...], Node]]:
    """All nodes below these, each with its path, folders before what is in them; FileError beyond `most` of them."""
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
        """As the node's own."""
        return self._node.children()

    def read(self, limit: int) -> bytes:
        """As the node's own."""
        return self._node.read(limit)


class Held(Node):
    """A file in memory."""

    def __init__(self, name: str, data: bytes) -> None:
        """With its bytes."""
        super().__init__(name, FILE)
        self._data = data

    def children(self) -> list[Node]:
        """A file has none."""
        return []

    def read(self, limit: int) -> bytes:
        """Its bytes."""
        if len(self._data) > limit:
            raise FileError(f"{readable(self.name)} has {len(self._data):,} bytes; at most {limit:,} are taken")
        return self._data
