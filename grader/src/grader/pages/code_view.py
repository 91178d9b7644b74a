"""The student's source, with counters and findings beside each line.

Whatever the source is, this takes bounded time and makes a page of bounded size; the page says what it leaves out.
"""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from markupsafe import Markup

from grader.base.names import shown, shown_block
from grader.model.line_costs import LineCost, base_name, counters_by_line, line_cost, wasted_share
from grader.model.picture import Picture, of_line
from grader.model.result import Profile, SuiteResult
from grader.pages.highlight import highlight

_MOST_CHARS = 200_000
_MOST_LINES = 4000
_MOST_HTML = 120_000  # characters of highlighted source: a card has to be small enough to send
_ROW_HTML = 150  # overhead of each line
_MOST_FAULTS = 8  # of one line
_MOST_DRAWN = 12  # lines with pictures: those that waste most
_MOST_ALL_FAULTS = 500
_MOST_ERRORS = 1000
_SECONDS = 2.0
_WARM, _HOT = 0.02, 0.10  # share of a rung's cost at which a line is highlighted, and highlighted strongly
_BESIDE = 2  # lines of context before and after


@dataclass(frozen=True)
class Fault:
    """A checker's finding at a line; `other` is the line of a race's other access, 0 if it is the same or none."""

    text: str
    other: int = 0


@dataclass(frozen=True)
class CodeLine:
    """One source line. `share` is its share of its rung's instructions, "" if it has none; `heat` is 0, 1 or 2.

    `pictures` show its worst accesses.
    """

    number: int
    code: Markup
    cost: LineCost
    faults: tuple[Fault, ...]
    share: str = ""
    heat: int = 0
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class CodeView:
    """A source's lines, and a sentence for each omission."""

    lines: tuple[CodeLine, ...]
    notes: tuple[str, ...]

    def around(self, number: int) -> tuple[CodeLine, ...]:
        """The lines around a line, including it; empty if that line is not shown."""
        if not 1 <= number <= len(self.lines):
            return ()
        return self.lines[max(0, number - 1 - _BESIDE) : number + _BESIDE]


def annotate(
    source: str,
    file_name: str,
    result: SuiteResult | None,
    compiler: str = "",
    wanting: Container[str] | None = None,
) -> CodeView:
    """The lines of `source` (at most some thousands), highlighted and annotated.

    Counters come from the evidence runs, faults from the checkers' findings and the compiler's message. Lines are
    highlighted by their waste on rungs in `wanting`, whose budgets are missed; None: on all rungs.
    """
    runs = list(result.runs("submission").values()) if result else []
    counters = counters_by_line(file_name, runs)
    missed = [run for run in runs if wanting is None or run.rung in wanting]
    shares, wastes = _shares(file_name, runs), _wastes(file_name, missed)
    source = source.rstrip()
    text = shown_block(source[:_MOST_CHARS], _MOST_CHARS)
    count = text.count("\n") + 1
    text = "\n".join(text.split("\n", _MOST_LINES)[:_MOST_LINES])
    highlighted = highlight(text, _SECONDS, is_python=file_name.endswith(".py"))
    kept = _fitting(highlighted.lines)
    faults = _faults(file_name, result, len(kept)) | _errors(file_name, compiler)
    drawn = _drawn(file_name, missed, wastes)
    notes = []
    if len(source) > _MOST_CHARS:
        notes.append(f"Only the first {_MOST_CHARS:,} of {len(source):,} characters are shown.")
    if min(count, len(kept)) < count:
        notes.append(f"Only the first {len(kept):,} lines are shown.")
    if not highlighted.is_whole:
        notes.append(f"Highlighting took more than {_SECONDS:g} seconds: the rest is shown plain.")
    return CodeView(
        tuple(
            CodeLine(
                number,
                code,
                line_cost(counters.get(number, {})),
                _few(faults.get(number, {})),
                _percent(shares.get(number, 0.0)),
                (wastes.get(number, 0.0) >= _WARM) + (wastes.get(number, 0.0) >= _HOT),
                drawn.get(number, ()),
            )
            for number, code in enumerate(kept, 1)
        ),
        tuple(notes),
    )


