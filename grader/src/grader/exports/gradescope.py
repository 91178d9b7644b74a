"""From a record to Gradescope's results.json.

Each criterion becomes a test with its points; the messages of its failing tests become its output. Everything is sent
as plain text: a student chooses names, messages and what a program prints, and Gradescope interprets HTML, Markdown and
ANSI codes if the format field says so. Its documentation names no limit of size; it has been seen to cut an output at
100,000 characters, so all outputs together stay below that.

An assignment's visibilities are Gradescope's: VISIBLE, AFTER_DEADLINE and HIDDEN are "visible", "after_due_date" and
"hidden". For a test that is less visible than its criterion, the output has only the title, the verdict and a hint.

If the harness failed on a submission, there are no results, because a missing score would be read as zero. The caller
then writes no file, and Gradescope says that the autograder failed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from grader.base.counted import counted
from grader.base.names import safe_json, shown, shown_block
from grader.model.assignment import Assignment
from grader.model.ranking import may_be_ranked
from grader.model.record import MISSING, Record
from grader.model.result import Evidence, TestResult, Timing
from grader.model.score import CriterionScore, Score, points_text, tests_of, with_bonus
from grader.model.verdicts import NOT_BEGUN
from grader.model.visibility import AFTER_DEADLINE, HIDDEN, VISIBILITIES, VISIBLE, find_visibility

RESULTS = "results.json"
VISIBILITY_NAMES = {VISIBLE: "visible", AFTER_DEADLINE: "after_due_date", HIDDEN: "hidden"}
_FORMAT = "text"
_MOST_CHARACTERS = 90_000  # for all outputs together
_FEWEST_CHARACTERS = 500
_NAME_CHARACTERS = 200
_TOP_CHARACTERS = 20_000
_MOST_TESTS = 5  # per criterion, tests whose messages are shown
_PRINTED_CHARACTERS = 4000
_DIGITS = 2
_VALUE_DIGITS = 6


def results(
    assignment: Assignment,
    record: Record,
    *,
    points: float | None = None,
    counted_points: float | None = None,
    steps: Sequence[str] = (),
    seconds: float | None = None,
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:
    """A record's results.json; None if there is no score to report.

    `points` is Gradescope's maximum for the assignment, if it differs from ours: all points are scaled to it.
    `counted_points` are the points under the course's policy, if they differ; `steps` explain them. `seconds` is how
    long grading took, `extra` is added to extra_data.
    """
    record = record.without_seed()
    score = record.score
    if score is None or not record.is_final or record.status == MISSING:
        return None
    scale = _scale(assignment, points)
    ran = sum(test.seconds for test in record.result.tests) if record.result else 0.0
    leaderboard = _leaderboard(assignment, record)
    return _whole(
        _points(score.total if counted_points is None else counted_points, scale),
        ran if seconds is None else seconds,
        _top(assignment, record, score, scale, steps),
        _tests(assignment, record, score, scale),
        _data(record, score, scale) | dict(extra or {}),
    ) | ({"leaderboard": leaderboard} if leaderboard else {})


def results_text(document: Mapping[str, Any]) -> str:
    """The text of results.json."""
    return safe_json(document) + "\n"


def missing_results(assignment: Assignment, problem: str, *, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """results.json for a student who handed in something other than the file to grade."""
    output = f"0 of {points_text(assignment.points)} points: {problem}.\nHand in {assignment.submission}."
    return _whole(0.0, 0, shown_block(output, _TOP_CHARACTERS), [], dict(extra or {}))


def _scale(assignment: Assignment, points: float | None) -> float:
    return points / assignment.points if points and assignment.points else 1.0


def _data(record: Record, score: Score, scale: float) -> dict[str, Any]:
    """Data that Gradescope stores with the results, for programs."""
    return {
        "assignment": record.assignment,
        "verdict": record.shown_verdict,
        "rung": score.rung,
        "points": score.total,
        "bonus": score.bonus,
        "possible": score.possible,
        "scale": scale,
        "graded_at": record.graded_at,
        "handed": {"at": record.handed.at, "late": record.handed.late, "number": record.handed.number},
        "submission": record.provenance.submission,
        "grader": record.provenance.grader,
        "nvcc": record.provenance.nvcc,
        "device": record.provenance.device,
    }


def _whole(
    score: float, seconds: float, output: str, tests: list[dict[str, Any]], extra: dict[str, Any]
) -> dict[str, Any]:
    return {
        "score": score,
        "execution_time": round(seconds),
        "output": output,
        "output_format": _FORMAT,
        "test_output_format": _FORMAT,
        "test_name_format": _FORMAT,
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": extra,
        "tests": tests,
    }


def _points(points: float, scale: float) -> float:
    return round(points * scale, _DIGITS)


def _top(assignment: Assignment, record: Record, score: Score, scale: float, steps: Sequence[str]) -> str:
    """What the student reads first; points only if every criterion is visible: else Gradescope hides the sum too."""
    lines = []
    if all(assignment.visibility_of_criterion(criterion.id) == VISIBLE for criterion in score.criteria):
        points = with_bonus(_points(score.total - score.bonus, scale), _points(score.bonus, scale))
        lines.append(f"{points} of {points_text(_points(score.possible, scale))} points")
        lines += steps
    rung = assignment.rung(score.rung)
    where = f" at rung {rung.id}: {rung.title}" if rung else ""
    if record.shown_verdict == NOT_BEGUN:
        lines.append(f"Next{where}, which is not begun")
    elif record.verdict != "PASS":
        lines.append(f"First to fix: {record.verdict}{where}")
    else:
        lines.append("Everything is right")
    if record.message:
        lines += ["", record.message]
    return shown_block("\n".join(lines), _TOP_CHARACTERS)


def _tests(assignment: Assignment, record: Record, score: Score, scale: float) -> list[dict[str, Any]]:
    most = max(_FEWEST_CHARACTERS, (_MOST_CHARACTERS - _TOP_CHARACTERS) // max(1, len(score.criteria)))
    place = {rung.id: number for number, rung in enumerate(assignment.rungs, 1)}
    seen: dict[str, int] = {}
    entries = []
    for criterion in score.criteria:
        seen[criterion.rung] = seen.get(criterion.rung, 0) + 1
        entries.append(
            {
                "score": _points(criterion.points, scale),
                "max_score": _points(criterion.possible, scale),
                "status": "passed" if criterion.is_full else "failed",
                "name": shown(f"{criterion.title}{' (bonus)' if criterion.bonus else ''}", _NAME_CHARACTERS),
                "name_format": _FORMAT,
                "number": f"{place.get(criterion.rung, 0)}.{seen[criterion.rung]}",
                "output": shown_block(_output(assignment, record, criterion), most),
                "output_format": _FORMAT,
                "tags": [criterion.rung, *(["bonus"] if criterion.bonus else [])],
                "visibility": VISIBILITY_NAMES[assignment.visibility_of_criterion(criterion.id)],
                "extra_data": {"criterion": criterion.id, "verdict": criterion.verdict, "value": criterion.value},
            }
        )
    return entries


def _output(assignment: Assignment, record: Record, score: CriterionScore) -> str:
    """The reasons for a criterion's points."""
    parts = [f"{score.verdict}  {score.detail}" if score.verdict != "PASS" else score.detail]
    if record.result is None or score.is_full:
        return parts[0]
    criterion = next(one for one in assignment.criteria if one.id == score.id)
    level = assignment.visibility_of_criterion(score.id)
    failed = [test for test in tests_of(criterion, record.result.tests) if test.verdict != "PASS"]
    parts += [_said(assignment, test, level) for test in failed[:_MOST_TESTS]]
    if len(failed) > _MOST_TESTS:
        parts.append(f"{counted(len(failed) - _MOST_TESTS, 'more test')} failed")
    measured: list[Evidence | Timing] = [*record.result.evidence, *record.result.timings]
    parts += [entry.said for entry in measured if entry.criterion == score.id and entry.message]
    if score.hint and not failed:
        parts.append(score.hint)
    return "\n\n".join(parts)


