"""A report card's contents, computed from a record: rungs, failures, and the first thing to fix.

It works on any record: the student's card gets one that was filtered by `student_view`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import escape

from grader.base.counted import counted
from grader.base.names import shown, shown_block
from grader.model.assignment import Assignment
from grader.model.picture import Picture, of_line, of_test
from grader.model.record import MISSING, Record
from grader.model.result import Advised, Evidence, Profile, Said, SaidLine, TestResult, is_not_begun
from grader.model.score import CriterionScore
from grader.model.units import budget_text, remark, value_text
from grader.model.verdicts import INCONCLUSIVE, NOT_BEGUN, tone
from grader.pages.code_view import CodeLine, CodeView
from grader.pages.student_view import is_hidden_test
from grader.student.text import todo_line

_MESSAGE_CHARS = 4000
_OUTPUT_CHARS = 2000
_MOST_FAILURES = 40  # kinds of failure on a card: each may have a long message
_MOST_HTML = 60_000  # approximate characters of HTML in all their messages
_PART_HTML = 40  # overhead of each part of a line
_MOST_NAMES = 8


@dataclass(frozen=True)
class Part:
    """A piece of a message; `line` is the source line that it names, or 0."""

    text: str
    line: int = 0


@dataclass(frozen=True)
class MessageLine:
    """A line of a judge's message; `kind` is head, hint or text."""

    kind: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True)
class Failure:
    """A failed test or a criterion below full marks, and how many others fail in the same way.

    `places` are the source lines that it names, in order, and `line` is the first, or 0; `pictures` show what happened
    there. `again` is the command that reproduces it, or `why_not` says why there is none. `also` names public tests,
    `hidden` counts hidden ones.
    """

    verdict: str
    lines: tuple[MessageLine, ...]
    output: str = ""
    again: str = ""
    why_not: str = ""
    places: tuple[int, ...] = ()
    pictures: tuple[Picture, ...] = ()
    also: tuple[str, ...] = ()
    more: int = 0
    hidden: int = 0

    @property
    def line(self) -> int:
        """The first source line to look at."""
        return self.places[0] if self.places else 0

    @property
    def others(self) -> str:
        """The other tests that fail in the same way; empty if there are none."""
        names = [*self.also]
        if self.more:
            names.append(f"{self.more} more")
        if self.hidden:
            names.append(counted(self.hidden, "hidden test"))
        return ", ".join(names)


@dataclass(frozen=True)
class CriterionView:
    """A criterion with its value and budget in words."""

    score: CriterionScore
    value: str
    budget: str
    remark: str


@dataclass(frozen=True)
class RungView:
    """A rung on a card: points, criteria, failures, advice on kernels. `state` is a colour's name."""

    label: str
    id: str
    title: str
    points: float
    possible: float
    is_bonus: bool
    not_begun: bool
    state: str
    criteria: tuple[CriterionView, ...]
    failures: tuple[Failure, ...]
    advice: tuple[Advised, ...] = ()

    @property
    def told(self) -> str:
        """The rung in a sentence, for people who can't see the colours."""
        states = {"good": "passed", "warn": "below full marks", "bad": "failed", "harness": "not decided"}
        return states.get(self.state, "not begun" if self.not_begun else "left out")


@dataclass(frozen=True)
class First:
    """What to fix first: the rung, the failure, and the lines around it."""

    rung: RungView | None
    failure: Failure
    code: tuple[CodeLine, ...]
    is_bonus: bool = False


def message_lines(
    message: str, file_name: str = "", last_line: int = 0, said: Sequence[SaidLine] = (), hint: str = ""
) -> tuple[MessageLine, ...]:
    """A message in lines, with headline and hint marked; source lines become links."""
    lines = shown_block(message, _MESSAGE_CHARS).strip("\n").split("\n")
    found = [
        MessageLine("text" if index else "head", _parts(line, file_name, last_line)) for index, line in enumerate(lines)
    ]
    found += [MessageLine("text", _said_parts(line, file_name, last_line)) for line in said]
    if hint:
        found.append(MessageLine("hint", (Part(f"  hint    {shown(hint, _MESSAGE_CHARS)}"),)))
    return tuple(found)


def _said_parts(line: SaidLine, file_name: str, last_line: int) -> tuple[Part, ...]:
    text, place = shown(f"  {line.rendered}", _MESSAGE_CHARS), f"{line.file}:{line.line}"
    if line.file != file_name or not 1 <= line.line <= last_line or place not in text:
        return (Part(text),)
    before, _, after = text.partition(place)
    return tuple(part for part in (Part(before), Part(place, line.line), Part(after)) if part.text)


