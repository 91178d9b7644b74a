"""The student's source, with counters and findings beside each line.

Whatever the source is, this takes bounded time and makes a page of bounded size; the page says what it leaves out.
"""

import re
from dataclasses import dataclass
from itertools import islice

from markupsafe import Markup

from grader.base.names import shown, shown_block
from grader.model.line_costs import LineCost, base_name, counters_by_line, line_cost
from grader.model.result import SuiteResult
from grader.pages.highlight import highlight

_MOST_CHARS = 200_000
_MOST_LINES = 4000
_MOST_FAULTS = 8  # of one line
_MOST_ERRORS = 1000
_SECONDS = 2.0


@dataclass(frozen=True)
class CodeLine:
    """One source line. `faults` are checkers' findings."""

    number: int
    code: Markup
    cost: LineCost
    faults: tuple[str, ...]


@dataclass(frozen=True)
class CodeView:
    """A source's lines, and a sentence for each thing that is not shown."""

    lines: tuple[CodeLine, ...]
    notes: tuple[str, ...]


def annotate(source: str, file_name: str, result: SuiteResult | None, compiler: str = "") -> CodeView:
    """The lines of `source` (at most some thousands), highlighted and annotated.

    Counters come from the evidence runs, faults from the checkers' findings and the compiler's message.
    """
    counters = counters_by_line(file_name, result.runs("submission").values() if result else ())
    faults = _faults(file_name, result) | _errors(file_name, compiler)
    source = source.rstrip()
    text = shown_block(source[:_MOST_CHARS], _MOST_CHARS)
    count = text.count("\n") + 1
    text = "\n".join(text.split("\n", _MOST_LINES)[:_MOST_LINES])
    highlighted = highlight(text, _SECONDS)
    notes = []
    if len(source) > _MOST_CHARS:
        notes.append(f"Only the first {_MOST_CHARS:,} of {len(source):,} characters are shown.")
    if count > _MOST_LINES:
        notes.append(f"Only the first {_MOST_LINES:,} lines are shown.")
    if not highlighted.is_whole:
        notes.append(f"Highlighting took more than {_SECONDS:g} seconds: the rest is shown plain.")
    return CodeView(
        tuple(
            CodeLine(number, code, line_cost(counters.get(number, {})), _few(faults.get(number, {})))
            for number, code in enumerate(highlighted.lines, 1)
        ),
        tuple(notes),
    )


def _few(faults: dict[str, None]) -> tuple[str, ...]:
    few = tuple(faults)[:_MOST_FAULTS]
    return (*few, f"and {len(faults) - len(few):,} more") if len(faults) > len(few) else few


def _faults(file_name: str, result: SuiteResult | None) -> dict[int, dict[str, None]]:
    """The texts of each line, each once and in order."""
    faults: dict[int, dict[str, None]] = {}
    for test in result.tests if result else ():
        for finding in test.findings:
            where = f" in {shown(finding.kernel)}" if finding.kernel else ""
            for place in finding.places:
                if base_name(place.file) == file_name:
                    faults.setdefault(place.line, {})[f"{shown(finding.kind)}{where}"] = None
    return faults


def _errors(file_name: str, compiler: str) -> dict[int, dict[str, None]]:
    """What nvcc ("x.cu(3): error: …") and g++ ("x.cu:3:5: error: …") say about lines of the file."""
    errors: dict[int, dict[str, None]] = {}
    pattern = rf"^{re.escape(file_name)}(?:\((\d+)\)|:(\d+):\d+): ((?:fatal )?error\b.*)$"
    for match in islice(re.finditer(pattern, compiler, re.MULTILINE), _MOST_ERRORS):
        line = int((match[1] or match[2])[:9])
        errors.setdefault(line, {})[shown(match[3], 300)] = None
    return errors
