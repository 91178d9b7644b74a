"""Each student's grade for each assignment and in total. `compute_grades` makes these from records and the policy.

Steps for one assignment: the attempt's own points → without bonus, if it doesn't count → the cap → lateness →
adjustments. The attempt that counts is chosen before adjustments. Nothing here reads a clock or a file: the same
records and the same course give the same grades, in any order of input.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType

from grader.base.counted import counted
from grader.course.adjustments import Adjustment, adjustment_step
from grader.course.amounts import late_text
from grader.course.extensions import due_for
from grader.course.lateness import Lateness, Penalty, lateness, penalty
from grader.course.people import Identity, identity, known_best
from grader.course.policy import BEST, Policy, Rules
from grader.course.ruling import NO_COURSE, Course, Ruling, rulings
from grader.course.times import HandInTime
from grader.course.totals import drop_lowest, total_of
from grader.model import verdicts
from grader.model.assignment import Assignment
from grader.model.course_folder import TIMES
from grader.model.record import MISSING, NOT_GRADED, Record
from grader.model.roster import Student
from grader.model.score import points_text, with_bonus

_NEVER = datetime.max.replace(tzinfo=UTC)
COUNTS, ABSENT, EXCUSED, OPEN, NOT_DUE = "graded", "missing", "excused", "not graded", "not due yet"


@dataclass(frozen=True)
class AssignmentGrade:
    """One student's grade for one assignment.

    `record` is the attempt that counts, `attempts` are all of them, oldest first. `earned` are its own points; `points`
    is what counts after caps, lateness and adjustments. It is None if there is no score yet (`status` OPEN or NOT_DUE)
    or none is due (EXCUSED). `penalty` is the deduction for lateness, `late_days` the days used from the bank. `due` is
    the student's own deadline, UTC in ISO 8601, "" if there is none.

    `steps` explain `points`, one line each: which attempt counts, and everything added or deducted; empty if the only
    attempt's own points count. `is_time_unknown`: there is a deadline but no hand-in time, so lateness is ignored.
    `is_extra`: the points are extra credit on top of the course's. `flags` are remarks for staff.
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
    late_days: int = 0
    due: str = ""
    adjustments: tuple[Adjustment, ...] = ()
    is_dropped: bool = False
    is_extra: bool = False
    is_time_unknown: bool = False
    steps: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The result, one of `verdicts.WORDS`: of the attempt that counts, or why there is none."""
        if self.status == EXCUSED:
            return verdicts.EXCUSED
        if self.status == NOT_DUE:
            return verdicts.NOT_DUE
        return self.record.shown_verdict if self.record else verdicts.MISSING

    @property
    def on_top(self) -> float:
        """The part of `points` above the maximum: bonus, and all extra credit."""
        return 0.0 if self.points is None else self.points if self.is_extra else max(0.0, self.points - self.possible)

    @property
    def points_text(self) -> str:
        """Formatted as "100 + 12 bonus"; a dash if there are none yet."""
        return self.points_in("{} + {} bonus")

    def points_in(self, form: str) -> str:
        """`points_text` with another format string."""
        on_top = 0.0 if self.is_extra else self.on_top
        return "–" if self.points is None else with_bonus(self.points - on_top, on_top, form)

    @property
    def is_counted(self) -> bool:
        """Whether it counts towards the total."""
        return self.status not in (EXCUSED, NOT_DUE) and not self.is_dropped


@dataclass(frozen=True)
class StudentGrades:
    """All of one student's grades, by assignment, and the course's `total` of `possible`, None while nothing is graded.

    `is_matched` is false for somebody who handed in and is not on the roster. `adjustments` are those of the total, and
    `steps` explain it if it is more than a sum.
    """

    student: Student
    assignments: Mapping[str, AssignmentGrade]
    total: float | None
    possible: float
    is_matched: bool = True
    adjustments: tuple[Adjustment, ...] = ()
    steps: tuple[str, ...] = ()
    late_days_left: int = 0

    @property
    def total_text(self) -> str:
        """Formatted as "700 + 454 bonus", with extra credit in the bonus; a dash before anything counts."""
        return self.total_in("{} + {} bonus")

    def total_in(self, form: str) -> str:
        """`total_text` with another format string."""
        if self.total is None:
            return "–"
        on_top = sum(grade.on_top for grade in self.assignments.values() if grade.is_counted)
        if self.steps:  # weights, caps and corrections: more than a sum
            on_top = self.total - self.possible
        on_top = round(min(max(on_top, 0.0), max(self.total, 0.0)), 2)
        return with_bonus(self.total - on_top, on_top, form)


def compute_grades(
    classes: Mapping[str, tuple[Assignment, Sequence[Record]]],
    course: Course = NO_COURSE,
    now: datetime | None = None,
    others: Mapping[Identity, Student] = MappingProxyType({}),
) -> list[StudentGrades]:
    """Each student's grades from all attempts of each assignment, sorted by name; those who match nobody are last.

    With `now`, a missing submission that is not due yet has no points instead of 0. Raises GraderError if the course's
    files name a student or an assignment that does not exist; `others` are students without results here.
    """
    people: dict[Identity, dict[str, list[Record]]] = {}
    versions: dict[Identity, list[Student]] = {}
    for name, (_, records) in classes.items():
        for record in records:
            is_matched = record.handed.is_matched
            for student in record.handed.group or (record.student,):
                who = identity(student, is_matched=is_matched)
                versions.setdefault(who, []).append(student)
                own = people.setdefault(who, {}).setdefault(name, [])
                if record not in own:
                    own.append(record)
    students = {who: known_best(several) for who, several in versions.items()}
    found = rulings(course, {**others, **students}, list(classes))
    grades = [
        _student(
            students[who], who[0], {name: classes[name][0] for name in classes}, own, course.policy, found[who], now
        )
        for who, own in people.items()
    ]
    return sorted(grades, key=_order)


def _order(grades: StudentGrades) -> tuple[bool, str, str, str]:
    student = grades.student
    return not grades.is_matched, student.name.casefold(), student.sid, repr(student)


def extra_credit(assignments: Mapping[str, Assignment], policy: Policy) -> frozenset[str]:
    """The extra-credit assignments: as course.toml says, else as assignment.toml does.

    If all assignments are extra credit, they are the course, and none counts as extra.
    """
    rules = {name: policy.of(name).extra_credit for name in assignments}
    extra = {name for name, said in rules.items() if (assignments[name].extra_credit if said is None else said)}
    return frozenset(extra if len(extra) < len(assignments) else ())


def _student(
    student: Student,
    is_matched: bool,
    assignments: Mapping[str, Assignment],
    own: Mapping[str, Sequence[Record]],
    policy: Policy,
    ruling: Ruling,
    now: datetime | None,
) -> StudentGrades:
    bank = policy.bank
    graded: dict[str, AssignmentGrade] = {}
    # Late days are spent on assignments in the order of their deadlines.
    for name in sorted(assignments, key=lambda one: (policy.of(one).deadline or _NEVER, one)):
        per_assignment = policy.bank_per_assignment
        usable = bank if per_assignment is None else min(bank, per_assignment)
        graded[name] = _grade(assignments[name], own.get(name, ()), policy, ruling, usable, now)
        bank -= graded[name].late_days
    extra = extra_credit(assignments, policy)
    grades = {name: replace(graded[name], is_extra=name in extra) for name in assignments}
    for name, why in drop_lowest(
        policy, {n: (g.points, g.possible) for n, g in grades.items() if g.is_counted and not g.is_extra}
    ).items():
        grades[name] = replace(grades[name], is_dropped=True, steps=(*grades[name].steps, why))
    counted_ones = {name: (grade.points, grade.possible) for name, grade in grades.items() if grade.is_counted}
    adjustments = ruling.adjustments_of("")
    total, possible, steps = total_of(policy, counted_ones, adjustments, extra)
    return StudentGrades(student, grades, total, possible, is_matched, adjustments, steps, bank)


@dataclass(frozen=True)
class _Attempt:
    """An attempt with its points under the policy; `points` is None if the harness failed."""

    record: Record
    earned: float | None
    points: float | None
    late: Lateness | None
    cost: Penalty
    steps: tuple[str, ...]


def _grade(
    assignment: Assignment,
    records: Sequence[Record],
    policy: Policy,
    ruling: Ruling,
    bank: int,
    now: datetime | None,
) -> AssignmentGrade:
    rules = policy.of(assignment.id)
    due = due_for(policy, assignment.id, ruling.extensions)
    adjustments = ruling.adjustments_of(assignment.id)
    handed_in = _timed(
        in_order([record for record in records if record.status != MISSING]), ruling.times_of(assignment.id)
    )
    attempts = handed_in or in_order(records)
    grade = AssignmentGrade(
        assignment.id, attempts[-1] if attempts else None, attempts, ABSENT, 0.0, assignment.points, 0.0,
        due=due.isoformat(timespec="seconds") if due else "", adjustments=adjustments,
    )  # fmt: skip
    if ruling.is_excused(assignment.id):
        flags = ("Excused, and adjusted: the adjustment counts for nothing",) if _sum(adjustments) else ()
        earned = _earned(attempts[-1]) if handed_in else None
        return replace(
            grade, status=EXCUSED, earned=earned, points=None, steps=("Excused: it doesn't count",), flags=flags
        )
    if not handed_in:
        if due is not None and now is not None and now <= due and not _sum(adjustments):
            return replace(grade, status=NOT_DUE, earned=None, points=None)
        return _adjusted(grade)
    valued = [_attempt(assignment, record, rules, policy, due, bank) for record in attempts]
    chosen = _chosen(valued, rules)
    return _adjusted(
        replace(
            grade,
            record=chosen.record,
            status=COUNTS if chosen.points is not None else OPEN,
            earned=chosen.earned,
            points=chosen.points,
            penalty=chosen.cost.points,
            late_seconds=chosen.late.seconds if chosen.late else 0.0,
            late_days=chosen.cost.late_days,
            is_time_unknown=due is not None and chosen.late is None and not _is_told(chosen.record),
            steps=(*_choice(valued, chosen, rules), *chosen.steps),
            flags=tuple(_flags(valued, chosen, due)),
        )
    )


def in_order(records: Sequence[Record]) -> tuple[Record, ...]:
    """A student's attempts, oldest first: by time if all have one, else by number."""
    times = [_at(record) for record in records]
    known = [time for time in times if time is not None]
    keyed = zip(known if len(known) == len(times) else [_NEVER] * len(times), records, strict=True)
    ordered = sorted(keyed, key=lambda one: (one[0], one[1].handed.number, one[1].folder, one[1].key))
    return tuple(record for _, record in ordered)


