"""The ladder as a chart: where its dots go. The template draws them.

Dots on a marked logarithmic axis, because the length of a bar on such an axis says nothing; what a rung gained is
written beside it. Positions along the axis are percentages and heights are pixels, so the chart fits any width while
its text keeps its size.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grader.model.assignment import Assignment
from grader.model.result import SuiteResult
from grader.model.score import plain

_LEFT, _RIGHT = 1.5, 98.5  # percent; leaves room for half a dot at each end
_ROW = 44
_NAME = 14  # from a row's top to the baseline of its name
_TRACK = 28  # and to the line of its dots
_AXIS = 26
_MS = 1000.0
_STEPS = (1, 2, 5)
_FEW_DECADES = 2.0  # beyond this only powers of ten are marked
_SAME = 0.005  # speeds that differ by less look the same


@dataclass(frozen=True)
class Dot:
    """One time: its owner, its position in percent, and its label."""

    kind: str
    x: float
    label: str


@dataclass(frozen=True)
class Row:
    """A rung's dots under its title; `time` is the submission's, `gain` its speedup over earlier rungs."""

    label: str
    title: str
    y: int
    track: int
    dots: tuple[Dot, ...]
    time: str
    gain: str

    @property
    def first(self) -> float:
        """Where the leftmost dot is."""
        return min(dot.x for dot in self.dots)

    @property
    def last(self) -> float:
        """Where the rightmost dot is."""
        return max(dot.x for dot in self.dots)


@dataclass(frozen=True)
class Tick:
    """A line across the chart at a round time."""

    x: float
    label: str


@dataclass(frozen=True)
class Ladder:
    """The whole chart; `kinds` are the dots that occur, for the legend."""

    height: int
    axis_y: int
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]
    kinds: tuple[str, ...]


def microseconds_text(value: float) -> str:
    """A time with the unit that reads best."""
    return f"{plain(value / _MS)} ms" if value >= _MS else f"{plain(value)} µs"


def make_ladder(assignment: Assignment, result: SuiteResult) -> Ladder | None:
    """The ladder of a run; None if nothing was measured."""
    own, reference = result.runs("submission"), result.runs("reference")
    labels = assignment.labels
    found: list[tuple[str, str, list[tuple[str, float]], str]] = []
    first: tuple[str, int, float] | None = None  # label, size and time of the submission's first rung
    for rung in assignment.rungs:
        mine = own[rung.id].whole_microseconds if rung.id in own else 0.0
        theirs = reference[rung.id].whole_microseconds if rung.id in reference else 0.0
        times = [("submission", mine), ("reference", theirs), ("published", (rung.published_ms or 0.0) * _MS)]
        times = [(kind, time) for kind, time in times if time > 0]
        if not any(kind != "published" for kind, _ in times):
            continue
        gain = ""
        if mine > 0:
            size = own[rung.id].n
            if first is None:
                first = (labels[rung.id], size, mine)
            elif size == first[1]:
                gain = f"{ratio_text(first[2] / mine)} rung {first[0]}"
        found.append((labels[rung.id], rung.title, times, gain))
    return _placed(found) if found else None


def ratio_text(ratio: float) -> str:
    """The speedup as text, to be followed by what it compares with."""
    if abs(ratio - 1) < _SAME:
        return "as fast as"
    return f"{ratio:.3g} × as fast as" if ratio > 1 else f"{1 / ratio:.3g} × slower than"


def _placed(found: Sequence[tuple[str, str, list[tuple[str, float]], str]]) -> Ladder:
    everything = [time for _, _, times, _ in found for _, time in times]
    marks = _marks(min(everything), max(everything))
    first, last = math.log10(marks[0]), math.log10(marks[-1])

    def x(time: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * (math.log10(time) - first) / (last - first), 2)

    rows = []
    for index, (label, title, times, gain) in enumerate(found):
        dots = tuple(Dot(kind, x(time), microseconds_text(time)) for kind, time in times)
        time = next((dot.label for dot in dots if dot.kind == "submission"), "")
        rows.append(Row(label, title, index * _ROW + _NAME, index * _ROW + _TRACK, dots, time, gain))
    present = {kind for _, _, times, _ in found for kind, _ in times}
    kinds = tuple(kind for kind in ("submission", "reference", "published") if kind in present)
    ticks = tuple(Tick(x(mark), microseconds_text(mark)) for mark in marks)
    return Ladder(len(rows) * _ROW + _AXIS, len(rows) * _ROW, tuple(rows), ticks, kinds)


def _marks(low: float, high: float) -> list[float]:
    """Round times that enclose all others, at least two: 1, 2, 5, 10 …, or powers of ten where they span many."""
    steps = _STEPS if math.log10(high / low) < _FEW_DECADES else (1,)
    around = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    marks = [step * 10.0**power for power in around for step in steps]
    below = max(mark for mark in marks if mark <= low)
    above = min(mark for mark in marks if mark >= high and mark > below)
    return [mark for mark in marks if below <= mark <= above]
