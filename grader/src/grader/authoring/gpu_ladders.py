"""Each rung of each ladder: published times, the virtual GPU's counts and modelled times, and times on a GPU.

Assignments time few rungs. For this page the same judge times all rungs of a reference in the same way: with
a copy of assignment.toml in which every rung has a timed criterion, at the size of its evidence run. The measurements
are recorded in a file, so the page can be written again on any machine.
"""

import csv
import io
import os
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.authoring.ladder import Ladder, measure_ladder
from grader.authoring.markdown import grouped, table
from grader.base.errors import GraderError, InfrastructureError
from grader.base.layout import Layout
from grader.base.toolchain import Toolchain
from grader.model.assignment import Assignment, load_assignment
from grader.model.result import SuiteResult
from grader.running.bench import prepare
from grader.running.run import PartialResultError, RunSettings, run_suite
from grader.running.worker_cache import WorkerCache

RECORDED = Path("harness") / "dev" / "bench" / "recorded" / "ladders.csv"
_SEED = 1
_FIELDS = ("rung", "n", "microseconds", "gb_s")
_COUNTED = (
    ("divergent branches", "divergent_branches"),
    ("bank conflicts", "shared_conflicts"),
    ("sectors", "sectors"),
    ("barriers", "barriers"),
    ("warp instructions", "warp_instructions"),
)


@dataclass(frozen=True)
class Measured:
    """A rung's time on a GPU: microseconds per call, by the judge's clock."""

    rung: str
    n: int
    microseconds: float
    gigabytes_per_second: float


@dataclass(frozen=True)
class Recorded:
    """The recorded times by rung, and the device they were measured on."""

    where: str
    rungs: dict[str, Measured]


def measure_on_gpu(layout: Layout, toolchain: Toolchain, name: str, work: Path, *, sandboxed: bool) -> list[Measured]:
    """Times the rungs of a reference; raises GraderError if there is no reference or no rung can be timed."""
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
    except PartialResultError as error:
        result = error.result  # a rung that can't be timed has no time
    except InfrastructureError:
        result = None
    timings = result.timings if result else ()
    measured = [
        Measured(timing.rung, timing.n, timing.microseconds, timing.gigabytes_per_second or 0.0)
        for timing in timings
        if timing.microseconds > 0
    ]
    if not measured:
        raise GraderError(f"no rung of {name} could be timed on this machine")
    return measured


def model_ladder(layout: Layout, toolchain: Toolchain, name: str, *, sandboxed: bool) -> tuple[Assignment, Ladder]:
    """The reference's rungs as counted and modelled by the virtual GPU."""
    assignment = load_assignment(layout.assignment(name))
    threads = min(16, len(os.sched_getaffinity(0)))
    return assignment, measure_ladder(layout, toolchain, assignment, [threads], sandboxed=sandboxed)


def recorded_text(recorded: Recorded) -> str:
    """The recorded file: a line with the device, then CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_FIELDS)
    for one in recorded.rungs.values():
        figures = [f"{one.microseconds:.2f}", f"{one.gigabytes_per_second:.0f}"]
        writer.writerow([one.rung, one.n, *figures])
    return f"# {recorded.where}\n{text.getvalue()}"


def read_recorded(path: Path) -> Recorded:
    """Reads the recorded file; empty if there is none."""
    if not path.is_file():
        return Recorded("", {})
    where, _, rest = path.read_text(encoding="utf-8").partition("\n")
    rows = csv.DictReader(io.StringIO(rest))
    measured = [Measured(row["rung"], int(row["n"]), float(row["microseconds"]), float(row["gb_s"])) for row in rows]
    return Recorded(where.removeprefix("#").strip(), {one.rung: one for one in measured})


def _with_all_timed(assignment: Assignment, folder: Path) -> Assignment:
    """A copy of the assignment in which every rung has a timed criterion that is settled by any interval."""
    text = assignment.path.read_text(encoding="utf-8")
    path = folder / assignment.id / assignment.path.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(all_timed(text, [rung.id for rung in assignment.rungs]), encoding="utf-8")
    return replace(assignment, path=path)


def all_timed(text: str, rungs: Sequence[str]) -> str:
    """assignment.toml with its own timings replaced by one for each rung."""
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


def gpu_ladders_page(ladders: Sequence[tuple[Assignment, Ladder]], recorded: Recorded, nvcc: str) -> str:
    """The page, in Markdown."""
    lines = [
        "# The ladders on a GPU",
        "",
        "Each rung of the reference solutions: what the course published for its GeForce 8800 (G80), what the virtual",
        "GPU [models](../concepts/time-model.md) and [counts](../reference/metrics.md) at the size of the rung's",
        "evidence run, and what a call took a GPU of today by the judge's clock",
        "([Measured time](../concepts/timing.md)): the median,",
        "each call on buffers of its own that the cache does not hold, all passes and launches included. GB/s are of",
        "the bytes that a rung has to move at the least.",
        "",
        f"Measured: {recorded.where or 'nothing yet'}. Modelled and counted with nvcc {nvcc}.",
        "",
        "```sh",
        "make gpu                        # on a machine with a GPU: measures, records and writes this page",
        "grader gpu-pages --no-measure   # anywhere: writes it from what is recorded",
        "```",
        "",
        "![Times of each rung: published for the GeForce 8800, measured on an H200, and modelled for both]"
        "(../figures/ladders.svg)",
    ]
    for assignment, ladder in ladders:
        lines += ["", *_section(assignment, ladder, recorded)]
    return "\n".join(lines) + "\n"


def _section(assignment: Assignment, ladder: Ladder, recorded: Recorded) -> list[str]:
    head = ["rung", "G80 published, ms", "elements", "G80 modelled, ms", "H200 modelled, µs"]
    head += [*(title for title, _ in _COUNTED), "measured, elements", "µs", "GB/s"]
    rows = []
    for rung in assignment.rungs:
        modern, course, measured = (
            ladder.modern.get(rung.id),
            ladder.course.get(rung.id),
            recorded.rungs.get(rung.id),
        )
        rows.append(
            [
                f"`{rung.id}`",
                f"{rung.published_ms:.3f}" if rung.published_ms else "",
                grouped(modern.n) if modern else "",
                f"{course.microseconds / 1000:.3f}" if course else "",
                f"{modern.microseconds:.1f}" if modern else "",
                *(grouped(modern.figure(key)) if modern else "" for _, key in _COUNTED),
                *_measured_cells(measured),
            ]
        )
    return [
        f"## {assignment.title}",
        "",
        *table(head, rows),
    ]


def _measured_cells(measured: Measured | None) -> list[str]:
    if measured is None:
        return ["", "", ""]
    figures = [f"{measured.microseconds:.2f}", f"{measured.gigabytes_per_second:.0f}"]
    return [grouped(measured.n), *figures]
