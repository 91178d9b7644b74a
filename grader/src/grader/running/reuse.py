"""Derives a submission's result from a run of the same code: scored anew, with the submission's own lines."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from grader.base.files import sha256_bytes
from grader.model.discovery import Submission
from grader.model.line_costs import base_name
from grader.model.record import Record
from grader.model.result import Finding, Line, Said, SuiteResult, TestResult
from grader.model.same_source import line_map
from grader.model.score import score_nothing, score_result
from grader.running.bench import Bench
from grader.running.keys import code_of, run_key_of
from grader.running.store import Journal

_MOST_LOOKED_AT = 4
AnySaid = TypeVar("AnySaid", bound=Said)


class _UnknownLineError(Exception):
    """Raised for a line that has no counterpart in the other file."""


def reused(
    bench: Bench, submission: Submission, journal: Journal, key: str, command: str, regrade: int = 0
) -> Record | None:
    """The submission's result, from journal results of the same code; None if it has to be run.

    `regrade` counts the requested reruns: the submission's own result of that rerun takes precedence over others'.
    """
    source, run = submission.source, run_key_of(bench, submission)
    if source is None:
        return None
    for other in journal.find_runs(bench.assignment.id, run, _MOST_LOOKED_AT, submission.folder, regrade):
        moved = _moved(bench, other, source)
        if moved is not None:
            is_own = other.folder == submission.folder
            return replace(
                scored(bench, moved),
                folder=submission.folder,
                student=submission.student,
                handed=submission.handed,
                key=key,
                regrade=regrade,
                reason=other.reason if is_own else "",
                staff=other.staff if is_own else "",
                scored_at=datetime.now(UTC).isoformat(timespec="seconds"),
                source=source.decode("utf-8", "replace"),
                provenance=replace(
                    other.provenance,
                    submission=sha256_bytes(source),
                    scoring=bench.hashes["scoring"],
                    command=command,
                ),
            )
    return None


def scored(bench: Bench, record: Record) -> Record:
    """The record with its run's score under the current assignment.toml."""
    if record.score is None or record.provenance.scoring == bench.hashes["scoring"]:
        return record
    if record.result is not None:
        return replace(record, score=score_result(bench.assignment, record.result))
    detail = next((criterion.detail for criterion in record.score.criteria), "")
    nothing = score_nothing(bench.assignment, record.score.verdict, detail, on_gpu=bench.settings.on_gpu)
    return replace(record, score=nothing)


def _moved(bench: Bench, record: Record, source: bytes) -> Record | None:
    """The record with line numbers translated from another file with the same code."""
    if record.provenance.submission == sha256_bytes(source):
        return record
    if record.result is None:
        return None  # the compiler's message quotes the file
    one, other = code_of(bench, record.source.encode()), code_of(bench, source)
    lines = line_map(one, other) if one and other and one.text == other.text else None
    if lines is None:
        return None
    try:
        return replace(record, result=_Lines(bench.assignment.submission, lines).result(record.result))
    except _UnknownLineError:
        return None


class _Lines:
    """Replaces the lines of one file by those of another wherever a result names them."""

    def __init__(self, file: str, lines: Mapping[int, int]) -> None:
        self._file = file
        self._lines = lines
        self._named = re.compile(rf"(?<![\w.-])({re.escape(file)})([:(])(\d{{1,9}})")

    def result(self, result: SuiteResult) -> SuiteResult:
        return replace(
            result,
            tests=tuple(map(self._test, result.tests)),
            evidence=tuple(self._said(one) for one in result.evidence),
            timings=tuple(self._said(one) for one in result.timings),
            profiles=tuple(replace(one, lines=self._profile(one.lines)) for one in result.profiles),
        )

    def _line(self, file: str, line: int) -> int:
        if base_name(file) != self._file or line <= 0:
            return line
        if line not in self._lines:
            raise _UnknownLineError
        return self._lines[line]

    def _text(self, text: str) -> str:
        return self._named.sub(lambda match: f"{match[1]}{match[2]}{self._line(match[1], int(match[3]))}", text)

    def _test(self, test: TestResult) -> TestResult:
        # A program that prints its lines never shares a run with other lines, so output stays. Python prints the lines
        # of an exception by itself.
        if self._file.endswith(".py") and test.output:
            raise _UnknownLineError
        launches = tuple(map(self._text, test.launches))
        return replace(self._said(test), findings=tuple(map(self._finding, test.findings)), launches=launches)

    def _said(self, said: AnySaid) -> AnySaid:
        lines = tuple(replace(line, line=self._line(line.file, line.line)) for line in said.lines)
        return replace(said, lines=lines).with_texts(self._text)

    def _finding(self, finding: Finding) -> Finding:
        places = tuple(replace(place, line=self._line(place.file, place.line)) for place in finding.places)
        return replace(finding, places=places, text=self._text(finding.text), kernel=self._text(finding.kernel))

    def _profile(self, lines: tuple[Line, ...]) -> tuple[Line, ...]:
        """The counters by line; those of lines that coincide now are added up."""
        made: dict[tuple[str, int], Line] = {}
        for one in lines:
            place = (one.file, self._line(one.file, one.line))
            sums = made.setdefault(place, Line(*place, {}, one.accesses)).counters
            for name, value in one.counters.items():
                sums[name] = sums.get(name, 0) + value
        return tuple(made.values())