def _timed(records: tuple[Record, ...], times: Sequence[HandInTime]) -> tuple[Record, ...]:
    """The attempts in order, with hand-in times set by a person."""
    timed = list(records)
    for time in times:
        place = (time.attempt or len(timed)) - 1
        if 0 <= place < len(timed):
            handed = replace(timed[place].handed, at=time.at.isoformat(timespec="seconds"), source=TIMES)
            timed[place] = replace(timed[place], handed=handed)
    return in_order(timed) if times else records


def _is_told(record: Record) -> bool:
    """Whether the platform says if it was late, though not when it was handed in."""
    return record.handed.late or bool(record.handed.source)


def _at(record: Record) -> datetime | None:
    """When it was handed in, in UTC; None if unknown."""
    try:
        moment = datetime.fromisoformat(record.handed.at)
    except ValueError:
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)


def _earned(record: Record) -> float | None:
    return record.score.total if record.score and record.status != NOT_GRADED else None


def _sum(adjustments: Sequence[Adjustment]) -> float:
    return sum(one.points for one in adjustments)


def _attempt(
    assignment: Assignment, record: Record, rules: Rules, policy: Policy, due: datetime | None, bank: int
) -> _Attempt:
    earned = _earned(record)
    at = _at(record)
    due = _with_the_platforms(due, record)
    late = lateness(at, due, rules.late, policy.zone) if at is not None and due is not None else None
    nothing = Penalty(0.0, 0, "")
    if earned is None:
        return _Attempt(record, None, None, late, nothing, ())
    points, steps = earned, []
    if record.score and record.score.bonus and not rules.bonus:
        points = round(points - record.score.bonus, 2)
        steps.append(
            f"Bonus doesn't count: {points_text(earned)} − {points_text(record.score.bonus)} = {points_text(points)}"
        )
    if rules.cap is not None and points > rules.cap.of(assignment.points):
        capped = round(rules.cap.of(assignment.points), 2)
        steps.append(
            f"At most {rules.cap.text(assignment.points)}: {points_text(points)} becomes {points_text(capped)}"
        )
        points = capped
    cost = nothing
    if late is not None and not late.is_accepted:
        steps.append(f"Handed in {late_text(late.seconds)} late, when nothing was accepted any more: 0 points")
        return _Attempt(record, earned, 0.0, late, Penalty(points, 0, ""), tuple(steps))
    if late is not None and late.seconds:
        cost = penalty(late, rules.late, points, assignment.points, bank)
        steps.append(cost.step)
        points = max(0.0, round(points - cost.points, 2))
    return _Attempt(record, earned, points, late, cost, tuple(steps))


