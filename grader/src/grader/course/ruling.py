"""The course files' rules for each student: `Course` is the files' content, `Ruling` one student's part."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from grader.base.errors import GraderError
from grader.course.adjustments import Adjustment
from grader.course.extensions import Extension, read_extension
from grader.course.people import Identity, identity, resolve
from grader.course.policy import ALL, Policy, assignments_without_weight
from grader.course.times import HandInTime
from grader.model.roster import Student


@dataclass(frozen=True)
class Course:
    """All rules that turn points into grades. `known` are the ids of all assignments."""

    policy: Policy = field(default_factory=Policy)
    adjustments: tuple[Adjustment, ...] = ()
    known: tuple[str, ...] = ()
    times: tuple[HandInTime, ...] = ()


NO_COURSE = Course()


@dataclass
class Ruling:
    """The course's rules as they apply to one student."""

    extensions: list[Extension] = field(default_factory=list)
    excused: set[str] = field(default_factory=set)
    adjustments: list[Adjustment] = field(default_factory=list)
    times: list[HandInTime] = field(default_factory=list)

    def is_excused(self, assignment: str) -> bool:
        """Whether the assignment doesn't count."""
        return bool(self.excused & {ALL, assignment})

    def times_of(self, assignment: str) -> tuple[HandInTime, ...]:
        """When an assignment was handed in, according to a person."""
        return tuple(one for one in self.times if one.assignment == assignment)

    def adjustments_of(self, assignment: str) -> tuple[Adjustment, ...]:
        """The adjustments of one assignment, or with "" those of the total."""
        return tuple(one for one in self.adjustments if one.assignment == assignment)


def check_course(course: Course, students: Iterable[tuple[Student, bool]], graded: Sequence[str]) -> None:
    """Raises GraderError before grading if the files name somebody who is not among these students.

    Each student comes with a flag: on the roster or not.
    """
    rulings(course, {identity(one, is_matched=is_matched): one for one, is_matched in students}, graded)


def rulings(course: Course, students: Mapping[Identity, Student], graded: Sequence[str]) -> dict[Identity, Ruling]:
    """Each student's ruling; raises GraderError if a name matches nobody, or only some assignments have weights."""
    policy = course.policy
    without = assignments_without_weight(policy, graded)
    if without:
        raise GraderError(
            f"course.toml gives weights, and none to {', '.join(without)}.\n"
            f"Add  weight = 10  to [assignment.{without[0]}]; with  weight = 0  it doesn't count"
        )
    found = {who: Ruling() for who in students}
    known = list(dict.fromkeys((*course.known, *graded)))

    def of(named: str, where: str) -> Ruling:
        on_roster = {student: who for who, student in students.items() if who[0]}
        everyone = {student: who for who, student in students.items()}
        try:
            who = on_roster[resolve(named, list(on_roster), where)]
        except GraderError:
            who = everyone[resolve(named, list(everyone), where)]  # students who are not on the roster are graded too
        return found[who]

    for who, student in students.items():
        if student.extension:
            where = f"the roster's extension of {student.name}"
            found[who].extensions.append(read_extension(student.extension, where, known, policy.zone))
    for entry in policy.extensions:
        of(entry.student, entry.where).extensions.append(read_extension(entry.text, entry.where, known, policy.zone))
    for entry in policy.excused:
        of(entry.student, entry.where).excused.update(entry.assignments)
    for adjustment in course.adjustments:
        of(adjustment.student, adjustment.where).adjustments.append(adjustment)
    for time in course.times:
        of(time.student, time.where).times.append(time)
    return found
