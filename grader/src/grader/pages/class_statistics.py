"""Statistics of a class: how points are spread, what cost most of them, which tests fail, what runs longest.

`ClassStatistics` takes records one by one and keeps only sums, so that a class need not be in memory at once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from grader.course.grades import COUNTS, StudentGrades
from grader.model.assignment import Assignment
from grader.model.record import MISSING, Record
from grader.model.result import is_not_begun
from grader.model.score import CriterionScore
from grader.model.verdicts import NOT_BEGUN, PASS
from grader.pages.cards import staff_card_name

_BINS = 10
_MOST_ROWS = 12
_SLOWEST = 10


@dataclass(frozen=True)
class Bar:
    """One bar of a histogram: `count` of the students have points in this range. `height` is from 0 to 1."""

    label: str
    count: int
    height: float


@dataclass(frozen=True)
class Histogram:
    """The distribution of one assignment's points among those who handed in; `missing` counts the others."""

    assignment: Assignment
    bars: tuple[Bar, ...]
    handed_in: int
    missing: int
    median: float | None


@dataclass
class Cost:
    """Points lost by the class: cause, assignment, number of submissions. `share` is relative to the greatest."""

    what: str
    assignment: str
    points: float = 0.0
    submissions: int = 0
    share: float = 0.0


@dataclass
class TestStatistics:
    """One test: it passed in `passed` of the `ran` submissions that ran it; the slowest took `seconds`."""

    __test__ = False  # not for pytest

    name: str
    ran: int = 0
    passed: int = 0
    seconds: float = 0.0
    slowest: str = ""
    verdicts: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """The fraction that passed."""
        return self.passed / self.ran if self.ran else 1.0


@dataclass(frozen=True)
class Slow:
    """A slow submission: the total time of its tests, and its slowest test."""

    name: str
    card: str
    assignment: str
    seconds: float
    test: str
    test_seconds: float


def counted_records(grades: Sequence[StudentGrades], name: str) -> list[Record]:
    """The attempts that count for an assignment, each once: a team has one."""
    found = {}
    for one in grades:
        grade = one.assignments.get(name)
        if grade and grade.record and grade.record.status != MISSING:
            found[grade.record.folder, grade.record.handed.number] = grade.record
    return list(found.values())


class ClassStatistics:
    """Statistics over a class's submissions; add each one that counts, once."""

    def __init__(self, assignments: Mapping[str, Assignment]) -> None:
        self._assignments = assignments
        self._by_criterion: dict[tuple[str, str], Cost] = {}
        self._by_fault: dict[str, Cost] = {}
        self._tests: dict[str, dict[str, TestStatistics]] = {name: {} for name in assignments}
        self._slowest: list[Slow] = []

    def add(self, record: Record) -> None:
        """Adds one submission to the totals; does not keep a reference to it."""
        self._add_costs(record)
        tests = record.result.tests if record.result else ()
        own = self._tests[record.assignment]
        for test in tests:
            if test.is_evidence:
                continue
            entry = own.setdefault(test.name, TestStatistics(test.name))
            entry.ran += 1
            if test.verdict == PASS:
                entry.passed += 1
            else:
                entry.verdicts[NOT_BEGUN if test.unfinished else test.verdict] += 1
            if test.seconds > entry.seconds:
                entry.seconds, entry.slowest = test.seconds, record.student.name
        longest = max(tests, key=lambda test: test.seconds, default=None)
        if longest:
            title = self._assignments[record.assignment].title
            seconds = sum(test.seconds for test in tests)
            slow = Slow(record.student.name, staff_card_name(record), title, seconds, longest.name, longest.seconds)
            self._slowest = sorted([*self._slowest, slow], key=lambda one: (-one.seconds, one.card))[:_SLOWEST]

    def _add_costs(self, record: Record) -> None:
        assignment = self._assignments[record.assignment]
        kinds: set[str] = set()
        for criterion in record.score.criteria if record.score else ():
            lost = criterion.possible - criterion.points
            if criterion.bonus or lost <= 0:  # a bonus can't be lost
                continue
            key = assignment.id, criterion.id
            cost = self._by_criterion.setdefault(key, Cost(_criterion_title(assignment, criterion), assignment.title))
            cost.points += lost
            cost.submissions += 1
            is_begun = record.result is None or not is_not_begun(criterion.rung, record.result.tests)
            kind = criterion.verdict if is_begun else NOT_BEGUN
            kinds.add(kind)
            self._by_fault.setdefault(kind, Cost(kind, "")).points += lost
        for verdict in kinds:
            self._by_fault[verdict].submissions += 1

    @property
    def criteria(self) -> int:
        """The number of criteria that cost anybody a point."""
        return len(self._by_criterion)

    def costs_by_criterion(self) -> list[Cost]:
        """Points lost by criterion, the most first."""
        return _greatest(list(self._by_criterion.values()))

    def costs_by_fault(self) -> list[Cost]:
        """Points lost by verdict, the most first."""
        return _greatest(list(self._by_fault.values()))

    def tests(self, assignment: str) -> list[TestStatistics]:
        """Each test of an assignment, the one that most fail first."""
        return sorted(self._tests[assignment].values(), key=lambda one: (one.share, one.name))

    def slowest(self) -> list[Slow]:
        """The submissions whose tests took longest together."""
        return self._slowest


def _criterion_title(assignment: Assignment, criterion: CriterionScore) -> str:
    label = assignment.labels.get(criterion.rung, "")
    rung = assignment.rung(criterion.rung)
    return f"{label}. {rung.title}: {criterion.title}" if rung else criterion.title


def _greatest(costs: Sequence[Cost]) -> list[Cost]:
    ordered = sorted(costs, key=lambda one: (-one.points, one.what))[:_MOST_ROWS]
    for one in ordered:
        one.share = one.points / ordered[0].points
    return ordered


def histogram(assignment: Assignment, grades: Sequence[StudentGrades]) -> Histogram:
    """Points that count, in tenths of the assignment's; bonus points beyond have a bar of their own."""
    own = [grade for one in grades if (grade := one.assignments.get(assignment.id))]
    points = [grade.points for grade in own if grade.points is not None and grade.status == COUNTS]
    full = assignment.points or 1
    counts = Counter(_BINS if value > full else max(0, min(int(_BINS * value / full), _BINS - 1)) for value in points)
    most = max(counts.values(), default=1)
    step = full / _BINS
    bars = tuple(
        Bar(
            f"more than {full:g}" if index == _BINS else f"{step * index:g} to {step * (index + 1):g}",
            counts[index],
            counts[index] / most,
        )
        for index in range(_BINS + 1 if counts[_BINS] else _BINS)
    )
    middle = median(points) if points else None
    return Histogram(assignment, bars, len(points), len(own) - len(points), middle)