def _parts(line: str, file_name: str, last_line: int) -> tuple[Part, ...]:
    """A line of a message in parts: text, and places in the submission, which become links."""
    if not file_name:
        return (Part(line),)
    parts: list[Part] = []
    at = 0
    for found in re.finditer(rf"(?<![\w./]){re.escape(file_name)}(?::(\d{{1,6}})|\((\d{{1,6}})\))", line):
        number = int(found[1] or found[2])
        if 1 <= number <= last_line:
            parts += [Part(line[at : found.start()]), Part(found[0], number)]
            at = found.end()
    return tuple(part for part in (*parts, Part(line[at:])) if part.text)


def rung_views(assignment: Assignment, record: Record, last_line: int = 0) -> list[RungView]:
    """The record rung by rung, in ladder order; lines up to `last_line` of the source can be linked to."""
    if record.score is None:
        return []
    tests = record.result.tests if record.result else ()
    measured: dict[str, Said] = {}
    runs = record.result.runs("submission") if record.result else {}
    if record.result:
        measured |= {entry.criterion: entry for entry in record.result.evidence if entry.message}
        # Inconclusive times are reported with the times.
        measured |= {one.criterion: one for one in record.result.timings if one.message and not one.is_inconclusive}
    labels = assignment.labels
    views = []
    for rung in assignment.rungs:
        criteria = tuple(criterion for criterion in record.score.criteria if criterion.rung == rung.id)
        failed = [test for test in tests if test.rung == rung.id and test.verdict != "PASS" and not test.is_evidence]
        not_begun = is_not_begun(rung.id, tests)
        # A rung that was not begun is mentioned once, with the points: its tests have nothing more to say.
        failures = _failures(assignment, [test for test in failed if not test.unfinished], last_line)
        if not failed:
            failures += [
                _unmet(assignment, criterion, measured[criterion.id], last_line, runs.get(rung.id))
                for criterion in criteria
                if not criterion.is_full and criterion.id in measured
            ]
        points, possible = sum(c.points for c in criteria), sum(c.possible for c in criteria)
        is_bonus = assignment.is_bonus_rung(rung.id)
        is_quiet = record.status == MISSING or not_begun or (is_bonus and not points and not failures)
        views.append(
            RungView(
                label=labels[rung.id],
                id=rung.id,
                title=rung.title,
                points=points,
                possible=possible,
                is_bonus=is_bonus,
                not_begun=not_begun,
                state="harness"
                if not failed and any(c.verdict == INCONCLUSIVE for c in criteria)
                else _state(failed, points, possible, is_quiet=is_quiet, has_run=bool(tests)),
                criteria=tuple(
                    CriterionView(c, value_text(assignment, c), budget_text(assignment, c), remark(c)) for c in criteria
                ),
                failures=tuple(failures),
                advice=runs[rung.id].advice if rung.id in runs and not failed else (),
            )
        )
    return _bounded(views)


def _state(failed: Sequence[TestResult], points: float, possible: float, *, is_quiet: bool, has_run: bool) -> str:
    if is_quiet:
        return "quiet"
    if failed:
        return tone(failed[0].verdict)
    if points >= possible:
        return "good"
    return "warn" if has_run else "bad"


def _bounded(views: list[RungView]) -> list[RungView]:
    """The failures that fit on a card of bounded size: first one of each rung, then the others."""
    room, count = _MOST_HTML, _MOST_FAILURES
    kept: dict[str, list[Failure]] = {view.id: [] for view in views}
    most = max((len(view.failures) for view in views), default=0)
    for index in range(most):
        for view in views:
            if index < len(view.failures) and count > 0 and room > 0:
                failure = view.failures[index]
                kept[view.id].append(failure)
                count -= 1
                room -= _html_length(failure)
    return [replace(view, failures=tuple(kept[view.id])) for view in views]


def _html_length(failure: Failure) -> int:
    parts = [part.text for line in failure.lines for part in line.parts]
    drawn = sum(len(path) for picture in failure.pictures for _, path in picture.paths)
    return drawn + sum(len(escape(text)) + _PART_HTML for text in (*parts, failure.output))


