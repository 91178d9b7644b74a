"""Scoring is a pure function of what the judge found."""

from dataclasses import replace
from pathlib import Path

import pytest

from conftest import FAKE
from grader.authoring.check_run import with_known_evidence
from grader.base.cells import safe_cell
from grader.model.assignment import Assignment, load_assignment
from grader.model.record import Provenance, Record, record_from_json
from grader.model.result import Device, Evidence, SuiteResult, TestResult, Timing, passed_test
from grader.model.roster import Student
from grader.model.score import Score, linear_fraction, score_result

RUNGS = ("alpha_one", "beta_two", "gamma_bonus")


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    folder = tmp_path / "90_fake"
    folder.mkdir()
    (folder / "assignment.toml").write_text((FAKE / "assignment.toml").read_text())
    return load_assignment(folder)


def outcome(value: float | None = 2, *, measured: str = "PASS", **verdicts: str) -> SuiteResult:
    tests = tuple(
        replace(
            passed_test(f"LadderTest.{name}/{rung}", rung),
            verdict=verdicts.get(rung, "PASS") if name == "A" else "PASS",
        )
        for rung in RUNGS
        for name in ("A", "B")
    )
    evidence = (
        Evidence(
            criterion="beta.fast",
            rung="beta_two",
            metric="branches / blocks",
            value=value,
            verdict=measured,
            message="",
        ),
    )
    return SuiteResult("90_fake", "public", 1, True, Device("vgpu", "h200", "x", 1), tests, evidence, (), ())


def brief(score: Score) -> tuple[float, float, str, str]:
    return score.total, score.bonus, score.verdict, score.rung


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (outcome(), (23, 3, "PASS", "")),
        (outcome(1), (23, 3, "PASS", "")),
        (outcome(4), (21, 3, "SLOW", "beta_two")),
        (outcome(100), (19, 3, "SLOW", "beta_two")),
        (outcome(None, measured="TIMEOUT"), (19, 3, "TIMEOUT", "beta_two")),
        (outcome(alpha_one="RACE"), (19, 3, "RACE", "alpha_one")),
        (outcome(beta_two="WRONG"), (15, 3, "WRONG", "beta_two")),
        (outcome(beta_two="WRONG", alpha_one="CRASH"), (11, 3, "CRASH", "alpha_one")),
        (outcome(gamma_bonus="WRONG"), (21.5, 1.5, "PASS", "")),
    ],
)
def test_scores(assignment: Assignment, result: SuiteResult, expected: tuple[float, float, str, str]) -> None:
    assert brief(score_result(assignment, result)) == expected


def test_what_is_met_for_the_wrong_reason_earns_nothing(assignment: Assignment) -> None:
    met = outcome()
    unmet = replace(met, evidence=(replace(met.evidence[0], verdict="SLOW", unmet="counts only where …"),))
    score = score_result(assignment, unmet)
    assert brief(score) == (19, 3, "SLOW", "beta_two")
    assert next(c for c in score.criteria if c.metric).detail == "2, but it counts only where …"


def test_no_tests_give_no_points(assignment: Assignment) -> None:
    score = score_result(assignment, replace(outcome(), tests=()))
    assert score.total == 0
    assert score.verdict != "PASS"


@pytest.mark.parametrize(
    ("value", "full", "none", "fraction"),
    [(2, 2, 6, 1), (6, 2, 6, 0), (4, 2, 6, 0.5), (9, 8, 4, 1), (3, 8, 4, 0), (5, 8, 4, 0.25)],
)
def test_linear(value: float, full: float, none: float, fraction: float) -> None:
    assert linear_fraction(value, full, none) == pytest.approx(fraction)


def record(assignment: Assignment, name: str, score: Score | None, result: SuiteResult | None = None) -> Record:
    made = Provenance("", "", "", "", "", "", "", "", "vgpu", 1, True, "")
    status = "graded" if score else "not graded"
    return Record(
        "90_fake",
        name,
        Student(name, "=1+1"),
        "k",
        status,
        "",
        score,
        result,
        "code",
        made,
        "2026-01-01T00:00:00+00:00",
    )


def test_evidence_that_was_left_out_counts_as_measured(assignment: Assignment) -> None:
    evidence = passed_test("Evidence.Fast/beta_two", "beta_two")
    large = replace(evidence, name="LadderTest.Large/beta_two")

    def verdict(result: SuiteResult, *known: TestResult) -> tuple[str, str]:
        got = with_known_evidence(assignment, record(assignment, "x", score_result(assignment, result), result), known)
        assert got.score
        return got.verdict, got.score.rung

    unmeasured = replace(outcome(), evidence=())
    assert verdict(unmeasured) == ("WRONG", "beta_two")
    assert verdict(unmeasured, large) == ("WRONG", "beta_two")
    assert verdict(unmeasured, evidence) == ("PASS", "")
    # Measurements and failed tests are not improved.
    assert verdict(outcome(100), evidence) == ("SLOW", "beta_two")
    assert verdict(replace(outcome(alpha_one="RACE"), evidence=()), evidence) == ("RACE", "alpha_one")


