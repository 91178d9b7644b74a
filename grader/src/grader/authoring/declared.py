"""Reads the first-line declarations of the solutions in reference/, and collects what `grader check` grades.

reference/NN_name/wrong/*.cu begin with, e.g., "// verdict: RACE reduce5_warp_unrolled": the required verdict, and rung.
reference/NN_name/right/*.cu begin with, e.g., "// points: 100 + 12": the required points, and bonus points.

In an assignment in Python they are .py files, and the line begins with #. Entries of wrong.toml and right.toml are such
solutions too, kept as edits of others (see `solutions`).
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from grader.authoring.finding import Finding
from grader.authoring.solutions import Solution, solutions_in
from grader.base.layout import Layout
from grader.model.assignment import Assignment
from grader.model.discovery import Submission
from grader.model.roster import Student

STUB, REFERENCE = "stub", "reference"
COMMENT = r"(?://|#)\s*"  # what the first line begins with, in C++ and in Python
_VERDICT = re.compile(COMMENT + r"verdict:\s*(?P<verdict>[A-Z]+)(?:\s+(?P<rung>\w+))?(?:;\s*gpu:\s*[A-Z]+)?\s*")
_NUMBER = r"\d+(?:\.\d+)?"
_POINTS = re.compile(COMMENT + rf"points:\s*(?P<points>{_NUMBER})(?:\s*\+\s*(?P<bonus>{_NUMBER}))?\s*")
_NO_RUNG = ("COMPILE", "REJECTED", "PASS")


@dataclass
class Collected:
    """The solutions to grade, and by folder what they declare: a verdict and rung, or points and bonus points."""

    submissions: list[Submission] = field(default_factory=list)
    wrong: dict[str, tuple[str, str]] = field(default_factory=dict)
    right: dict[str, tuple[float, float]] = field(default_factory=dict)
    problems: list[Finding] = field(default_factory=list)

    def refuse(self, name: str, problem: str) -> None:
        """Adds a finding that this file can't be graded, with the reason."""
        self.problems.append(Finding(name, "", problem))


def collect(layout: Layout, assignment: Assignment) -> Collected:
    """The stub, the reference, and every solution that declares its expected result."""
    collected = Collected()
    hidden = layout.reference(assignment.id)
    for name, path in (
        (STUB, assignment.path.parent / assignment.submission),
        (REFERENCE, hidden / assignment.submission),
    ):
        if path.is_file():
            collected.submissions.append(Submission(name, Student(name), path.read_bytes()))
        else:
            collected.refuse(name, f"{path} is missing")
    known = {rung.id for rung in assignment.rungs}
    wrong, unread_wrong = solutions_in(hidden, "wrong", assignment.submission)
    right, unread_right = solutions_in(hidden, "right", assignment.submission)
    collected.problems += unread_wrong + unread_right
    for solution in wrong:
        _collect_wrong(collected, solution, known)
    for solution in right:
        _collect_right(collected, solution)
    return collected


def sources_in(folder: Path, assignment: Assignment) -> list[Path]:
    """The solutions in a folder next to the reference."""
    return sorted(folder.glob(f"*{assignment.suffix}"))


def _first_line(source: bytes) -> str:
    return source.partition(b"\n")[0].decode("utf-8", "replace")


def _collect_wrong(collected: Collected, solution: Solution, known: set[str]) -> None:
    name, source = solution.name, solution.source
    match = _VERDICT.fullmatch(_first_line(source))
    if not match:
        collected.refuse(name, "its first line must be  // verdict: VERDICT rung")
    elif match["rung"] and match["rung"] not in known:
        collected.refuse(name, f"it declares the rung {match['rung']}, which does not exist")
    elif not match["rung"] and match["verdict"] not in _NO_RUNG:
        collected.refuse(name, f"it declares {match['verdict']} without a rung")
    else:
        collected.wrong[name] = (match["verdict"], match["rung"] or "")
        collected.submissions.append(Submission(name, Student(name), source))


def _collect_right(collected: Collected, solution: Solution) -> None:
    name, source = solution.name, solution.source
    match = _POINTS.fullmatch(_first_line(source))
    if not match:
        collected.refuse(name, "its first line must be  // points: POINTS + BONUS")
    else:
        collected.right[name] = (float(match["points"]), float(match["bonus"] or 0))
        collected.submissions.append(Submission(name, Student(name), source))
