"""What the class's index lists for a person to look at: not graded, inconclusive, flagged, unmatched, same code."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.base.files import sha256_bytes
from grader.course.adjustments import Adjustment, adjustment_step
from grader.course.grades import ABSENT, OPEN, AssignmentGrade, StudentGrades
from grader.model.assignment import Assignment
from grader.model.record import MISSING, Record
from grader.model.verdicts import HARNESS, INCONCLUSIVE, NOT_BEGUN
from grader.pages.cards import staff_card_name

CARD, FLAGGED, SAME, ADJUSTED = "card", "flagged", "same code", "adjusted"
_ORDER = (HARNESS, INCONCLUSIVE, CARD, FLAGGED, SAME, ADJUSTED)


@dataclass(frozen=True)
class Spot:
    """A submission to look at: its student, and the staff's card. `assignment` is a title, "" for the whole course."""

    who: str
    assignment: str
    card: str


@dataclass(frozen=True)
class Notice:
    """Something that needs a person's attention: what, and where."""

    kind: str
    text: str
    spots: tuple[Spot, ...]


@dataclass(frozen=True)
class Unmatched:
    """Somebody who handed in but is not on the roster, and the closest names."""

    name: str
    origin: str
    nearest: tuple[str, ...]


def unmatched(grades: Sequence[StudentGrades]) -> list[Unmatched]:
    """Hand-ins that match nobody on the roster."""
    found = []
    for one in grades:
        if not one.is_matched:
            handed = [grade.record.handed for grade in one.assignments.values() if grade.record]
            origins = ", ".join(dict.fromkeys(handed_in.origin for handed_in in handed if handed_in.origin))
            nearest = tuple(dict.fromkeys(name for handed_in in handed for name in handed_in.nearest))
            found.append(Unmatched(one.student.name, origins, nearest))
    return found


def missing_everywhere(grades: Sequence[StudentGrades]) -> list[str]:
    """Students of the roster with nothing in any assignment."""
    return [
        one.student.name
        for one in grades
        if one.is_matched
        and all(grade.status == ABSENT or grade.record is None for grade in one.assignments.values())
        and any(grade.status == ABSENT for grade in one.assignments.values())
    ]


def notices(
    assignments: Mapping[str, Assignment],
    grades: Sequence[StudentGrades],
    unmade: Mapping[tuple[str, str], str],
) -> list[Notice]:
    """The notices, most urgent first; `unmade` says which cards could not be made, and why."""
    found: dict[tuple[str, str], list[Spot]] = {}
    for one in grades:
        for name, grade in one.assignments.items():
            spot = Spot(
                one.student.name, assignments[name].title, staff_card_name(grade.record) if grade.record else ""
            )
            for note in _notes(grade, unmade):
                found.setdefault(note, []).append(spot)
        for change in one.adjustments:
            found.setdefault((ADJUSTED, _told(change)), []).append(Spot(one.student.name, "", ""))
    same = [notice for assignment in assignments.values() for notice in _twins(assignment, grades)]
    folded = [Notice(kind, text, tuple(spots)) for (kind, text), spots in found.items()]
    return sorted([*folded, *same], key=lambda notice: _ORDER.index(notice.kind))


def _notes(grade: AssignmentGrade, unmade: Mapping[tuple[str, str], str]) -> Iterable[tuple[str, str]]:
    record = grade.record
    if grade.status == OPEN:
        yield HARNESS, "not graded: the harness failed; grade it again"
    if record and record.result and not record.result.is_conclusive:
        rungs = ", ".join(dict.fromkeys(time.rung for time in record.result.timings if time.is_inconclusive))
        yield INCONCLUSIVE, f"the measured time of {rungs}: measure it again"
    if record and (problem := unmade.get((record.assignment, record.folder))):
        yield CARD, f"only the points are on it: {problem}"
    for flag in grade.flags:
        yield FLAGGED, flag
    for one in grade.adjustments:
        yield ADJUSTED, _told(one)


def _told(one: Adjustment) -> str:
    return adjustment_step(one) if one.points else f"comment: {one.reason}"


def _twins(assignment: Assignment, grades: Sequence[StudentGrades]) -> Iterable[Notice]:
    """Groups of people with the same code. The grader ran it once for all of them, so their runs have one key.

    Attempts of one student and members of one team don't count as a group, nor do those who handed in the stub.
    """
    path = assignment.path.parent / assignment.submission
    stub = sha256_bytes(path.read_bytes()) if path.is_file() else None
    runs: dict[str, dict[str, Record]] = {}
    people: dict[str, set[int]] = {}
    for number, one in enumerate(grades):
        grade = one.assignments.get(assignment.id)
        record = grade.record if grade else None
        if record and record.run and record.status != MISSING:
            runs.setdefault(record.run, {})[record.folder] = record
            people.setdefault(record.folder, set()).add(number)
    for group in runs.values():
        if any(one.provenance.submission == stub or one.shown_verdict == NOT_BEGUN for one in group.values()):
            continue
        seen: set[int] = set()
        strangers = []
        for folder, record in group.items():
            if not people[folder] & seen:
                strangers.append(record)
            seen |= people[folder]
        if len(strangers) > 1:
            strangers.sort(key=lambda record: record.student.name.casefold())
            spots = tuple(Spot(one.student.name, "", staff_card_name(one)) for one in strangers)
            yield Notice(SAME, f"{assignment.title}: the same file, except for comments and white space", spots)
