"""Records of a made-up class, for tests of grades and pages."""

from pathlib import Path

from grader.base.csv_files import parse_csv
from grader.course.adjustments import adjustments_from
from grader.course.grades import AssignmentGrade, StudentGrades, compute_grades
from grader.course.policy import read_policy
from grader.course.ruling import Course
from grader.model.assignment import Assignment, Criterion, Limits
from grader.model.handed import Handed
from grader.model.record import GRADED, MISSING, NOT_GRADED, Provenance, Record
from grader.model.roster import Student
from grader.model.score import CriterionScore, Score

ADA = Student("Ada Lovelace", "1815", "ada@class.example", login="alovelace", platform_id="11")
ALAN = Student("Turing, Alan", "1912", "alan@class.example", login="aturing", platform_id="12")
GRACE = Student("Grace Hopper", "1906", "grace@class.example", login="ghopper", platform_id="13")
KNOWN = ("04_reduction", "05_scan", "06_transpose")
Classes = dict[str, tuple[Assignment, list[Record]]]


def made_assignment(name: str = "04_reduction", points: float = 100) -> Assignment:
    criteria = tuple(
        Criterion(f"{one}.sum", one, points / 2, "Right", False, "", ("*",), "", "", 0, 0) for one in ("one", "two")
    )
    limits = Limits(1, 512, 512)
    title = name.partition("_")[2].capitalize()
    return Assignment(name, title, f"{title}.cu", points, 0, limits, (), criteria, None, Path(name) / "assignment.toml")


def handed_in(
    student: Student,
    points: float | None,
    at: str = "",
    *,
    name: str = "04_reduction",
    bonus: float = 0,
    possible: float = 100,
    status: str = "",
    folder: str = "",
    **handed: object,
) -> Record:
    """A record; without points the harness failed."""
    shares = (("one", (points or 0) / 2), ("two", (points or 0) / 2))
    criteria = tuple(
        CriterionScore(f"{one}.sum", one, "Right", own, possible / 2, False, "PASS", "", "", "", None, 0, 0)
        for one, own in shares
    )
    score = None if points is None else Score(points, bonus, possible, "PASS", "", criteria)
    status = status or (GRADED if score else NOT_GRADED)
    made = Provenance("", "", "", "", "", "", "", "", "vgpu", 1, True, "")
    folder = folder or student.name
    own = Handed(at=f"2026-11-{at}:00+00:00" if at else "", **handed)  # type: ignore[arg-type]
    key = f"{points} {own.number}"
    return Record(name, folder, student, key, status, "", score, None, "", made, "2026-12-01T00:00:00+00:00", own)


def absent(student: Student, name: str = "04_reduction") -> Record:
    return handed_in(student, 0, name=name, status=MISSING)


def one_class(*records: Record, points: float = 100) -> Classes:
    classes: Classes = {}
    for record in records:
        classes.setdefault(record.assignment, (made_assignment(record.assignment, points), []))[1].append(record)
    return classes


def course(toml: str = "", adjustments: str = "") -> Course:
    table = parse_csv("student,assignment,points,reason,staff\n" + adjustments, "adjustments.csv")
    return Course(read_policy(toml, "course.toml", KNOWN), adjustments_from(table, KNOWN), KNOWN)


def graded(classes: Classes, toml: str = "", adjustments: str = "", **more: object) -> dict[str, StudentGrades]:
    """All grades by the student's name."""
    found = compute_grades(classes, course(toml, adjustments), **more)  # type: ignore[arg-type]
    return {one.student.name: one for one in found}


def only_grade(*records: Record, toml: str = "", adjustments: str = "") -> AssignmentGrade:
    """The first student's grade for the first assignment."""
    found = next(iter(graded(one_class(*records), toml, adjustments).values()))
    return next(iter(found.assignments.values()))