def _fitting(lines: list[Markup]) -> list[Markup]:
    """The lines that fit on a page of bounded size; a line that is too long is left out too."""
    room = _MOST_HTML
    for index, line in enumerate(lines):
        room -= len(line) + _ROW_HTML
        if room < 0:
            return lines[:index]
    return lines


def _percent(share: float) -> str:
    """A percentage in the format of `make profile`."""
    return f"{100 * share:.1f} %" if share else ""


def _by_line(file_name: str, run: Profile) -> Mapping[int, Mapping[str, float]]:
    return counters_by_line(file_name, [run])


def _shares(file_name: str, runs: Iterable[Profile]) -> dict[int, float]:
    """Maps each line to its largest share of a run's warp instructions."""
    shares: dict[int, float] = {}
    for run in runs:
        total = run.counters.get("warp_instructions", 0.0)
        for number, counts in _by_line(file_name, run).items() if total else ():
            share = counts.get("warp_instructions", 0.0) / total
            shares[number] = max(share, shares.get(number, 0.0))
    return shares


def _wastes(file_name: str, runs: Iterable[Profile]) -> dict[int, float]:
    """Maps each line to its largest share of a run's cost that is wasted."""
    wastes: dict[int, float] = {}
    for run in runs:
        for number, counts in _by_line(file_name, run).items():
            wastes[number] = max(wasted_share(line_cost(counts), run.counters), wastes.get(number, 0.0))
    return wastes


def _drawn(file_name: str, runs: Iterable[Profile], wastes: Mapping[int, float]) -> dict[int, tuple[Picture, ...]]:
    """The worst accesses of the lines that waste most."""
    hot = sorted((number for number, waste in wastes.items() if waste >= _WARM), key=lambda number: -wastes[number])
    return {
        line.line: of_line(line)
        for run in runs
        for line in run.lines
        if line.line in hot[:_MOST_DRAWN] and base_name(line.file) == file_name and line.accesses
    }


def _few(faults: dict[Fault, None]) -> tuple[Fault, ...]:
    few = tuple(faults)[:_MOST_FAULTS]
    return (*few, Fault(f"and {len(faults) - len(few):,} more")) if len(faults) > len(few) else few


def _faults(file_name: str, result: SuiteResult | None, last: int) -> dict[int, dict[Fault, None]]:
    """The faults of each line up to the last one shown, without repeats and in order."""
    faults: dict[int, dict[Fault, None]] = {}
    count = 0
    for test in result.tests if result else ():
        for finding in test.findings:
            where = f" in {shown(finding.kernel)}" if finding.kernel else ""
            own = [place.line for place in finding.places if base_name(place.file) == file_name and place.line <= last]
            for line in own:
                other = next((there for there in own if there != line), 0)
                fault = Fault(f"{shown(finding.kind) or f'{test.verdict} here'}{where}", other)
                if fault not in faults.get(line, {}) and count < _MOST_ALL_FAULTS:
                    faults.setdefault(line, {})[fault] = None
                    count += 1
    return faults


def _errors(file_name: str, compiler: str) -> dict[int, dict[Fault, None]]:
    """The messages of nvcc or Numba ("x.cu(3): error: …") and g++ ("x.cu:3:5: error: …") about lines of the file."""
    errors: dict[int, dict[Fault, None]] = {}
    pattern = rf"^{re.escape(file_name)}(?:\((\d+)\)|:(\d+):\d+): ((?:fatal )?error\b.*)$"
    for match in islice(re.finditer(pattern, compiler, re.MULTILINE), _MOST_ERRORS):
        line = int((match[1] or match[2])[:9])
        errors.setdefault(line, {})[Fault(shown(match[3], 300))] = None
    return errors