def test_records_survive_json(assignment: Assignment) -> None:
    result = outcome(3.25, alpha_one="RACE")
    before = record(assignment, "Zoë, the “first”", score_result(assignment, result), result)
    assert record_from_json(before.to_json()) == before
    assert record_from_json(record(assignment, "x", None).to_json()).verdict == "HARNESS"


OPERATORS = [
    "=",
    "+",
    "-",
    "@",
    "＝",
    "＋",
    "－",
    "＠",
    "﹦",
    "﹢",
    "﹣",
    "﹫",
    "⁼",
    "⁺",
    "⁻",
    "₌",
    "₊",
    "₋",
    "−",
    "–",
    "—",
]
SKIPPED = [
    "",
    " ",
    "\t",
    "\r",
    "\n",
    "\xa0",
    "\u3000",
    "\u2003",
    "\u200b",
    "\ufeff",
    "\x00",
    "'",
    '"',
    "“",
    "’",
    "＂",
    "＇",
    "´",
    " ' ",
]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("skipped", SKIPPED)
def test_formulas_are_defused(operator: str, skipped: str) -> None:
    text = f"{skipped}{operator}1+1"
    expected = f"{skipped}'{operator}1+1" if skipped == "\t" else f"'{text}"
    assert safe_cell(text) == expected


@pytest.mark.parametrize(
    "text", ["", "Ada", "1815", "O'Hara", "a=b", "x-y", "ada@class.example", "λ", "Émilie", "3 - 2"]
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert safe_cell(text) == text


def test_no_two_texts_become_one_cell() -> None:
    texts = ["=1", "'=1", "''=1", "x", "'x", "x;=1", "x;'=1", "x\t'=1"]
    assert len({safe_cell(text) for text in texts}) == len(texts)


def timed(assignment: Assignment, value: float | None, verdict: str, kind: str) -> Score:
    """The score with a timed criterion instead of the metric one, on this kind of device."""
    criteria = tuple(
        replace(criterion, metric="", timing="copy", bonus=True, full=0.9, none=0.5) if criterion.metric else criterion
        for criterion in assignment.criteria
    )
    result = replace(
        outcome(),
        device=Device(kind, "h200", "x", 1),
        timings=(
            Timing(
                criterion="beta.fast",
                rung="beta_two",
                n=64,
                repeats=12,
                microseconds=2.0,
                reference_microseconds=1.0,
                copy_microseconds=1.0,
                value=value,
                low=0.0,
                high=0.0,
                verdict=verdict,
                message="",
                gpu={},
            ),
        ),
    )
    return score_result(replace(assignment, criteria=criteria), result)


def test_times_count_on_a_gpu_alone(assignment: Assignment) -> None:
    without = timed(assignment, 0.9, "PASS", "vgpu")
    assert "beta.fast" not in {criterion.id for criterion in without.criteria}
    fast = timed(assignment, 0.9, "PASS", "cuda")
    slow = timed(assignment, 0.7, "SLOW", "cuda")
    undecided = timed(assignment, None, "HARNESS", "cuda")
    points = next(criterion.points for criterion in assignment.criteria if criterion.id == "beta.fast")
    assert fast.total - without.total == points
    assert slow.total - without.total == points / 2
    assert undecided.total == without.total
    assert fast.verdict == slow.verdict == "PASS"


def test_a_time_counts_where_what_it_needs_has_all_its_points(assignment: Assignment) -> None:
    criteria = tuple(
        replace(criterion, needs="beta.fast") if criterion.id == "beta.time" else criterion
        for criterion in assignment.criteria
    )
    time = Timing(
        criterion="beta.time",
        rung="beta_two",
        n=64,
        repeats=12,
        microseconds=2.0,
        reference_microseconds=2.0,
        copy_microseconds=1.0,
        value=1.0,
        low=0.99,
        high=1.01,
        verdict="PASS",
        message="",
        gpu={},
    )

    def points(branches: float | None) -> tuple[float, str]:
        result = replace(outcome(branches), device=Device("cuda", "h200", "x", 1), timings=(time,))
        score = score_result(replace(assignment, criteria=criteria), result)
        return next((one.points, one.detail) for one in score.criteria if one.id == "beta.time")

    assert points(2)[0] == 2
    assert points(3) == points(None) == (0, "counts once “Fast” has all its points")
