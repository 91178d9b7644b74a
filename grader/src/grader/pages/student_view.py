"""A record as its student may see it: nothing in it reveals the arguments of hidden tests.

A hidden test keeps its verdict. A fault keeps its kind, the student's own kernel and the student's own lines. Name,
message, output, timing, and addresses and values from checkers are replaced. Results are built anew rather than copied:
a field added to a test later stays empty here until somebody decides about it.

A submission could remember a hidden test's input and leak it in a later public test: by its output, a wrong result, or
an address. So a public test that runs after a hidden one loses its output, and if it failed, its message and findings
are reduced like a hidden test's; the student sees the rest by running it. Suites run their public tests first.
docs/concepts/threat-model.md lists the remaining leaks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from grader.model.assignment import Assignment
from grader.model.handed import Handed
from grader.model.line_costs import base_name
from grader.model.record import NOT_GRADED, Record
from grader.model.result import Evidence, Finding, Place, SaidLine, SuiteResult, TestResult
from grader.model.score import CriterionScore, Score, tests_of
from grader.model.verdicts import PASS, SLOW
from grader.model.visibility import find_visibility, is_open

HIDDEN_TEST = "hidden test"  # the name shown for each
_HINTS = {
    "WRONG": "try inputs that the public tests leave out: the smallest ones, those just below and above a limit, large "
    "ones, and two calls in a row",
    "RACE": "find each value that one thread writes and another reads, and put a barrier between the two",
    "BOUNDS": "check every index against the length before the access, at lengths that do not fill the last block",
    "UNINIT": "write every element before you read it, also where there is no input for it",
    "BARRIER": "all threads of a block, or all lanes in the mask, have to reach the same barrier",
    "TIMEOUT": "look for a loop that does not end, or runs far too often, for some lengths",
    "CRASH": "check sizes and pointers in the host code, at the smallest and the largest lengths",
    "API": "look at what every CUDA call returns, and free what you allocated on every path out of the function",
    "REJECTED": "the task says what has to be computed on the device; do that at every length",
}
_NAME = re.compile(r"[A-Za-z_]\w*")
_VALUES_LEFT_OUT = SaidLine("note", "it ran after hidden tests, so values are not shown; make test shows them")
_HIDDEN_DETAIL = "what was measured is not shown"
_COMPILER_LINE = re.compile(r"(?:\((\d+)\)|:(\d+):\d+): (?:fatal )?(?:error|warning)\b")


@dataclass(frozen=True)
class Opening:
    """When AFTER_DEADLINE opens: after the last deadline of all students; None: there is none."""

    now: datetime
    deadline: datetime | None = None

    def shows(self, visibility: str) -> bool:
        """Whether students may now see items of this visibility."""
        return is_open(visibility, deadline=self.deadline, now=self.now)


def closed() -> Opening:
    """The opening without a course: nothing hidden is ever shown."""
    return Opening(datetime.now(UTC))


def for_student(assignment: Assignment, record: Record, opening: Opening) -> Record:
    """The record without anything that the student may not see."""
    record = record.without_seed()
    return replace(
        record,
        message=_message(assignment, record),
        score=record.score and _score(assignment, record.score, opening),
        result=record.result and _result(assignment, record, record.result, opening),
        provenance=replace(record.provenance, command="", suite="", reference=""),
        handed=Handed(
            at=record.handed.at,
            late=record.handed.late,
            number=record.handed.number,
            group=record.handed.group,
            unused=record.handed.unused,
        ),
        reason="",
    )


def is_hidden_test(test: TestResult) -> bool:
    """Whether `for_student` reduced this from a hidden test."""
    return test.name.startswith(f"{HIDDEN_TEST}: ")


def _message(assignment: Assignment, record: Record) -> str:
    """The message that stopped the run. A harness failure may quote a test; the compiler, any readable file."""
    if record.status == NOT_GRADED:
        return ""
    if record.verdict != "COMPILE" or record.provenance.sandboxed:
        return record.message  # in the sandbox the compiler can read nothing hidden
    lines = record.message.split("\n")  # parses nvcc's output
    lines = [line for line in lines if _is_about(line, assignment.submission)]
    return "\n".join(lines) or "The compiler's message is about files other than yours."


def _is_about(line: str, file_name: str) -> bool:
    """Whether this is a compiler message about a line of the file, not a quotation of another file."""
    return line.startswith(file_name) and _COMPILER_LINE.match(line, len(file_name)) is not None


def _score(assignment: Assignment, score: Score, opening: Opening) -> Score:
    return replace(score, criteria=tuple(_criterion(assignment, criterion, opening) for criterion in score.criteria))


def _is_open(assignment: Assignment, criterion_id: str, opening: Opening) -> bool:
    try:
        return opening.shows(assignment.visibility_of_criterion(criterion_id))
    except KeyError:  # a criterion that the assignment had at grading time
        return False


def _criterion(assignment: Assignment, criterion: CriterionScore, opening: Opening) -> CriterionScore:
    if _is_open(assignment, criterion.id, opening):
        return criterion
    return replace(criterion, detail=_HIDDEN_DETAIL, metric="", value=None, unmet="")


def _result(assignment: Assignment, record: Record, result: SuiteResult, opening: Opening) -> SuiteResult:
    lines = record.source.count("\n") + 1
    words = set(_NAME.findall(record.source))
    tests: list[TestResult] = []
    was_hidden = False
    for test in result.tests:
        if opening.shows(assignment.visibility_of(test.name)):
            tests.append(_after_hidden(assignment.submission, test, lines, words) if was_hidden else test)
        else:
            was_hidden = True
            tests.append(_hidden(assignment, test, lines, words))
    return replace(
        result,
        tests=tuple(tests),
        evidence=tuple(_evidence(assignment, entry, opening) for entry in result.evidence),
        timings=tuple(entry for entry in result.timings if _is_open(assignment, entry.criterion, opening)),
    )


def _evidence(assignment: Assignment, entry: Evidence, opening: Opening) -> Evidence:
    if _is_open(assignment, entry.criterion, opening):
        return entry
    return Evidence(
        message="", hint=entry.hint, criterion=entry.criterion, rung=entry.rung, metric="", value=None,
        verdict=entry.verdict,
    )  # fmt: skip


def _hidden(assignment: Assignment, test: TestResult, lines: int, words: set[str]) -> TestResult:
    said = find_visibility(assignment.visibility, test.name)
    counted = next((c for c in assignment.criteria if c.tests and tests_of(c, (test,))), None)
    title = said.title or (counted.title if counted else "") or "a result on other inputs"
    passed = test.verdict == PASS
    findings = () if passed else _findings(assignment.submission, test, lines, words)
    return TestResult(
        name=f"{HIDDEN_TEST}: {title}",
        rung=test.rung,
        verdict=test.verdict,
        seconds=0.0,
        message="" if passed else f"{test.verdict}  {HIDDEN_TEST}: {title}",
        lines=_told(findings),
        hint="" if passed else said.hint or (counted.hint if counted else "") or _HINTS.get(test.verdict, ""),
        output="",
        reproduce="",
        findings=findings,
        unfinished=test.unfinished,
    )


def _after_hidden(file_name: str, test: TestResult, lines: int, words: set[str]) -> TestResult:
    """A public test without any value that the submission chose after seeing hidden inputs.

    The numbers in a budget's message are the judge's own counts, so they stay.
    """
    if test.verdict in (PASS, SLOW):
        return replace(test, output="", launches=(), kernels=())
    findings = _findings(file_name, test, lines, words)
    return replace(
        test, output="", message=f"{test.verdict}  {test.name}", lines=(*_told(findings), _VALUES_LEFT_OUT),
        findings=findings, launches=(), kernels=(),
    )  # fmt: skip


def _findings(file_name: str, test: TestResult, lines: int, words: set[str]) -> tuple[Finding, ...]:
    """The kinds, kernels and lines of faults, if they are the student's own."""
    found = [
        Finding(
            kind=finding.kind,
            kernel=_own_name(finding.kernel, words),
            places=_own(file_name, finding.places, lines),
            text="",
            count=1,
        )
        for finding in test.findings
    ]
    if not found:  # host code
        said = [Place(line.file, line.line) for line in test.lines if line.label == "at"]
        found = [Finding(kind="", kernel="", places=_own(file_name, said[:1], lines), text="", count=1)]
    return tuple(dict.fromkeys(finding for finding in found if finding.places))


def _own(file_name: str, places: Sequence[Place], lines: int) -> tuple[Place, ...]:
    return tuple(
        Place(file_name, place.line)
        for place in places
        if base_name(place.file) == file_name and 1 <= place.line <= lines
    )


def _own_name(kernel: str, words: set[str]) -> str:
    """A kernel's name without template arguments, if it occurs in the source."""
    names = _NAME.findall(kernel.partition("<")[0])
    return names[-1] if names and names[-1] in words else ""


def _told(findings: Sequence[Finding]) -> tuple[SaidLine, ...]:
    """The faults as lines of a message."""
    told = []
    for finding in findings:
        places = " and ".join(dict.fromkeys(f"{place.file}:{place.line}" for place in finding.places))
        what = " in ".join(word for word in (finding.kind, finding.kernel) if word)
        told.append(
            SaidLine("at", places + (f"  {what}" if what else ""), finding.places[0].file, finding.places[0].line)
        )
    return tuple(told)
