"""`grader check`: nothing that students get solves the assignment.

reference/NN_name/from_handout/*.cu are submissions as an attacker would write them: they include code from the
handout's sources (`#include "vgpu/model/occupancy.cc"`) and call it from the launchers. The included files are pasted
in from the finished handout, as a student would have to do; then the submissions are compiled and graded like any
other. The first line says how many points one may earn at most:

    // at most: 6 points

A submission whose include is missing from the handout is not graded; it stays in case that file comes back.
"""

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from grader.authoring.declared import sources_in
from grader.authoring.finding import Finding
from grader.authoring.handout import Hidden, make_handout
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.model.assignment import Assignment
from grader.model.record import Record
from grader.model.score import points_text

FOLDER = "from_handout"
_MOST = re.compile(r"//\s*at most:\s*(?P<points>\d+(?:\.\d+)?) points?\s*")
_INCLUDE = re.compile(r'\s*#\s*include\s*"(?P<name>[^"]+)"\s*(?://.*)?')
_ONCE = re.compile(r"\s*#\s*pragma\s+once\s*")


class NotOfferedError(Exception):
    """A submission includes a file that the handout does not contain."""


@dataclass(frozen=True)
class Attack:
    """A submission that calls the handout's own sources, and the most points it may earn."""

    name: str
    source: bytes
    most: float


def attacks_from_handout(
    layout: Layout, assignment: Assignment, hidden: Hidden, only: Sequence[str] = ()
) -> tuple[list[Attack], list[Finding]]:
    """The submissions in reference/NN_name/from_handout, and findings in reading them; `only` is a glob."""
    paths = [
        path
        for path in sources_in(layout.reference(assignment.id) / FOLDER, assignment)
        if not only or any(fnmatchcase(f"{FOLDER}/{path.name}", glob) for glob in only)
    ]
    if not paths:
        return [], []
    with tempfile.TemporaryDirectory(prefix="grader-handout-") as folder:
        handout = Path(folder) / "handout"
        try:
            make_handout(layout, layout.assignments(), handout, hidden())
        except GraderError as error:
            return [], [Finding(FOLDER, "", str(error))]
        return _read(paths, handout, assignment.id)


def _read(paths: Sequence[Path], handout: Path, assignment: str) -> tuple[list[Attack], list[Finding]]:
    findings: list[Finding] = []
    attacks: list[Attack] = []
    for path in paths:
        name, text = f"{FOLDER}/{path.name}", path.read_text(encoding="utf-8")
        match = _MOST.fullmatch(text.partition("\n")[0])
        if not match:
            findings.append(Finding(name, "", "its first line must be  // at most: POINTS points"))
            continue
        try:
            source = pasted(text, handout, assignment)
        except NotOfferedError as error:
            findings.append(Finding(name, f"wants {error}, which the handout does not have"))
            continue
        attacks.append(Attack(name, source.encode(), float(match["points"])))
    return attacks, findings


def pasted(text: str, handout: Path, assignment: str) -> str:
    """The text with each `#include` of a handout file replaced by that file's contents, once per file.

    The assignment's own headers stay included: every submission has them. Raises NotOfferedError.
    """
    own = handout / "assignments" / assignment
    seen: set[Path] = set()

    def whole(text: str, folder: Path) -> str:
        lines = []
        for line in text.split("\n"):
            match = _INCLUDE.fullmatch(line)
            if match and not (own / match["name"]).is_file():
                lines.append(included(match["name"], folder))
            elif not _ONCE.fullmatch(line):
                lines.append(line)
        return "\n".join(lines)

    def included(name: str, folder: Path) -> str:
        path = next((base / name for base in (folder, handout / "harness", handout) if (base / name).is_file()), None)
        if path is None:
            raise NotOfferedError(name)
        if path.resolve() in seen:
            return ""
        seen.add(path.resolve())
        return whole(path.read_text(encoding="utf-8"), path.parent)

    return whole(text, own)


def check_attack(attack: Attack, record: Record) -> Finding:
    """Checks that an attack earns no more points than it declares."""
    if record.score is None:
        return Finding(attack.name, "", record.message)
    if record.verdict == "COMPILE":
        return Finding(attack.name, "", f"does not compile, and so proves nothing:\n{record.message.strip()}")
    earned = f"earns {points_text(record.score.total)} of at most {points_text(attack.most)} points"
    is_too_much = record.score.total > attack.most + 1e-9
    return Finding(attack.name, earned, f"what the handout offers {earned}" if is_too_much else "")