def _with_the_platforms(due: datetime | None, record: Record) -> datetime | None:
    """The deadline, or the later one granted by the platform."""
    try:
        extended = datetime.fromisoformat(record.handed.extended)
    except ValueError:
        return due
    return due and max(due, extended.replace(tzinfo=extended.tzinfo or UTC).astimezone(UTC))


def _is_best(valued: Sequence[_Attempt], rules: Rules) -> bool:
    """Whether the best attempt counts: if the course says so, or all attempts are states of a repository."""
    return rules.counts == BEST or all(one.record.handed.is_version for one in valued)


def _chosen(valued: Sequence[_Attempt], rules: Rules) -> _Attempt:
    """The attempt that counts. Among equal ones, the one with fewer late days, then the later one."""
    graded = [(one.points, -one.cost.late_days, index) for index, one in enumerate(valued) if one.points is not None]
    if _is_best(valued, rules) and graded:
        return valued[max(graded)[2]]
    accepted = [one for one in valued if one.late is None or one.late.is_accepted]
    return (accepted or valued)[-1]


def _choice(valued: Sequence[_Attempt], chosen: _Attempt, rules: Rules) -> tuple[str, ...]:
    """Which of several attempts counts, and why."""
    if len(valued) == 1:
        return ()
    why = "the last" if chosen is valued[-1] else "the last that was accepted"
    if _is_best(valued, rules) and chosen.points is not None:
        others = ", ".join(points_text(one.points) for one in valued if one is not chosen and one.points is not None)
        why = f"the best after deductions for lateness: {points_text(chosen.points)}{others and f'; others: {others}'}"
    return (f"Attempt {valued.index(chosen) + 1} of {len(valued)} counts, {why}",)


