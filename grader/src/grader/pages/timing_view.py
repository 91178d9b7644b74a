"""Measured times in the form for report cards."""

from collections.abc import Iterable
from dataclasses import dataclass

from grader.model.assignment import Assignment
from grader.model.record import Record
from grader.model.result import Timing
from grader.model.verdicts import INCONCLUSIVE

_SIDES = (", before", ", after")


@dataclass(frozen=True)
class TimingRow:
    """One timed criterion: the figure is the ratio of the base's time to the submission's."""

    label: str
    title: str
    base: str
    timing: Timing
    verdict: str


@dataclass(frozen=True)
class TimingView:
    """All timed criteria, the GPU and its state.

    `is_open`: some time has to be measured again with the command `again`, which a student's card lacks.
    """

    gpu: str
    rows: tuple[TimingRow, ...]
    facts: tuple[tuple[str, str], ...]
    is_throttled: bool
    is_open: bool
    again: str


def timing_view(assignment: Assignment, record: Record) -> TimingView | None:
    """The timing section of a card; None if nothing was timed."""
    result = record.result
    if result is None or not result.timings:
        return None
    criteria = {criterion.id: criterion for criterion in assignment.criteria}
    rows = []
    for timing in result.timings:
        criterion, rung = criteria.get(timing.criterion), assignment.rung(timing.rung)
        if criterion is not None and rung is not None:
            verdict = INCONCLUSIVE if timing.is_inconclusive else timing.verdict
            rows.append(TimingRow(assignment.labels[rung.id], criterion.title, criterion.timing, timing, verdict))
    return TimingView(
        gpu=result.device.name,
        rows=tuple(rows),
        facts=gpu_facts(result.timings),
        is_throttled=any(timing.throttled for timing in result.timings),
        is_open=not result.is_conclusive,
        again="" if result.is_conclusive else record.provenance.command,
    )


def gpu_facts(timings: Iterable[Timing]) -> tuple[tuple[str, str], ...]:
    """The GPU state before and after each timing: each item once, with all its values."""
    values: dict[str, dict[str, None]] = {}
    for timing in timings:
        for name, value in timing.gpu.items():
            for side in _SIDES:
                if name.endswith(side):
                    values.setdefault(name.removesuffix(side), {})[value] = None
    return tuple((name, _listed(list(found))) for name, found in values.items())


def _listed(values: list[str]) -> str:
    """Numbers with a common unit as a range, other values as a list."""
    parts = [value.partition(" ") for value in values]
    units = {unit for _, _, unit in parts}
    if len(values) > 1 and len(units) == 1 and all(number.isdecimal() for number, _, _ in parts):
        numbers = [int(number) for number, _, _ in parts]
        return f"{min(numbers)} to {max(numbers)} {units.pop()}".strip()
    return ", ".join(values)