def _failures(assignment: Assignment, failed: Sequence[TestResult], last_line: int) -> list[Failure]:
    """One failure per cause: public tests first, and hidden ones with a public one that fails in the same way."""
    failures: list[Failure] = []
    faults: list[tuple[object, ...]] = []
    for test in sorted(failed, key=is_hidden_test):
        fault = _fault(test)
        same = faults.index(fault) if fault in faults else -1
        if is_hidden_test(test) and same < 0:
            same = next((at for at, known in enumerate(failures) if known.verdict == test.verdict), -1)
        if same < 0:
            faults.append(fault)
            failures.append(_failure(assignment, test, last_line))
        elif is_hidden_test(test):
            failures[same] = replace(failures[same], hidden=failures[same].hidden + 1)
        elif len(failures[same].also) < _MOST_NAMES:
            failures[same] = replace(failures[same], also=(*failures[same].also, test.short_name))
        else:
            failures[same] = replace(failures[same], more=failures[same].more + 1)
    return failures


def _fault(test: TestResult) -> tuple[object, ...]:
    """The key of tests that fail for the same reason: the verdict, and each checker's places."""
    found = tuple(dict.fromkeys((finding.kind, finding.places) for finding in test.findings))[:1]
    return (test.verdict, found) if found else (test.verdict, test.name)


def _failure(assignment: Assignment, test: TestResult, last_line: int) -> Failure:
    is_hidden = is_hidden_test(test)
    headline = test.message or f"{test.verdict}  {test.name}"
    launches = [SaidLine(" " if index else "launch", text) for index, text in enumerate(test.launches)]
    said = [*test.lines, *(launches if test.verdict == "WRONG" else [])]
    lines = message_lines(headline, assignment.submission, last_line, said, test.hint)
    is_public = not is_hidden and not test.name.partition(".")[0].startswith("Hidden")
    return Failure(
        verdict=test.verdict,
        lines=lines,
        output=shown_block(test.output, _OUTPUT_CHARS).strip("\n"),
        again=f"make test TEST={test.name}" if is_public else "",
        why_not=""
        if is_public
        else f"This test is not public. make test RUNG={_typed(assignment, test.rung)} runs the public ones.",
        places=_places(lines),
        pictures=tuple(filter(None, [of_test(test)])),
    )


def _unmet(
    assignment: Assignment, criterion: CriterionScore, said: Said, last_line: int, run: Profile | None
) -> Failure:
    lines = message_lines(said.message, assignment.submission, last_line, said.lines, said.hint)
    is_counted = isinstance(said, Evidence)  # a measured time needs the GPU
    again = f"make profile RUNG={_typed(assignment, criterion.rung)}" if is_counted else ""
    places = _places(lines)
    own = [
        line for line in (run.lines if run else ()) if line.line in places[:1] and line.file == assignment.submission
    ]
    pictures = tuple(picture for line in own for picture in of_line(line))
    return Failure(criterion.verdict, lines, again=again, places=places, pictures=pictures)


def _typed(assignment: Assignment, rung_id: str) -> str:
    """A student's word for a rung: its number, or its id if others share the number."""
    rung = assignment.rung(rung_id)
    return rung.label if rung and assignment.labels[rung_id] == rung.label else rung_id


def _places(lines: Sequence[MessageLine]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(part.line for line in lines for part in line.parts if part.line))


def first_thing(
    assignment: Assignment, record: Record, rungs: Sequence[RungView], message: Sequence[MessageLine], code: CodeView
) -> First | None:
    """What to fix first: a compiler error, else the verdict's rung, else a bonus; None if nothing is left."""
    if record.verdict == "COMPILE" and message:
        failure = Failure(record.verdict, tuple(message), again="make test", places=_places(message))
        return First(None, failure, code.around(failure.line))
    if record.score is None or record.result is None:
        return None
    own = next((rung for rung in rungs if rung.id == record.score.rung), None)
    if own is not None and own.not_begun:
        at = next((todo_line(record.source, rung) for rung in assignment.rungs if rung.id == own.id), 0)
        return First(own, Failure(NOT_BEGUN, (), places=(at,) if at else ()), code.around(at))
    for rung in ([own] if own else []) + [rung for rung in rungs if rung.is_bonus]:
        if rung.failures and not rung.not_begun:
            failure = rung.failures[0]
            return First(rung, failure, code.around(failure.line), rung.is_bonus)
    return None


def missed_rungs(record: Record) -> set[str]:
    """Rungs with a missed budget: only in their kernels are wasteful lines highlighted."""
    criteria = record.score.criteria if record.score else ()
    return {criterion.rung for criterion in criteria if criterion.metric and not criterion.is_full}


def device_text(record: Record) -> str:
    """The device the submission ran on: "virtual GPU, H200 model"; empty if it did not run."""
    if record.result is None:
        return ""
    device = record.result.device
    if device.kind != "vgpu":
        return shown(device.name)
    model = shown(device.name).removeprefix("NVIDIA ") or shown(device.profile)
    return f"virtual GPU, {model} model" if model else "virtual GPU"
