"""The pages: a report card for each submission, and the class's index.

Each page is one file without scripts or external resources. Jinja escapes everything that a student wrote.
"""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.base.files import write_atomic
from grader.base.names import shown, shown_block, slug
from grader.model.assignment import Assignment
from grader.model.record import MISSING, NOT_GRADED, Record
from grader.model.result import Said, TestResult, is_not_begun
from grader.model.score import CriterionScore
from grader.pages.chart import make_ladder
from grader.pages.code_view import annotate
from grader.pages.environment import make_environment
from grader.pages.timing_view import timing_view
from grader.pages.verdicts import tone

_MESSAGE_CHARS = 8000
_OUTPUT_CHARS = 4000
_HIDDEN = "Hidden"  # how the names of suites begin that only the instructor has


@dataclass(frozen=True)
class MessageLine:
    """A line of a judge's message; `kind` is head, hint or text."""

    kind: str
    text: str


@dataclass(frozen=True)
class Failure:
    """A failed test or a criterion below full marks, as a card shows it."""

    name: str
    verdict: str
    lines: tuple[MessageLine, ...]
    output: str
    reproduce: str


@dataclass(frozen=True)
class RungView:
    """A rung as a card shows it: its points, its criteria and what went wrong on it. `state` is a colour's name."""

    label: str
    id: str
    title: str
    points: float
    possible: float
    is_bonus: bool
    not_begun: bool
    state: str
    criteria: tuple[CriterionScore, ...]
    failures: tuple[Failure, ...]


def message_lines(message: str, hint: str = "") -> tuple[MessageLine, ...]:
    """A message in lines, its first and the hint told apart from the rest."""
    lines = shown_block(message, _MESSAGE_CHARS).strip("\n").split("\n")
    shown_lines = [MessageLine("text" if index else "head", line) for index, line in enumerate(lines)]
    if hint:
        shown_lines.append(MessageLine("hint", f"  hint    {shown(hint, _MESSAGE_CHARS)}"))
    return tuple(shown_lines)


def rung_views(assignment: Assignment, record: Record) -> list[RungView]:
    """The record rung by rung, in ladder order."""
    if record.score is None:
        return []
    tests = record.result.tests if record.result else ()
    measured: dict[str, Said] = {}
    if record.result:
        measured |= {entry.criterion: entry for entry in record.result.evidence if entry.message}
        # What was not decided is told where the times are.
        measured |= {one.criterion: one for one in record.result.timings if one.message and not one.is_inconclusive}
    views = []
    for rung in assignment.rungs:
        criteria = tuple(criterion for criterion in record.score.criteria if criterion.rung == rung.id)
        failed = [test for test in tests if test.rung == rung.id and test.verdict != "PASS" and not test.is_evidence]
        not_begun = is_not_begun(rung.id, tests)
        # What was not begun is said once, with the points: a test that says so again has nothing to look at.
        failures = [_failure(test) for test in failed if not test.unfinished]
        if not failed:
            failures += [
                Failure(c.title, c.verdict, message_lines(measured[c.id].message, measured[c.id].hint), "", "")
                for c in criteria
                if not c.is_full and c.id in measured
            ]
        points, possible = sum(c.points for c in criteria), sum(c.possible for c in criteria)
        is_bonus = assignment.is_bonus_rung(rung.id)
        is_quiet = record.status == MISSING or not_begun or (is_bonus and not points)
        views.append(
            RungView(
                label=rung.label,
                id=rung.id,
                title=rung.title,
                points=points,
                possible=possible,
                is_bonus=is_bonus,
                not_begun=not_begun,
                state=_state(failed, points, possible, is_quiet=is_quiet, has_run=bool(tests)),
                criteria=criteria,
                failures=tuple(failures),
            )
        )
    return views


def _state(failed: Sequence[TestResult], points: float, possible: float, *, is_quiet: bool, has_run: bool) -> str:
    if is_quiet:
        return "quiet"
    if failed:
        return tone(failed[0].verdict)
    if points >= possible:
        return "good"
    return "warn" if has_run else "bad"


def _failure(test: TestResult) -> Failure:
    # A hidden test is not in the handout. Of a public one a student's own run has other values, of the same sizes.
    is_hidden = test.name.startswith(_HIDDEN)
    return Failure(
        name=test.name,
        verdict=test.verdict,
        lines=message_lines(test.message or f"{test.verdict}  {test.name}", test.hint),
        output=shown_block(test.output, _OUTPUT_CHARS).strip("\n"),
        reproduce="" if is_hidden else f"make test TEST={test.name}",
    )


def card_name(record: Record) -> str:
    """Where a record's card is, from the output folder."""
    return f"cards/{record.assignment}/{slug(record.folder)}.html"


class Renderer:
    """Writes pages into an output folder."""

    def __init__(self, templates: Path, out: Path) -> None:
        """Takes templates from one folder and writes into the other."""
        self._out = out
        self._environment = make_environment(templates)
        self._environment.filters["card"] = card_name

    def card(self, assignment: Assignment, record: Record) -> Path:
        """Writes one report card and gives its path."""
        path = self._out / card_name(record)
        text = self._environment.get_template("report_card.html.j2").render(
            assignment=assignment,
            record=record,
            rungs=rung_views(assignment, record),
            message=message_lines(record.message) if record.message else (),
            ladder=make_ladder(assignment, record.result) if record.result else None,
            timed=timing_view(assignment, record),
            code=annotate(record.source, assignment.submission, record.result, record.message),
            not_graded=record.status == NOT_GRADED,
        )
        write_atomic(path, text)
        return path

    def plain_card(self, assignment: Assignment, record: Record) -> Path:
        """Writes a card with the points alone, where the whole one can't be made, and gives its path."""
        path = self._out / card_name(record)
        text = self._environment.get_template("plain_card.html.j2").render(assignment=assignment, record=record)
        write_atomic(path, text)
        return path

    def index(self, classes: Mapping[str, tuple[Assignment, Sequence[Record]]], *, has_board: bool) -> Path:
        """Writes the page that lists all cards and gives its path."""
        sections = [
            {
                "assignment": assignment,
                "rows": [
                    {"record": record, "rungs": rung_views(assignment, record)}
                    for record in sorted(records, key=lambda record: record.student.name.casefold())
                ],
                "handed_in": sum(record.status != MISSING for record in records),
                "median": statistics.median(scores)
                if (scores := [r.score.total for r in records if r.score and r.status != MISSING])
                else None,
                "verdicts": Counter(record.shown_verdict for record in records).most_common(),
            }
            for assignment, records in classes.values()
        ]
        text = self._environment.get_template("index.html.j2").render(sections=sections, has_board=has_board)
        path = self._out / "index.html"
        write_atomic(path, text)
        return path
