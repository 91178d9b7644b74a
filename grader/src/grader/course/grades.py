"""What each student gets, for each assignment and in all. `compute_grades` makes these from records and the policy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.model.assignment import Assignment
from grader.model.record import MISSING, NOT_GRADED, Record
from grader.model.roster import Student

COUNTS, ABSENT, EXCUSED, OPEN = "graded", "missing", "excused", "not graded"


@dataclass(frozen=True)
class Adjustment:
    """Points that a person gave or took, with the reason and who did it."""

    student: str
    assignment: str
    points: float
    reason: str
    staff: str


@dataclass(frozen=True)
class AssignmentGrade:
    """One student's grade for one assignment.

    `record` is the attempt that counts, `attempts` are all of them, oldest first. `earned` are its own points;
    `points` is what counts after lateness, adjustments and caps, and None where there is no score yet (`status` OPEN)
    or where none is due (EXCUSED). `steps` tell how `points` came from `earned`, a line each; empty where they are
    the same.
    """

    assignment: str
    record: Record | None
    attempts: tuple[Record, ...]
    status: str
    earned: float | None
    possible: float
    points: float | None
    penalty: float = 0.0
    late_seconds: float = 0.0
    adjustments: tuple[Adjustment, ...] = ()
    is_dropped: bool = False
    steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudentGrades:
    """All of one student's grades, by assignment; `total` of `possible` is the course's, None before anything counts.

    `is_matched` is false for somebody who handed in and is not on the roster.
    """

    student: Student
    assignments: Mapping[str, AssignmentGrade]
    total: float | None
    possible: float
    is_matched: bool = True


def compute_grades(classes: Mapping[str, tuple[Assignment, Sequence[Record]]]) -> list[StudentGrades]:
    """Each student's grades from all attempts of each assignment, students by name. The last attempt counts."""
    students: dict[tuple[Student, bool], dict[str, list[Record]]] = {}
    for name, (_, records) in classes.items():
        for record in records:
            for student in record.handed.group or (record.student,):
                own = students.setdefault((student, record.handed.is_matched), {})
                own.setdefault(name, []).append(record)
    grades = []
    for (student, is_matched), own in students.items():
        assignments = {name: _grade(classes[name][0], tuple(own.get(name, ()))) for name in classes}
        points = [grade.points for grade in assignments.values() if grade.points is not None]
        possible = sum(grade.possible for grade in assignments.values())
        grades.append(StudentGrades(student, assignments, sum(points) if points else None, possible, is_matched))
    return sorted(grades, key=lambda one: (one.student.name.casefold(), one.student.sid))


def _grade(assignment: Assignment, attempts: tuple[Record, ...]) -> AssignmentGrade:
    record = attempts[-1] if attempts else None
    earned = record.score.total if record and record.score else None
    status = COUNTS
    if record is None or record.status == MISSING:
        status, earned = ABSENT, 0.0
    elif record.status == NOT_GRADED:
        status = OPEN
    return AssignmentGrade(assignment.id, record, attempts, status, earned, assignment.points, earned)