def _flags(valued: Sequence[_Attempt], chosen: _Attempt, due: datetime | None) -> list[str]:
    flags = []
    handed = chosen.record.handed
    if handed.late and due is None:
        flags.append("The platform marks it late, and course.toml has no deadline for it: nothing was taken off")
    elif handed.late and chosen.late is None:
        flags.append("The platform marks it late and gives no time: nothing was taken off. Write it into times.csv")
    folders = dict.fromkeys(one.record.folder for one in valued)
    if len(folders) > 1:
        flags.append(f"Handed in under {counted(len(folders), 'name')}: {', '.join(folders)}")
    waiting = [str(index) for index, one in enumerate(valued, 1) if one.points is None and one is not chosen]
    if waiting:
        flags.append(f"Not graded yet: attempt {', '.join(waiting)} of {len(valued)}")
    return flags


def _adjusted(grade: AssignmentGrade) -> AssignmentGrade:
    """Adds a person's adjustments: they come last, and are not capped."""
    changes = [one for one in grade.adjustments if one.points]
    if not changes:
        return grade
    steps = list(grade.steps)
    if grade.points is None:
        steps.append("The harness gave no score: these points were given by hand")
    steps += [adjustment_step(one) for one in changes]
    points = round((grade.points or 0.0) + _sum(changes), 2)
    status = COUNTS if grade.status == OPEN else grade.status
    return replace(grade, points=points, status=status, steps=tuple(steps))
