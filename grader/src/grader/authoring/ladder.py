"""The ladder of an assignment in counters: what each rung of the reference costs, for the documentation.

The figures are exact and must not depend on the number of CPU threads that run the virtual GPU, so they are measured
with several numbers of threads and compared. Times are modelled twice: on a current GPU, and on the one that the course
measured. The latter refuses kernels that need more than it has; their times stay empty.
"""

import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.authoring.markdown import grouped, table
from grader.base.errors import GraderError
from grader.base.files import write_atomic
from grader.base.layout import Layout
from grader.base.toolchain import Toolchain
from grader.model.assignment import Assignment, Rung, load_assignment
from grader.model.result import Profile
from grader.running.bench import Bench, prepare
from grader.running.run import RunSettings, measure_suite
from grader.running.worker_cache import WorkerCache

MODERN, COURSE = "h200", "g80"
_MADE_WITH = "with nvcc"
_SEED = 1  # counters do not depend on it
_COUNTED = (
    ("divergent branches", "divergent_branches"),
    ("wavefronts", "shared_wavefronts"),
    ("ideal wavefronts", "shared_wavefronts_ideal"),
    ("barriers", "barriers"),
    ("warp instructions", "warp_instructions"),
    ("load sectors", "global_load_sectors"),
    ("store sectors", "global_store_sectors"),
)
_TIMED = ("H200 µs", "speed-up", "G80 ms", "speed-up", "published ms", "speed-up", "modelled ÷ published")
_WIDE = 5  # counters side by side on a terminal


@dataclass(frozen=True)
class Ladder:
    """The reference's evidence runs by rung: `modern` has every rung, `course` those that the course's GPU can run."""

    modern: dict[str, Profile]
    course: dict[str, Profile]


def ladder_assignments(layout: Layout) -> list[str]:
    """The assignments with published course times, which can be compared as ladders."""
    every = [load_assignment(layout.assignment(name)) for name in layout.assignments()]
    return [one.id for one in every if one.n and any(rung.published_ms for rung in one.rungs)]


def measure_ladder(
    layout: Layout, toolchain: Toolchain, assignment: Assignment, threads: Sequence[int], *, sandboxed: bool
) -> Ladder:
    """Runs the reference; raises GraderError where the figures differ between numbers of threads."""
    stop = threading.Event()
    with tempfile.TemporaryDirectory(prefix="lockstep-ladder-") as name:
        settings = RunSettings(_SEED, "vgpu", threads[0], sandboxed)
        bench = prepare(layout, toolchain, assignment, settings, Path(name), stop, WorkerCache(layout).build)
        modern = [_measure(bench, MODERN, count, stop) for count in threads]
        # The profile changes only modelled times; the counters they are based on were compared above.
        course = _measure(bench, COURSE, threads[0], stop)
    missing = [rung.id for rung in measured_rungs(assignment) if rung.id not in modern[0]]
    if missing:
        raise GraderError(f"the reference of {assignment.id} has no evidence run of {', '.join(missing)}")
    for count, other in zip(threads[1:], modern[1:], strict=True):
        for rung, profile in modern[0].items():
            if other.get(rung) != profile:
                raise GraderError(f"{rung} differs between {threads[0]} and {count} threads of the virtual GPU")
    return Ladder(modern[0], course)


def measured_rungs(assignment: Assignment) -> list[Rung]:
    """The rungs that launch kernels."""
    return [rung for rung in assignment.rungs if not rung.host_only]


def _measure(bench: Bench, profile: str, threads: int, stop: threading.Event) -> dict[str, Profile]:
    worker = bench.reference.worker()
    if worker is None:
        raise GraderError(f"{bench.assignment.id} has no reference solution to measure")
    settings = replace(bench.settings, profile=profile, threads=threads)
    folder = bench.work / f"{profile}-{threads}"
    folder.mkdir()
    result = measure_suite(
        bench.layout, bench.toolchain, bench.assignment, bench.suite, worker, folder, settings, stop=stop
    )
    return {run.rung: run for run in result.profiles if run.source == "submission"}


def check_pages(pages: Path, chosen: Sequence[str]) -> None:
    """Raises GraderError if the folder has pages that belong to no ladder."""
    strays = sorted({path.stem for path in pages.glob("*.md")} - set(chosen))
    if strays:
        raise GraderError(f"{pages} has pages of no ladder: {', '.join(strays)}.\nRemove them and type the same again")


def ladder_page(
    layout: Layout,
    toolchain: Toolchain,
    assignment: Assignment,
    threads: Sequence[int],
    pages: Path,
    *,
    verify: bool,
    sandboxed: bool,
) -> str:
    """Writes the assignment's page into the folder, or compares it with what is there; returns the sentence to show.

    Raises GraderError where a page is out of date. A page made with another nvcc may legitimately differ.
    """
    path = pages / f"{assignment.id}.md"
    recorded = path.read_text(encoding="utf-8") if path.is_file() else ""
    compiler = toolchain.nvcc_version
    if verify and _MADE_WITH in recorded and f"{_MADE_WITH} {compiler};" not in recorded:
        return f"{path} was made with another nvcc than {compiler}: not compared"
    ladder = measure_ladder(layout, toolchain, assignment, threads, sandboxed=sandboxed)
    text = page_text(assignment, ladder, threads, compiler)
    if not verify:
        write_atomic(path, text)
        return f"Wrote {path}"
    if recorded != text:
        raise GraderError(f"{path} is out of date.\nType:  grader ladder {assignment.id} --pages {pages}")
    return f"{path} is up to date"


