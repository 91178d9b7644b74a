"""Turns the judge's result into points. Pure functions: the same result always scores the same."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from grader.base.counted import counted
from grader.base.schema import Fields, read
from grader.model.assignment import Assignment, Criterion
from grader.model.result import SuiteResult, TestResult
from grader.model.verdicts import HARNESS, INCONCLUSIVE, JUDGED

_DIGITS = 2
_TIMED = {"reference": "the reference's time / yours", "copy": "a copy's time / yours"}


@dataclass(frozen=True)
class CriterionScore:
    """The points for one criterion. `detail` gives the reason in a few words; `value` is the metric's, if measured."""

    id: str
    rung: str
    title: str
    points: float
    possible: float
    bonus: bool
    verdict: str
    detail: str
    hint: str
    metric: str
    value: float | None
    full: float
    none: float
    unmet: str = ""  # why it doesn't count, whatever its value

    @property
    def is_full(self) -> bool:
        """Whether it earned full points."""
        return self.points >= self.possible


@dataclass(frozen=True)
class Score:
    """A submission's points, and its verdict: the first problem in ladder order, and its rung.

    `total` includes `bonus`, the points of bonus criteria; `possible` doesn't.
    """

    total: float
    bonus: float
    possible: float
    verdict: str
    rung: str
    criteria: tuple[CriterionScore, ...]


def score_result(assignment: Assignment, result: SuiteResult) -> Score:
    """Scores a finished run. Timed criteria count only if it ran on a GPU."""
    measured = {entry.criterion: (entry.value, entry.verdict, entry.unmet) for entry in result.evidence}
    measured |= {
        entry.criterion: (entry.value, INCONCLUSIVE if entry.is_inconclusive else entry.verdict, "")
        for entry in result.timings
    }
    on_gpu = result.device.kind == "cuda"
    criteria = tuple(
        _tests_score(criterion, result.tests)
        if criterion.tests
        else _measured_score(criterion, *measured.get(criterion.id, (None, "PASS", "")), result.tests)
        for criterion in assignment.criteria
        if on_gpu or not criterion.timing
    )
    criteria = _without_unmet_needs(assignment, criteria)
    verdict, rung = overall_verdict(assignment, result.tests, criteria)
    return _score(assignment, criteria, verdict, rung)


def _without_unmet_needs(assignment: Assignment, criteria: tuple[CriterionScore, ...]) -> tuple[CriterionScore, ...]:
    needs = {criterion.id: criterion.needs for criterion in assignment.criteria if criterion.needs}
    short = {score.id: score.title for score in criteria if not score.is_full}
    return tuple(
        replace(score, points=0.0, verdict="SLOW", detail=f"counts once “{short[needs[score.id]]}” has all its points")
        if score.points and needs.get(score.id) in short
        else score
        for score in criteria
    )


def score_nothing(assignment: Assignment, verdict: str, detail: str, *, on_gpu: bool = False) -> Score:
    """The score of a submission that never ran: it did not compile, was refused, or is missing."""
    criteria = tuple(
        _criterion_score(criterion, 0.0, verdict, detail)
        for criterion in assignment.criteria
        if on_gpu or not criterion.timing
    )
    return _score(assignment, criteria, verdict, "")


def overall_verdict(
    assignment: Assignment, tests: Sequence[TestResult], criteria: Sequence[CriterionScore]
) -> tuple[str, str]:
    """The submission's verdict and its rung.

    That of the first failing test in ladder order; else of the first criterion below full marks, which is SLOW unless
    measuring it failed; else PASS. Bonus rungs don't count.
    """
    place = {rung.id: index for index, rung in enumerate(assignment.rungs)}
    failed = [
        test
        for test in tests
        if test.verdict != "PASS" and not test.is_evidence and not assignment.is_bonus_rung(test.rung)
    ]
    if failed:
        first = min(failed, key=lambda test: place.get(test.rung, len(place)))
        return first.verdict, first.rung
    short = next((criterion for criterion in criteria if not criterion.is_full and not criterion.bonus), None)
    if short is None:
        return "PASS", ""
    return ("SLOW" if short.verdict == "PASS" else short.verdict), short.rung


def linear_fraction(value: float, full: float, none: float) -> float:
    """1 at `full` and beyond, 0 at `none` and beyond, linear between; either may be the larger."""
    return min(1.0, max(0.0, (value - none) / (full - none)))


