"""Which states of a repository may count: nobody hands one in, so its states at the student's deadlines do."""

import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime

from grader.base.errors import GraderError
from grader.course.amounts import Span, after
from grader.course.extensions import due_for
from grader.course.people import Identity, identity
from grader.course.policy import Policy
from grader.course.ruling import Course, Ruling, rulings
from grader.model.roster import Student

_MOST_DAYS = 14  # late days considered


def due_moments(course: Course, students: Sequence[Student]) -> Callable[[str, Student], Sequence[datetime]]:
    """For a student: the deadline with extensions, the ends of grace and of each late day, the end of acceptance.

    The newest state may count too. The best state is chosen after all are graded.
    """
    people = {identity(one, is_matched=True): one for one in students}
    found: dict[Identity, Ruling] = {}
    with contextlib.suppress(GraderError):  # mistakes in the course's files are reported before grading
        found = rulings(course, people, [])

    def moments(assignment: str, student: Student) -> Sequence[datetime]:
        ruling = found.get(identity(student, is_matched=True))
        due = due_for(course.policy, assignment, ruling.extensions if ruling else ())
        return _moments(course.policy, assignment, due) if due else ()

    return moments


def _moments(policy: Policy, assignment: str, due: datetime) -> list[datetime]:
    late = policy.of(assignment).late
    usable = policy.bank if policy.bank_per_assignment is None else min(policy.bank, policy.bank_per_assignment)
    days = [after(due, Span(days=day), policy.zone) for day in range(1, min(usable, _MOST_DAYS) + 1)]
    last = [after(due, late.accept, policy.zone)] if isinstance(late.accept, Span) else [late.accept]
    moments = [due, after(due, late.grace, policy.zone), *days, *(one for one in last if one)]
    return sorted({moment for moment in moments if moment >= due})
