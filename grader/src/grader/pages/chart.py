"""The ladder as a chart: where its bars go. The template draws them.

Positions along the time axis are percentages and heights are pixels, so the chart fits any width while its text keeps
its size.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grader.model.assignment import Assignment
from grader.model.result import SuiteResult
from grader.model.score import plain

_WIDEST = 80.0  # percent; the rest is room for a bar's label
_BAR = 14
_BAR_STEP = 18
_TITLE = 20
_GAP = 14
_AXIS = 26
_MS = 1000.0


@dataclass(frozen=True)
class Bar:
    """One bar: whose time it is, its place, and its label. `y` is in pixels, `width` in percent."""

    kind: str
    y: int
    width: float
    label: str


@dataclass(frozen=True)
class Group:
    """A rung's bars under its title."""

    label: str
    title: str
    y: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Tick:
    """A line across the chart at a power of ten."""

    x: float
    label: str


@dataclass(frozen=True)
class Ladder:
    """The whole chart; `kinds` are the bars that occur, for the legend."""

    height: int
    bar: int
    axis_y: int
    groups: tuple[Group, ...]
    ticks: tuple[Tick, ...]
    kinds: tuple[str, ...]


def microseconds_text(value: float) -> str:
    """A time with the unit that reads best."""
    return f"{plain(value / _MS)} ms" if value >= _MS else f"{plain(value)} µs"


def make_ladder(assignment: Assignment, result: SuiteResult) -> Ladder | None:
    """The ladder of a run; None where nothing was measured."""
    own, reference = result.runs("submission"), result.runs("reference")
    rows: list[tuple[str, str, list[tuple[str, float]]]] = []
    for rung in assignment.rungs:
        times = [
            ("submission", own[rung.id].microseconds if rung.id in own else 0.0),
            ("reference", reference[rung.id].microseconds if rung.id in reference else 0.0),
            ("published", (rung.published_ms or 0.0) * _MS),
        ]
        times = [(kind, time) for kind, time in times if time > 0]
        if any(kind != "published" for kind, _ in times):
            rows.append((rung.label, rung.title, times))
    if not rows:
        return None
    return _placed(rows)


def _placed(rows: Sequence[tuple[str, str, list[tuple[str, float]]]]) -> Ladder:
    everything = [time for _, _, times in rows for _, time in times]
    first = math.floor(math.log10(min(everything)))
    last = max(math.log10(max(everything)), first + 1.0)

    def x(time: float) -> float:
        return round(_WIDEST * (math.log10(time) - first) / (last - first), 2)

    groups = []
    y = 0
    for label, title, times in rows:
        bars = tuple(
            Bar(kind, y + _TITLE + index * _BAR_STEP, max(x(time), 0.4), microseconds_text(time))
            for index, (kind, time) in enumerate(times)
        )
        groups.append(Group(label, title, y + _TITLE - 6, bars))
        y += _TITLE + len(times) * _BAR_STEP + _GAP
    ticks = tuple(Tick(x(10.0**power), microseconds_text(10.0**power)) for power in range(first, math.floor(last) + 1))
    present = {kind for _, _, times in rows for kind, _ in times}
    kinds = tuple(kind for kind in ("submission", "reference", "published") if kind in present)
    return Ladder(y + _AXIS, _BAR, y, tuple(groups), ticks, kinds)