def page_text(assignment: Assignment, ladder: Ladder, threads: Sequence[int], compiler: str) -> str:
    """The documentation's page, in Markdown. `compiler` made the PTX; figures depend on its version."""
    sizes = {profile.n for profile in ladder.modern.values()}
    elements = f"{grouped(sizes.pop())} elements" if len(sizes) == 1 else "as many elements as the table says"
    refused = [f"`{rung.id}`" for rung in measured_rungs(assignment) if rung.id not in ladder.course]
    lines = [
        f"# {assignment.title}, in counters",
        "",
        f"The reference solution's rungs on {elements}, all passes of a rung together, as the",
        f"virtual GPU counts them. The figures were the same with {_listed(threads)} CPU threads.",
        "[Metrics](../../reference/metrics.md) says what each column means.",
        "",
        f"Made by `grader ladder --pages docs/records/ladders` {_MADE_WITH} {compiler};",
        "the tests check that it is up to date.",
        "",
        *_markdown(_counted(assignment, ladder)),
        "",
        "Times are [modelled](../../concepts/time-model.md) from these counters: on a GPU of today (H200), and on the",
        "GeForce 8800 GTX of 2006 (G80) that the course's published times were measured on. A speed-up compares with",
        "the first rung of as many elements.",
        *(["", f"The G80 can't run {_listed(refused)}: there is no time of it on that GPU."] if refused else []),
        "",
        *_markdown(_timed(assignment, ladder)),
        "",
    ]
    return "\n".join(lines)


def ladder_text(assignment: Assignment, ladder: Ladder) -> str:
    """The ladder's figures for a terminal, no wider than 100 columns."""
    counted = _counted(assignment, ladder)
    split = len(counted) - len(_COUNTED) + _WIDE
    second = [counted[0], *counted[split:], *_timed(assignment, ladder)[1:]]
    return "\n".join([f"{assignment.title}", "", *_aligned(counted[:split]), "", *_aligned(second)])


@dataclass(frozen=True)
class _Column:
    """A heading, and a cell for each rung."""

    title: str
    cells: list[str]


def _counted(assignment: Assignment, ladder: Ladder) -> list[_Column]:
    rungs = measured_rungs(assignment)
    profiles = [ladder.modern[rung.id] for rung in rungs]
    columns = [_Column("rung", [rung.id for rung in rungs])]
    if len({profile.n for profile in profiles}) > 1:
        columns.append(_Column("elements", [grouped(profile.n) for profile in profiles]))
    return columns + [
        _Column(title, [grouped(profile.counters[key]) for profile in profiles]) for title, key in _COUNTED
    ]


def _timed(assignment: Assignment, ladder: Ladder) -> list[_Column]:
    rungs = measured_rungs(assignment)

    def speed_ups(time: Callable[[Rung], float | None]) -> list[str]:
        first: dict[float, float] = {}
        cells = []
        for rung in rungs:
            own = time(rung)
            if not own:
                cells.append("")
                continue
            cells.append(f"{first.setdefault(ladder.modern[rung.id].n, own) / own:.2f}")
        return cells

    def modern(rung: Rung) -> float | None:
        return ladder.modern[rung.id].microseconds

    def course(rung: Rung) -> float | None:
        return ladder.course[rung.id].microseconds / 1000 if rung.id in ladder.course else None

    def published(rung: Rung) -> float | None:
        return rung.published_ms

    def ratio(rung: Rung) -> float | None:
        own, theirs = course(rung), published(rung)
        return own / theirs if own and theirs else None

    def shown(time: Callable[[Rung], float | None], digits: int) -> list[str]:
        return [f"{own:.{digits}f}" if (own := time(rung)) else "" for rung in rungs]

    cells = [
        shown(modern, 1), speed_ups(modern), shown(course, 3), speed_ups(course),
        shown(published, 3), speed_ups(published), shown(ratio, 2),
    ]  # fmt: skip
    return [
        _Column("rung", [rung.id for rung in rungs]),
        *(_Column(title, column) for title, column in zip(_TIMED, cells, strict=True)),
    ]


def _markdown(columns: Sequence[_Column]) -> list[str]:
    rows = [[f"`{name}`", *cells] for name, *cells in zip(*(column.cells for column in columns), strict=True)]
    return table([column.title for column in columns], rows)


def _aligned(columns: Sequence[_Column]) -> list[str]:
    """Plain text, numbers to the right, each word of a heading on a line of its own."""
    depth = max(len(column.title.split(" ")) for column in columns)
    lines: list[list[str]] = [[] for _ in range(depth + len(columns[0].cells))]
    for index, column in enumerate(columns):
        words = column.title.split(" ")
        cells = [*[""] * (depth - len(words)), *words, *column.cells]
        width = max(map(len, cells))
        for line, cell in zip(lines, cells, strict=True):
            line.append(cell.rjust(width) if index else cell.ljust(width))
    return ["  ".join(line).rstrip() for line in lines]


def _listed(items: Sequence[object]) -> str:
    words = [str(item) for item in items]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
