"""No platform: a folder for each student (``lovelace_ada/reduction.cu``), or a file (``lovelace_ada.cu``, ``.zip``).

A folder may hold files of several assignments: ``lovelace_ada/04_reduction/reduction.cu``,
``lovelace_ada/04_reduction-reduction.cu``.
"""

from pathlib import PurePosixPath

from grader.base.names import distinct, shown
from grader.intake.archive import SUFFIXES, is_archive
from grader.intake.handin import HandIn, Who
from grader.intake.tree import FILE, Node, is_junk, readable

TITLE = "Plain folder"
SOURCES = (".cu", ".py")


def fits(entries: list[Node]) -> int:
    """What no platform made is this."""
    return 0


def hand_ins(root: Node, sources: tuple[str, ...] = SOURCES) -> list[HandIn]:
    """One for each folder, source or archive; what else is there is no submission."""
    return [one for node in root.visible() if (one := hand_in(node, sources)) is not None]


def hand_in(node: Node, sources: tuple[str, ...] = SOURCES) -> HandIn | None:
    """What a folder or a file that carries a student's name is; None for read-me files, spreadsheets and the like."""
    if is_junk(node.name):
        return None
    if node.kind == FILE and not (node.name.casefold().endswith(sources) or is_archive(node.name)):
        return None
    stem = without_suffix(node.name, sources)
    text = shown(readable(stem))
    label = distinct(text, stem)
    return HandIn(label, (Who(text=text),), (node,), node.name)


def without_suffix(name: str, sources: tuple[str, ...] = SOURCES) -> str:
    """A file's name without what says that it is a source or an archive."""
    for suffix in sorted((*sources, *SUFFIXES), key=len, reverse=True):
        if name.casefold().endswith(suffix) and name.casefold() != suffix:
            return name[: -len(suffix)]
    return name


def stem_and_suffix(name: str) -> tuple[str, str]:
    """ladder.cu as "ladder" and ".cu"."""
    path = PurePosixPath(name)
    return path.stem, path.suffix
