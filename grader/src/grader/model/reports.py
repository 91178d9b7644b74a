"""A suite's results in other tools' formats: SARIF 2.1.0, JUnit XML, GitHub's annotations.

SARIF is for editors and code scanning, JUnit for tools that list tests, annotations for a workflow's log and VS Code's
problem matcher: docs/reference/findings.md. Only the standard library is used here: students run it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from grader import __version__
from grader.model.result import Evidence, SaidLine, SuiteResult, TestResult, Timing
from grader.model.verdicts import HARNESS, PASS, SLOW

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Place = tuple[str, int, str]  # a file's name, a line, and what is there
Outcome = tuple[str, str, TestResult | Evidence | Timing]  # the name of a test or criterion, its rung, its result


@dataclass(frozen=True)
class Problem:
    """One problem: its test or criterion, its severity, its text, and its locations, the primary one first."""

    name: str
    verdict: str
    level: str
    headline: str
    text: str
    places: tuple[Place, ...]


def outcomes(result: SuiteResult) -> list[Outcome]:
    """Tests and criteria with their short names and their rungs, in the order of the suite."""
    tests: list[Outcome] = [(test.short_name, test.rung, test) for test in result.tests]
    measured: list[Evidence | Timing] = [*result.evidence, *result.timings]
    return [*tests, *((one.criterion, one.rung, one) for one in measured)]


def not_compiled(file: str, said: str, *, is_refused: bool = False) -> list[Outcome]:
    """The report if there is no program; `said` is nvcc's output, or why the file is not accepted."""
    verdict, what = ("REJECTED", "is not accepted") if is_refused else ("COMPILE", "does not compile")
    found = [
        (match[2], int(match[1]))
        for match in re.finditer(rf"^{re.escape(file)}\((\d+)\): (.*error.*)$", said, re.M)  # parses nvcc's output
    ]
    lines = tuple(SaidLine("", text, file, line) for text, line in found)
    test = TestResult(
        message=f"{verdict}  {file} {what}", lines=lines,
        name="compiles", rung="", verdict=verdict, seconds=0, output=said, reproduce="", findings=(),
    )  # fmt: skip
    return [("compiles", "", test)]


def problems(found: Sequence[Outcome]) -> list[Problem]:
    """All problems, in the order of the suite."""
    return [one for name, rung, outcome in found for one in _of(name, rung, outcome)]


def sarif(outcomes: Sequence[Outcome], source: Path) -> str:
    """All problems as one run of SARIF 2.1.0. `source` is the submission, to which paths are relative."""
    found = problems(outcomes)
    kinds = list(dict.fromkeys(one.verdict for one in found))
    rules = [{"id": kind, "defaultConfiguration": {"level": "warning" if kind == SLOW else "error"}} for kind in kinds]
    results = [
        {
            "ruleId": one.verdict,
            "ruleIndex": kinds.index(one.verdict),
            "level": one.level,
            "message": {"text": one.text},
            "locations": [_location(source, place) for place in one.places[:1] or [("", 1, "")]],
            "relatedLocations": [_location(source, place) for place in one.places[1:]],
            "partialFingerprints": {"lockstepTest/v1": one.name},
        }
        for one in found
    ]
    tool = {"driver": {"name": "Lockstep", "version": __version__, "rules": rules}}
    run = {"tool": tool, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False) + "\n"


def junit(assignment: str, found: Sequence[Outcome]) -> str:
    """Each test and criterion as a case of JUnit XML, a rung as its class; rungs not begun are skipped."""
    suite = ElementTree.Element("testsuite", name=assignment)
    counts = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    seconds = 0.0
    for name, rung, outcome in found:
        spent = outcome.seconds if isinstance(outcome, TestResult) else 0.0
        case = ElementTree.SubElement(suite, "testcase", classname=rung or assignment, name=name, time=f"{spent:.3f}")
        counts["tests"] += 1
        seconds += spent
        if outcome.verdict == PASS:
            continue
        is_open = isinstance(outcome, TestResult) and outcome.unfinished
        kind = "skipped" if is_open else "error" if outcome.verdict == HARNESS else "failure"
        counts["errors" if kind == "error" else "skipped" if is_open else "failures"] += 1
        told = ElementTree.SubElement(case, kind, message=_clean(outcome.message))
        if not is_open:
            told.set("type", outcome.verdict)
            told.text = _clean(outcome.said)
        if isinstance(outcome, TestResult) and outcome.output:
            ElementTree.SubElement(case, "system-out").text = _clean(outcome.output)
    for key, count in counts.items():
        suite.set(key, str(count))
    suite.set("time", f"{seconds:.3f}")
    whole = ElementTree.Element("testsuites")
    whole.append(suite)
    ElementTree.indent(whole)
    return ElementTree.tostring(whole, encoding="unicode", xml_declaration=True) + "\n"


def annotations(found: Sequence[Outcome], source: Path) -> str:
    """A line for each problem in GitHub's log format: `::error file=…,line=…,title=…::what, and why`."""
    lines = []
    for one in problems(found):
        file, line, _ = one.places[0] if one.places else ("", 1, "")
        where = f"file={_escaped(str(_path(source, file)), ',:')},line={line}"
        title = _escaped(f"{one.verdict} {one.name}", ",:")
        lines.append(f"::{one.level.replace('note', 'notice')} {where},title={title}::{_escaped(one.text)}\n")
    return "".join(lines)


def _of(name: str, rung: str, outcome: TestResult | Evidence | Timing) -> Iterator[Problem]:
    findings = outcome.findings if isinstance(outcome, TestResult) else ()
    whole = f"{name} of {rung}" if rung else name
    if outcome.verdict != PASS:
        is_open = isinstance(outcome, TestResult) and outcome.unfinished
        level = "note" if is_open else "warning" if outcome.verdict == SLOW else "error"
        said = tuple((line.file, line.line, line.rendered) for line in outcome.lines if line.file)
        places = said or tuple((one.file, one.line, "") for one in (findings[0].places if findings else ()) if one.line)
        yield Problem(whole, outcome.verdict, level, outcome.message, _clean(outcome.said), places)
        return
    for finding in findings:  # findings of a test whose results are right
        headline = f"{finding.verdict}  {finding.launch}".rstrip()
        places = tuple((place.file, place.line, "") for place in finding.places if place.line)
        yield Problem(whole, finding.verdict, "error", headline, finding.text, places)


def _location(source: Path, place: Place) -> dict[str, Any]:
    file, line, text = place
    uri = quote(_path(source, file).as_posix())
    artifact = {"uri": uri if not uri.startswith("/") else f"file://{uri}"}
    physical = {"artifactLocation": artifact, "region": {"startLine": max(1, line)}}
    return {"physicalLocation": physical, **({"message": {"text": text}} if text else {})}


def _path(source: Path, file: str) -> Path:
    """A file named in a message, next to the submission."""
    return source.with_name(Path(file).name) if file else source


def _clean(text: str) -> str:
    return _NOT_XML.sub("?", text)


def _escaped(text: str, more: str = "") -> str:
    """Escaped for GitHub's workflow commands."""
    for char in f"%\r\n{more}":
        text = text.replace(char, f"%{ord(char):02X}")
    return text