def tests_of(criterion: Criterion, tests: Sequence[TestResult]) -> list[TestResult]:
    """The tests that a criterion counts, including failures while its rung was timed."""
    return [
        test
        for test in tests
        if any(fnmatchcase(test.name, glob) for glob in criterion.tests)
        or (test.is_timing and test.rung == criterion.rung)
    ]


def _tests_score(criterion: Criterion, tests: Sequence[TestResult]) -> CriterionScore:
    own = tests_of(criterion, tests)
    passed = sum(test.verdict == "PASS" for test in own)
    worst = max((test.verdict for test in own), key=JUDGED.index, default=HARNESS)
    detail = f"{passed} of {counted(len(own), 'test')} passed" if own else "none of its tests ran"
    return _criterion_score(criterion, passed / len(own) if own else 0.0, worst, detail)


def _measured_score(
    criterion: Criterion, value: float | None, found: str, unmet: str, tests: Sequence[TestResult]
) -> CriterionScore:
    own = [test for test in tests if test.rung == criterion.rung and not test.is_evidence]
    if not own or any(test.verdict != "PASS" for test in own):
        worst = max((test.verdict for test in own), key=JUDGED.index, default=HARNESS)
        return _criterion_score(criterion, 0.0, worst, "counts once this rung's tests pass", value)
    if found == INCONCLUSIVE:
        return _criterion_score(criterion, 0.0, found, "the repeats vary too much: measure it again")
    if value is None:
        return _criterion_score(criterion, 0.0, "WRONG" if found == "PASS" else found, "could not be measured")
    if unmet:
        return replace(_criterion_score(criterion, 0.0, "SLOW", f"{plain(value)}, but it {unmet}", value), unmet=unmet)
    fraction = linear_fraction(value, criterion.full, criterion.none)
    verdict = "PASS" if fraction >= 1 else "SLOW"
    detail = (
        f"{plain_beside(value, criterion.full)}, full marks at {plain(criterion.full)}, none at {plain(criterion.none)}"
    )
    return _criterion_score(criterion, fraction, verdict, detail, value)


def plain(value: float) -> str:
    """A number as a person writes it: four significant digits, thousands marked."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:  # noqa: PLR2004
        return f"{value:,.0f}"
    return f"{value:.4g}"


def plain_beside(value: float, other: float) -> str:
    """Like `plain`, with enough further digits to distinguish the number from another one."""
    text = plain(value)
    for digits in range(5, 18):
        if value == other or text != plain(other):
            break
        text = f"{value:.{digits}g}"
    return text


def points_text(value: float) -> str:
    """Points without needless digits."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def with_bonus(own: float, bonus: float, form: str = "{} + {} bonus") -> str:
    """Points plus bonus: "90 + 10 bonus"."""
    return form.format(points_text(own), points_text(bonus)) if bonus else points_text(own)


def _criterion_score(
    criterion: Criterion, fraction: float, verdict: str, detail: str, value: float | None = None
) -> CriterionScore:
    return CriterionScore(
        id=criterion.id,
        rung=criterion.rung,
        title=criterion.title,
        points=round(criterion.points * fraction, _DIGITS),
        possible=criterion.points,
        bonus=criterion.bonus,
        verdict=verdict,
        detail=detail,
        hint=criterion.hint,
        metric=criterion.metric or _TIMED.get(criterion.timing, ""),
        value=value,
        full=criterion.full,
        none=criterion.none,
    )


def _score(assignment: Assignment, criteria: tuple[CriterionScore, ...], verdict: str, rung: str) -> Score:
    return Score(
        total=round(sum(criterion.points for criterion in criteria), _DIGITS),
        bonus=round(sum(criterion.points for criterion in criteria if criterion.bonus), _DIGITS),
        possible=assignment.points,
        verdict=verdict,
        rung=rung,
        criteria=criteria,
    )


def score_from(fields: Fields) -> Score:
    """Reads a score's JSON form."""
    return read(Score, fields, criteria=tuple(map(_criterion_from, fields.tables("criteria"))))


def _criterion_from(fields: Fields) -> CriterionScore:
    return read(CriterionScore, fields, unmet=fields.text("unmet", ""))
