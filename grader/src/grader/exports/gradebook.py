"""``gradebook.csv`` and ``criteria.csv``: one row per student, for spreadsheets."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.base.cells import safe_cell
from grader.base.counted import counted
from grader.course.amounts import late_text
from grader.course.grades import ABSENT, COUNTS, AssignmentGrade, StudentGrades
from grader.exports.tables import write_table
from grader.model.assignment import Assignment

_IDENTITY = ("name", "sid", "email", "login", "section")
_HOUR = 3600


def write_gradebook(path: Path, assignments: Mapping[str, Assignment], grades: Sequence[StudentGrades]) -> None:
    """Writes the gradebook: identity, total, a column per assignment, and remarks.

    A cell is empty if there is no score: the harness failed, the student is excused, or it isn't due yet.
    """
    header = [*_IDENTITY, "total", "possible", *assignments, "status"]
    rows = [
        [
            *_identity(one),
            one.total,
            one.possible,
            *(one.assignments[name].points for name in assignments),
            safe_cell(status_text(one)),
        ]
        for one in grades
    ]
    write_table(path, header, rows)


def _identity(one: StudentGrades) -> list[str]:
    return [safe_cell(getattr(one.student, column)) for column in _IDENTITY]


def status_text(one: StudentGrades) -> str:
    """The remarks on a student, such as: not on the roster, missing, excused, late, dropped, adjusted."""
    said = [] if one.is_matched else ["not on the roster"]
    for name, grade in one.assignments.items():
        is_left_out = grade.is_extra and grade.status == ABSENT  # nothing that needs attention
        parts = [] if grade.status == COUNTS or is_left_out else [grade.status]
        if grade.late_seconds:
            parts.append(f"{late_text(grade.late_seconds)} late")
        if grade.is_time_unknown:
            parts.append("hand-in time not known")
        if grade.late_days:
            parts.append(f"{counted(grade.late_days, 'late day')} spent")
        if grade.is_dropped:
            parts.append("dropped")
        if any(one.points for one in grade.adjustments):
            parts.append("adjusted")
        if grade.flags:
            parts.append("to be looked at")
        said += [f"{name} {', '.join(parts)}"] if parts else []
    return " / ".join(said)


def write_criteria(path: Path, assignments: Mapping[str, Assignment], grades: Sequence[StudentGrades]) -> None:
    """Writes how each assignment's points were earned, for the attempt that counts, by criterion.

    With one assignment the columns have plain names; with several each is prefixed by its assignment. If a GPU measured
    times, each ratio has a column, which is empty if the repeats were inconclusive.
    """
    rows = [_criteria_row(assignments, one) for one in grades]
    columns = list(dict.fromkeys((*_IDENTITY, *(name for name in _expected(assignments)))))
    columns += [name for row in rows for name in row if name not in columns]
    columns = list(dict.fromkeys(columns))
    write_table(path, columns, [[row.get(name) for name in columns] for row in rows])


_LATENESS = ("submission", "attempt", "attempts", "handed in", "hours late", "late days", "penalty", "adjusted")


def _prefix(assignments: Mapping[str, Assignment], name: str) -> str:
    return f"{name}." if len(assignments) > 1 else ""


def _expected(assignments: Mapping[str, Assignment]) -> list[str]:
    """All columns in order, whether or not anybody has a value, except those of times, which only a GPU gives."""
    columns = []
    for name, assignment in assignments.items():
        prefix = _prefix(assignments, name)
        own = [criterion.id for criterion in assignment.criteria if not criterion.timing]
        columns += [name, *(prefix + one for one in ("verdict", "rung", "earned", "bonus", *_LATENESS, *own))]
    return columns


def _criteria_row(assignments: Mapping[str, Assignment], one: StudentGrades) -> dict[str, Any]:
    row: dict[str, Any] = dict(zip(_IDENTITY, _identity(one), strict=True))
    for name in assignments:
        grade, prefix = one.assignments[name], _prefix(assignments, name)
        row[name] = grade.points
        row |= {prefix + key: value for key, value in _grade_cells(grade).items()}
    return row


def _grade_cells(grade: AssignmentGrade) -> dict[str, Any]:
    record = grade.record
    if record is None:
        return {"verdict": grade.verdict}
    score, timings = record.score, record.result.timings if record.result else ()
    return {
        "verdict": grade.verdict,
        "rung": score.rung if score else "",
        "earned": grade.earned,
        "bonus": score.bonus if score else None,
        "submission": safe_cell(record.folder),
        "attempt": grade.attempts.index(record) + 1,
        "attempts": len(grade.attempts),
        "handed in": record.handed.at,
        "hours late": round(grade.late_seconds / _HOUR, 2),
        "late days": grade.late_days,
        "penalty": grade.penalty,
        "adjusted": sum(one.points for one in grade.adjustments),
        **{criterion.id: criterion.points for criterion in (score.criteria if score else ())},
        **{f"{timing.criterion} ratio": timing.value for timing in timings},
    }
