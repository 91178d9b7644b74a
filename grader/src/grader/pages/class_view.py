"""The rows of the class index: for each student a cell per assignment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.base.counted import counted
from grader.course.amounts import late_text
from grader.course.grades import AssignmentGrade, StudentGrades
from grader.model.assignment import Assignment
from grader.model.score import points_text
from grader.model.verdicts import NOT_DUE, PASS
from grader.pages.cards import staff_card_name


@dataclass(frozen=True)
class Mark:
    """A symbol in a cell, with its meaning."""

    sign: str
    meaning: str


@dataclass(frozen=True)
class Cell:
    """One student's result in one assignment. `points` is None if there are none yet; `text` describes them."""

    points: float | None
    text: str
    verdict: str
    rung: str
    card: str
    marks: tuple[Mark, ...]
    steps: tuple[str, ...]

    @property
    def meaning(self) -> str:
        """The whole cell in words, one line per fact."""
        where = f" on {self.rung}" if self.rung and self.verdict != PASS else ""
        return "\n".join([f"{self.verdict}{where}", *(mark.meaning for mark in self.marks), *self.steps])


@dataclass(frozen=True)
class Row:
    """One student. `steps` explain the total."""

    name: str
    detail: str
    section: str
    is_matched: bool
    total: float | None
    total_text: str
    possible: float
    steps: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def meaning(self) -> str:
        """The explanation of the total, one line per step."""
        return "\n".join([f"of {points_text(self.possible)}", *self.steps])


def make_rows(assignments: Mapping[str, Assignment], grades: Sequence[StudentGrades]) -> list[Row]:
    """The matrix, in the order of the grades."""
    return [
        Row(
            name=one.student.name,
            detail=", ".join(filter(None, (one.student.sid, one.student.email))),
            section=one.student.section,
            is_matched=one.is_matched,
            total=one.total,
            total_text=one.total_text,
            possible=one.possible,
            steps=one.steps,
            cells=tuple(_cell(assignment, one.assignments.get(name)) for name, assignment in assignments.items()),
        )
        for one in grades
    ]


def to_see(rows: Sequence[Row], most: int) -> list[Row]:
    """Students with the lowest totals who handed something in and have less than half of the possible points."""
    low = [row for row in rows if row.total and row.total < row.possible / 2]
    return sorted(low, key=lambda row: row.total or 0.0)[:most]


def _cell(assignment: Assignment, grade: AssignmentGrade | None) -> Cell:
    record = grade.record if grade else None
    rung = record.score.rung if record and record.score else ""
    verdict = grade.verdict if grade else NOT_DUE
    if rung and assignment.is_bonus_rung(rung):  # everything required is right
        verdict, rung = PASS, ""
    return Cell(
        points=grade.points if grade else None,
        text=grade.points_in("{} + {}") if grade else "–",
        verdict=verdict,
        rung=rung,
        card=staff_card_name(record) if record else "",
        marks=tuple(_marks(grade)) if grade else (),
        steps=grade.steps if grade else (),
    )


def _marks(grade: AssignmentGrade) -> Iterable[Mark]:
    if grade.late_seconds:
        cost = f", −{points_text(grade.penalty)} points" if grade.penalty else ""
        yield Mark("L", f"{late_text(grade.late_seconds)} late{cost}")
    elif grade.record and grade.record.handed.late:
        yield Mark("L", "the platform marks it late")
    if grade.adjustments:
        yield Mark("±", f"adjusted by hand, {counted(len(grade.adjustments), 'entry', 'entries')}")
    if len(grade.attempts) > 1:
        yield Mark(f"×{len(grade.attempts)}", counted(len(grade.attempts), "attempt"))
    if grade.is_dropped:
        yield Mark("↓", "dropped: it doesn't count")
    if grade.record and grade.record.result and not grade.record.result.is_conclusive:
        yield Mark("?", "a measured time is inconclusive")
    for flag in grade.flags:
        yield Mark("!", flag)
