"""The student's source with what the counters and the checkers say about each line beside it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CudaLexer

from grader.names import shown, shown_block
from grader.result import SuiteResult

_MOST_CHARS = 200_000
_MOST_LINES = 4000
_SLACK = 1.05  # a line is costly where it needs this much more than the ideal
_DIVERGENT = 0.05


@dataclass(frozen=True)
class Measure:
    """One number in the margin; `note` says in words why a costly one is."""

    text: str
    is_costly: bool = False
    note: str = ""


@dataclass(frozen=True)
class CodeLine:
    """One source line. `faults` are checkers' findings."""

    number: int
    code: Markup
    sectors: Measure
    conflicts: Measure
    divergence: Measure
    faults: tuple[str, ...]

    @property
    def is_costly(self) -> bool:
        """Whether a counter says that this line wastes something."""
        return any(measure.is_costly for measure in (self.sectors, self.conflicts, self.divergence))

    @property
    def notes(self) -> list[str]:
        """What is costly, in words."""
        return [m.note for m in (self.sectors, self.conflicts, self.divergence) if m.is_costly]


def annotate(source: str, file_name: str, result: SuiteResult | None, compiler: str = "") -> list[CodeLine]:
    """The lines of `source` (at most some thousands), highlighted and annotated.

    Counters come from the evidence runs, faults from the checkers' findings and the compiler's message.
    """
    counters = _by_line(file_name, result)
    faults = _faults(file_name, result) | _errors(file_name, compiler)
    lines = []
    for number, code in enumerate(_highlighted(source), 1):
        counts = counters.get(number, {})
        lines.append(
            CodeLine(
                number=number,
                code=code,
                sectors=_sectors(counts),
                conflicts=_conflicts(counts),
                divergence=_divergence(counts),
                faults=tuple(faults.get(number, [])),
            )
        )
    return lines


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


def _base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _by_line(file_name: str, result: SuiteResult | None) -> dict[int, dict[str, float]]:
    sums: dict[int, dict[str, float]] = {}
    for profile in result.runs("submission").values() if result else ():
        for line in profile.lines:
            if _base_name(line.file) == file_name:
                own = sums.setdefault(line.line, {})
                for name, value in line.counters.items():
                    own[name] = own.get(name, 0.0) + value
    return sums


def _faults(file_name: str, result: SuiteResult | None) -> dict[int, list[str]]:
    faults: dict[int, list[str]] = {}
    for test in result.tests if result else ():
        for finding in test.findings:
            if _base_name(finding.file) != file_name:
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


def _sectors(counts: Mapping[str, float]) -> Measure:
    requests = counts.get("global_load_requests", 0) + counts.get("global_store_requests", 0)
    if not requests:
        return Measure("")
    sectors = counts.get("global_load_sectors", 0) + counts.get("global_store_sectors", 0)
    ideal = counts.get("global_load_sectors_ideal", 0) + counts.get("global_store_sectors_ideal", 0)
    each, best = sectors / requests, ideal / requests
    note = f"{each:.1f} sectors a request where {best:.1f} would do"
    return Measure(f"{each:.1f}", ideal > 0 and sectors > _SLACK * ideal, note)


def _conflicts(counts: Mapping[str, float]) -> Measure:
    wavefronts = counts.get("shared_wavefronts", 0)
    if not wavefronts:
        return Measure("")
    ideal = counts.get("shared_wavefronts_ideal", 0)
    times = wavefronts / ideal if ideal else 1.0
    note = f"bank conflicts: {times:.1f} × the shared-memory passes that would do"
    return Measure(f"{times:.1f}×", times > _SLACK, note)


def _divergence(counts: Mapping[str, float]) -> Measure:
    branches = counts.get("branches", 0)
    if not branches:
        return Measure("")
    share = counts.get("divergent_branches", 0) / branches
    text = "0 %" if share == 0 else f"{100 * share:.0f} %" if share >= 0.01 else "<1 %"  # noqa: PLR2004
    return Measure(text, share > _DIVERGENT, f"{100 * share:.0f} % of the branches here diverge")
