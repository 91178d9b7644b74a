"""A timeline of concurrent operations: a lane per engine with a bar per operation. The template draws it.

Positions are percentages of the rung's own time, so lanes fit any width while their text keeps its size.
"""

from dataclasses import dataclass

from grader.model.assignment import Assignment
from grader.model.result import SuiteResult
from grader.model.timeline import ENGINES, Timeline

_NAMES = {"to_device": "to device", "compute": "kernels", "to_host": "to host", "to_peer": "to other devices"}
_COLOURS = 8
_THIN = 0.25  # percent: shorter bars would be invisible


@dataclass(frozen=True)
class Bar:
    """An operation: its start, its length, the colour of its stream, and its text."""

    x: float
    width: float
    colour: int
    label: str


@dataclass(frozen=True)
class Lane:
    """The operations of one engine."""

    name: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class RungLanes:
    """A rung's lanes, with its time in words."""

    label: str
    title: str
    time: str
    ratio: str
    overlap: str
    lanes: tuple[Lane, ...]
    told: str


def rung_lanes(assignment: Assignment, result: SuiteResult) -> tuple[RungLanes, ...]:
    """The lanes of all rungs that have a timeline."""
    runs = result.runs("submission")
    found = []
    for rung in assignment.rungs:
        timeline = runs[rung.id].timeline if rung.id in runs else None
        if timeline and timeline.operations and timeline.timeline_us > 0:
            found.append(_of(rung.label, rung.title, timeline))
    return tuple(found)


def _of(label: str, title: str, timeline: Timeline) -> RungLanes:
    colours: dict[str, int] = {}
    for operation in timeline.operations:
        colours.setdefault(operation.stream, len(colours) % _COLOURS)
    devices = sorted({operation.device for operation in timeline.operations})
    used = {(operation.device, operation.engine) for operation in timeline.operations}
    lanes = tuple(
        Lane(
            _NAMES[engine] if devices == [0] else f"device {device}, {_NAMES[engine]}",
            tuple(
                Bar(
                    x=100 * operation.begin / timeline.timeline_us,
                    width=max(100 * (operation.end - operation.begin) / timeline.timeline_us, _THIN),
                    colour=colours[operation.stream],
                    label=f"{operation.name}, {operation.stream}: {operation.begin:.1f} to {operation.end:.1f} µs"
                    + (f", {operation.bytes:,} bytes" if operation.bytes else ""),
                )
                for operation in timeline.operations
                if (operation.device, operation.engine) == (device, engine)
            ),
        )
        for device in devices
        for engine in ENGINES
        if (device, engine) in used or (devices == [0] and engine != "to_peer")
    )
    ratio = timeline.timeline_us / timeline.bound_us if timeline.bound_us else 0.0
    overlap = (
        f"copies both ways {_share(timeline.copy_overlap_us, timeline)}, "
        f"kernels overlapping copies {_share(timeline.kernel_overlap_us, timeline)} of the time"
    )
    return RungLanes(
        label=label,
        title=title,
        time=f"{timeline.timeline_us:,.0f} µs",
        ratio=f"{ratio:.2f} × the busiest engine",
        overlap=overlap,
        lanes=lanes,
        told=", ".join(f"{lane.name} {len(lane.bars)}" for lane in lanes),
    )


def _share(microseconds: float, timeline: Timeline) -> str:
    return f"{100 * microseconds / timeline.timeline_us:.0f}\u00a0%"
