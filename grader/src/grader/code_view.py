"""The student's source with what the counters and the checkers say about each line beside it."""

import re
from dataclasses import dataclass

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CudaLexer

from grader.line_costs import LineCost, base_name, counters_by_line, line_cost
from grader.names import shown, shown_block
from grader.result import SuiteResult

_MOST_CHARS = 200_000
_MOST_LINES = 4000


@dataclass(frozen=True)
class CodeLine:
    """One source line. `faults` are checkers' findings."""

    number: int
    code: Markup
    cost: LineCost
    faults: tuple[str, ...]


def annotate(source: str, file_name: str, result: SuiteResult | None, compiler: str = "") -> list[CodeLine]:
    """The lines of `source` (at most some thousands), highlighted and annotated.

    Counters come from the evidence runs, faults from the checkers' findings and the compiler's message.
    """
    counters = counters_by_line(file_name, result.runs("submission").values() if result else ())
    faults = _faults(file_name, result) | _errors(file_name, compiler)
    return [
        CodeLine(number, code, line_cost(counters.get(number, {})), tuple(faults.get(number, [])))
        for number, code in enumerate(_highlighted(source), 1)
    ]


def _highlighted(source: str) -> list[Markup]:
    text = shown_block(source, _MOST_CHARS)
    if len(source) <= _MOST_CHARS:
        lexer = CudaLexer(stripnl=False, ensurenl=False)
        lines = [Markup(line) for line in highlight(text, lexer, HtmlFormatter(nowrap=True)).split("\n")]  # noqa: S704
    else:
        lines = [escape(line) for line in text.split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines[:_MOST_LINES]


def _faults(file_name: str, result: SuiteResult | None) -> dict[int, list[str]]:
    faults: dict[int, list[str]] = {}
    for test in result.tests if result else ():
        for finding in test.findings:
            if base_name(finding.file) != file_name:
                continue
            where = f" in {finding.kernel}" if finding.kernel else ""
            text = f"{finding.kind}{where}"
            own = faults.setdefault(finding.line, [])
            if text not in own:
                own.append(text)
    return faults


def _errors(file_name: str, compiler: str) -> dict[int, list[str]]:
    """What nvcc ("x.cu(3): error: …") and g++ ("x.cu:3:5: error: …") say about lines of the file."""
    errors: dict[int, list[str]] = {}
    pattern = rf"^{re.escape(file_name)}(?:\((\d+)\)|:(\d+):\d+): ((?:fatal )?error\b.*)$"
    for match in re.finditer(pattern, compiler, re.MULTILINE):
        line = int((match[1] or match[2])[:9])
        errors.setdefault(line, []).append(shown(match[3], 300))
    return errors