def _said(assignment: Assignment, test: TestResult, level: str) -> str:
    """What students may read about a failing test under a criterion of this visibility."""
    entry = find_visibility(assignment.visibility, test.name)
    if VISIBILITIES.index(entry.shown) > VISIBILITIES.index(level):
        hint = entry.hint or test.hint
        return f"{test.verdict}  {entry.title or 'a hidden test'}" + (f"\n  hint    {hint}" if hint else "")
    parts = [test.said or f"{test.verdict}  {test.name}"]
    if test.output.strip():
        parts.append(f"  your program printed:\n{shown_block(test.output.strip(), _PRINTED_CHARACTERS)}")
    if find_visibility((), test.name).shown == VISIBLE:  # a test that students have
        parts.append(f"  repeat  make test TEST={test.name}")
    return "\n".join(parts)


def _leaderboard(assignment: Assignment, record: Record) -> list[dict[str, Any]]:
    """The assignment's leaderboard figure, if the submission may be ranked; unverified ones are not."""
    ranking = assignment.ranking
    ranked = record.result.leaderboard if record.result else None
    if ranking is None or ranked is None or not ranked.value or ranked.value < 0:  # a time of zero is not a measurement
        return []
    if not may_be_ranked(assignment, ranking, record):
        return []
    name = shown(f"{ranked.metric} of {ranked.rung}", _NAME_CHARACTERS)
    value = float(f"{ranked.value:.{_VALUE_DIGITS}g}")
    return [{"name": name, "value": value, "order": "asc" if ranking.ascending else "desc"}]
