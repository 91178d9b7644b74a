"""A made-up class with results, for the class report and the similar submissions: any number of students."""

from dataclasses import replace
from pathlib import Path

from grader.course.grades import StudentGrades, compute_grades
from grader.course.ruling import Course
from grader.model.assignment import Assignment, Criterion, Limits, Rung
from grader.model.handed import Handed
from grader.model.record import MISSING, Record
from grader.model.result import Device, SuiteResult, TestResult
from grader.model.roster import Student
from grader.model.score import CriterionScore, Score
from made_class import handed_in

TITLES = (
    "Vector copy",
    "Launch shapes",
    "Circular shift",
    "Parallel reduction",
    "Prefix sums",
    "Transpose",
    "Occupancy",
)
_FAULTS = ("PASS", "PASS", "PASS", "PASS", "SLOW", "RACE", "BOUNDS", "WRONG", "COMPILE", "TIMEOUT", "NOT BEGUN")
_FIRST = ("Ada", "Grace", "Alan", "Łucja", "Åse", "José", "Nguyễn", "Mary-Kate", "Ольга", "Jun")
_LAST = (
    "Lovelace",
    "Hopper",
    "Turing",
    "Wójcik",
    "Øvergård",
    "de la Cruz",
    "Thị Minh",
    "O'Neill",
    "Иванова",
    "Park",
    "van den Berg",
    "Ng",
    "Featherstonehaugh",
    "Li",
    "Müller",
    "Šimková",
    "Rossi",
    "Sato",
    "Khan",
    "Okafor",
)
RUNGS = tuple(f"rung{number}" for number in range(1, 6))
TESTS = 6  # of each rung


def made_assignments(count: int = 7) -> dict[str, Assignment]:
    made = {}
    for number, title in enumerate(TITLES[:count], 1):
        name = f"{number:02}_{title.split()[-1].lower()}"
        rungs = tuple(Rung(rung, rung.capitalize(), None, 0) for rung in RUNGS)
        criteria = tuple(
            Criterion(f"{rung}.right", rung, 20, "Right answers", False, "", ("*",), "", "", 0, 0) for rung in RUNGS
        )
        path = Path(name) / "assignment.toml"
        made[name] = Assignment(name, title, f"{name[3:]}.cu", 100, 0, Limits(1, 512, 512), rungs, criteria, None, path)
    return made


def made_student(number: int) -> Student:
    name = f"{_FIRST[number % len(_FIRST)]} {_LAST[number // len(_FIRST) % len(_LAST)]}"
    return Student(name, f"{30000 + number}", f"s{number}@class.example", section="AB"[number % 2])


def made_result(verdict: str, at: int, rungs: tuple[str, ...] = RUNGS) -> tuple[Score, SuiteResult]:
    """Rungs before the index `at` are right; the others have the verdict, or WRONG instead of NOT BEGUN."""
    criteria, tests = [], []
    for index, rung in enumerate(rungs):
        own = "PASS" if verdict == "PASS" or index < at else "WRONG" if verdict == "NOT BEGUN" else verdict
        points = 20 if own == "PASS" else 12 if own == "SLOW" else 0
        criteria.append(
            CriterionScore(f"{rung}.right", rung, "Right answers", points, 20, False, own, "", "", "", None, 0, 0)
        )
        for number in range(TESTS):
            failed = own not in ("PASS", "SLOW") and number % 2 == 0
            tests.append(
                TestResult(
                    message="wrong" if failed else "", name=f"LadderTest.Case{number}/{rung}", rung=rung,
                    verdict=own if failed else "PASS", seconds=0.01 * (index + 1) * (number + 1), output="",
                    reproduce="", findings=(), unfinished=failed and verdict == "NOT BEGUN",
                )
            )  # fmt: skip
    result = SuiteResult("x", "", 1, True, Device("vgpu", "", "", 1), tuple(tests), (), (), ())
    total = sum(one.points for one in criteria)
    where = "" if verdict == "PASS" else rungs[at]
    return Score(total, 0, 100, "WRONG" if verdict == "NOT BEGUN" else verdict, where, tuple(criteria)), result


def made_record(
    assignment: Assignment, student: Student, number: int, attempt: int = 1, *, late: bool = False
) -> Record:
    """One submission; its number determines its result."""
    folder = f"{student.sid}-{student.name}"
    if number % 13 == 12:
        return handed_in(student, 0, name=assignment.id, status=MISSING, folder=folder)
    if number % 97 == 96:
        return handed_in(student, None, name=assignment.id, folder=folder)
    verdict = _FAULTS[number % len(_FAULTS)]
    score, result = made_result(verdict, number % len(RUNGS))
    record = handed_in(student, score.total, name=assignment.id, folder=folder, number=attempt, late=late)
    return replace(record, score=score, result=result, run=f"{assignment.id} {number}")


def made_board(
    students: int = 200, assignments: int = 7, course: Course | None = None
) -> tuple[dict[str, Assignment], list[StudentGrades]]:
    """A class with late hand-ins, resubmissions, unmatched ones, and students who handed in nothing."""
    known = made_assignments(assignments)
    classes: dict[str, tuple[Assignment, list[Record]]] = {}
    for column, (name, assignment) in enumerate(known.items()):
        records = []
        for number in range(students):
            student = made_student(number)
            if students > 50 and number % 50 == 49:
                records.append(handed_in(student, 0, name=name, status=MISSING, folder=student.sid))
                continue
            record = made_record(assignment, student, number * 7 + column * 5, late=number % 17 == 3)
            if number % 40 == 7:
                nearest = (made_student(number + 1).name,)
                record = replace(record, handed=Handed(is_matched=False, nearest=nearest, origin=f"{student.sid}.zip"))
            records.append(record)
            if number % 9 == 4 and record.result:
                records.append(replace(record, handed=replace(record.handed, number=2), key=f"{record.key} again"))
        if len(records) > 3 and records[1].result and records[2].result:
            records[2] = replace(records[2], run=records[1].run)
        classes[name] = (assignment, records)
    return known, compute_grades(classes, course) if course else compute_grades(classes)


def by_name(grades: list[StudentGrades]) -> dict[str, StudentGrades]:
    return {one.student.name: one for one in grades}
