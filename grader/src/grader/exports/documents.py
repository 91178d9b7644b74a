"""Grades as JSON, for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from grader.base.names import safe_json
from grader.course.grades import AssignmentGrade, StudentGrades
from grader.model.assignment import Assignment
from grader.model.record import Record
from grader.model.roster import Student

FORMAT = 1
_PERSON = ("name", "sid", "email", "login", "section", "platform_id")


def person(student: Student) -> dict[str, str]:
    """The student's name and ids."""
    return {key: getattr(student, key) for key in _PERSON}


def grade_document(student: Student, grade: AssignmentGrade) -> dict[str, Any]:
    """One student's grade for one assignment."""
    return {
        "student": person(student),
        "status": grade.status,
        "verdict": grade.verdict,
        "points": grade.points,
        "possible": grade.possible,
        "earned": grade.earned,
        "penalty": grade.penalty,
        "late_seconds": grade.late_seconds,
        "late_days": grade.late_days,
        "due": grade.due,
        "dropped": grade.is_dropped,
        "extra_credit": grade.is_extra,
        "attempt": grade.attempts.index(grade.record) + 1 if grade.record else None,
        "steps": list(grade.steps),
        "flags": list(grade.flags),
        "adjustments": [_without_place(asdict(one)) for one in grade.adjustments],
    }


def grades_json(assignments: Mapping[str, Assignment], grades: Sequence[StudentGrades]) -> str:
    """All grades of a course."""
    document = {
        "format": FORMAT,
        "assignments": [{"id": one.id, "title": one.title, "points": one.points} for one in assignments.values()],
        "students": [_student(one) for one in grades],
    }
    return safe_json(document) + "\n"


def _student(one: StudentGrades) -> dict[str, Any]:
    assignments = {}
    for name, grade in one.assignments.items():
        document = grade_document(one.student, grade)
        del document["student"]
        assignments[name] = document | {"attempts": [_attempt(record) for record in grade.attempts]}
    return person(one.student) | {
        "on_roster": one.is_matched,
        "total": one.total,
        "possible": one.possible,
        "steps": list(one.steps),
        "adjustments": [_without_place(asdict(adjustment)) for adjustment in one.adjustments],
        "late_days_left": one.late_days_left,
        "assignments": assignments,
    }


def _attempt(record: Record) -> dict[str, Any]:
    return {
        "number": record.handed.number,
        "handed_in": record.handed.at,
        "submission": record.folder,
        "verdict": record.shown_verdict,
        "earned": record.score.total if record.score else None,
        "graded_at": record.graded_at,
        "reason": record.reason,
    }


def _without_place(adjustment: dict[str, Any]) -> dict[str, Any]:
    """The adjustment without `where`, which is a path on this machine, and `student`."""
    return {key: value for key, value in adjustment.items() if key not in ("where", "student")}
