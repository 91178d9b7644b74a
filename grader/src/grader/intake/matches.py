"""matches.csv: a person assigns submissions to students.

The grader writes a line for each submission that matches no student: its name, an empty `student`, and the nearest
candidates. The person fills in `student` (an id, e-mail, login or name), or `-` to leave the submission out. Filled-in
lines are kept whenever the file is written again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.cells import plain_cell, safe_cell
from grader.base.csv_files import BOM, csv_rows, read_csv
from grader.base.errors import GraderError
from grader.base.files import write_atomic
from grader.intake.handin import Who
from grader.intake.matching import Matcher
from grader.model.roster import Student

IGNORED = "-"
_COLUMNS = ("submission", "student", "nearest")


@dataclass(frozen=True)
class Matches:
    """A person's decisions: a student for a submission's name, or None to leave it out."""

    decided: Mapping[str, Student | None] = field(default_factory=dict)
    rows: tuple[tuple[str, str, str], ...] = ()  # as in the file

    def ignores(self, name: str) -> bool:
        """Whether a person left this submission out."""
        return name in self.decided and self.decided[name] is None


def read_matches(path: Path, matcher: Matcher) -> Matches:
    """The decisions in the file; none if it doesn't exist. Raises GraderError for an unknown student."""
    if not path.exists():
        return Matches()
    table = read_csv(path)
    header = [cell.strip().casefold() for cell in table.header]
    if not {"submission", "student"} <= set(header):
        raise GraderError(f"{path}: the first line must name the columns: {','.join(_COLUMNS)}")
    decided: dict[str, Student | None] = {}
    rows: list[tuple[str, str, str]] = []
    for line, row in table.rows:
        cells = dict(zip(header, row, strict=False))
        name, student = plain_cell(cells.get("submission", "")), plain_cell(cells.get("student", "").strip())
        if not name:
            continue
        rows.append((name, student, plain_cell(cells.get("nearest", ""))))
        if student == IGNORED:
            decided[name] = None
        elif student:
            decided[name] = _student(student, matcher, f"{path}: line {line}")
    return Matches(decided, tuple(rows))


def _student(text: str, matcher: Matcher, where: str) -> Student:
    if not matcher.roster:
        return Student(name=text)
    name = text.rpartition(" (")[0] if text.endswith(")") else text  # in the form that `nearest` uses
    student = matcher.find(Who(text=text.rpartition(" (")[2].rstrip(")"))) if text.endswith(")") else None
    student = student or matcher.find(Who(text=text)) or matcher.find(Who(text=name))
    if student is None:
        nearest = ", ".join(matcher.nearest(Who(text=name))) or "nobody comes near"
        raise GraderError(
            f'{where}: "{text}" is nobody on the roster, or several: {nearest}.\n'
            "Write the student's id or e-mail address, or - to leave the submission out"
        )
    return student


def write_matches(path: Path, before: Matches, unmatched: Iterable[tuple[str, Iterable[str]]]) -> bool:
    """Adds a line for each new unmatched submission; returns whether the file has changed."""
    known = {name for name, _, _ in before.rows}
    rows = [*before.rows, *((name, "", "; ".join(nearest)) for name, nearest in unmatched if name not in known)]
    if len(rows) == len(before.rows):
        return False
    # `-` leaves a submission out; it is not escaped as a formula.
    cells = [[cell if cell == IGNORED else safe_cell(cell) for cell in row] for row in rows]
    write_atomic(path, BOM + csv_rows([_COLUMNS, *cells]))
    return True
