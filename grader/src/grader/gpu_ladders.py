"""Each rung of each ladder: what the course published, what the virtual GPU counts and models, what a GPU measures.

Assignments time few rungs. For this page all of a reference's rungs are timed, by the same judge in the same way: with
a copy of assignment.toml in which every rung has a timed criterion, at the size of its evidence run.
"""

import os
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.assignment import Assignment, load_assignment
from grader.errors import GraderError, InfrastructureError
from grader.ladder import Ladder, measure_ladder
from grader.layout import Layout
from grader.metric import counter_of
from grader.pipeline import prepare
from grader.result import SuiteResult, Timing
from grader.run import RunSettings, run_suite
from grader.timing_view import gpu_facts
from grader.toolchain import Toolchain
from grader.worker_cache import WorkerCache

_SEED = 1
_COUNTED = (
    ("divergent branches", "divergent_branches"),
    ("bank conflicts", "shared_conflicts"),
    ("sectors", "sectors"),
    ("barriers", "barriers"),
    ("warp instructions", "warp_instructions"),
)


@dataclass(frozen=True)
class MeasuredLadder:
    """One assignment's rungs: modelled, and by rung what the GPU measured where it could be."""

    assignment: Assignment
    modelled: Ladder
    measured: dict[str, Timing]
    gpu: str


def measure_on_gpu(layout: Layout, toolchain: Toolchain, name: str, work: Path, *, sandboxed: bool) -> MeasuredLadder:
    """Times every rung of a reference, and models it; raises GraderError where there is no reference."""
    assignment = load_assignment(layout.assignment(name))
    stop = threading.Event()
    settings = RunSettings(_SEED, "cuda", 1, sandboxed, alone=True)
    bench = prepare(layout, toolchain, assignment, settings, work, stop, WorkerCache(layout).build)
    worker = bench.reference.worker()
    if worker is None:
        raise GraderError(f"{name} has no reference solution to measure")
    everything = _with_all_timed(assignment, work / "timed")
    settings = replace(settings, times=tuple(rung.id for rung in assignment.rungs))
    folder = work / "run"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        result: SuiteResult | None = run_suite(
            layout, toolchain, everything, bench.suite, worker, worker, folder, settings, stop=stop
        )
    except InfrastructureError as error:
        result = error.result  # a rung that can't be timed has no time
    timings = result.timings if result else ()
    measured = {timing.rung: timing for timing in timings if timing.microseconds > 0}
    if result is None or not measured:
        raise GraderError(f"no rung of {name} could be timed on this machine")
    modelled = measure_ladder(layout, toolchain, assignment, [_threads()], sandboxed=sandboxed)
    return MeasuredLadder(assignment, modelled, measured, result.device.name)


def _threads() -> int:
    return min(16, len(os.sched_getaffinity(0)))


def _with_all_timed(assignment: Assignment, folder: Path) -> Assignment:
    """A copy of the assignment in which each rung has a timed criterion that any interval decides."""
    text = assignment.path.read_text(encoding="utf-8")
    path = folder / assignment.id / assignment.path.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(all_timed(text, [rung.id for rung in assignment.rungs]), encoding="utf-8")
    return replace(assignment, path=path)


def all_timed(text: str, rungs: Sequence[str]) -> str:
    """assignment.toml without its own timings, and with one for each rung."""
    blocks = re.split(r"(?m)^(?=\[)", text)
    kept = [
        block
        for block in blocks
        if not block.startswith("[timing]")
        and not (block.startswith("[[criterion]]") and re.search(r"(?m)^timing\s*=", block))
    ]
    timed = [
        f'\n[[criterion]]\nid = "{rung}.page"\nrung = "{rung}"\npoints = 0\nbonus = true\ntitle = "Time"\n'
        f'timing = "copy"\nfull = 1000000\nnone = 0\n'
        for rung in rungs
    ]
    return "".join([*kept, *timed])


def gpu_ladders_page(ladders: Sequence[MeasuredLadder], where: str, command: str) -> str:
    """The page, in Markdown."""
    lines = [
        "# The ladders on a GPU",
        "",
        "Each rung of the reference solutions: what the course published for its GeForce 8800 (G80), what the virtual",
        "GPU [models](../concepts/time-model.md) and [counts](metrics.md), and what a GPU of today took, by the",
        "judge's clock as [Measured time](../concepts/timing.md) has it: medians, each call on buffers of its own.",
        "GB/s are of the bytes that a rung has to move at the least.",
        "",
        f"{where}. Made by `{command}`.",
    ]
    for ladder in ladders:
        lines += ["", *_section(ladder)]
    return "\n".join(lines) + "\n"


def _section(ladder: MeasuredLadder) -> list[str]:
    assignment = ladder.assignment
    name = ladder.gpu.removeprefix("NVIDIA ")
    head = ["rung", "elements", "G80 published, ms", "G80 modelled, ms", "H200 modelled, µs", f"{name} measured, µs"]
    head += ["GB/s", "speed-up", *(title for title, _ in _COUNTED)]
    first: float | None = None
    rows = []
    for rung in assignment.rungs:
        modern, course = ladder.modelled.modern.get(rung.id), ladder.modelled.course.get(rung.id)
        timing = ladder.measured.get(rung.id)
        if first is None and timing:
            first = timing.microseconds
        bandwidth = timing.gigabytes_per_second if timing else None
        same_size = timing is not None and modern is not None and timing.n == modern.n
        rows.append(
            [
                f"`{rung.id}`",
                _grouped(modern.n) if modern else "",
                f"{rung.published_ms:.3f}" if rung.published_ms else "",
                f"{course.microseconds / 1000:.3f}" if course else "refused",
                f"{modern.microseconds:.1f}" if modern else "",
                f"{timing.microseconds:.2f}" if timing and same_size else "",
                f"{bandwidth:.0f}" if bandwidth and same_size else "",
                f"{first / timing.microseconds:.2f}" if first and timing and same_size else "",
                *(_grouped(counter_of(modern, key) or 0) if modern else "" for _, key in _COUNTED),
            ]
        )
    facts = "; ".join(f"{key} {value}" for key, value in gpu_facts(ladder.measured.values()))
    return [
        f"## {assignment.title}",
        "",
        "| " + " | ".join(head) + " |",
        "|---|" + "---:|" * (len(head) - 1),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
        f"While they were timed: {facts}." if facts else "",
    ]


def _grouped(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")
