"""The ladder of an assignment in counters: what the reference's rungs cost, rung by rung, for the documentation.

The figures are exact and must not depend on the number of CPU threads that run the virtual GPU, so they are measured
with several and compared. Times are modelled twice: on a GPU of today, and on the one that the course measured.
"""

import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.assignment import Assignment
from grader.errors import GraderError
from grader.layout import Layout
from grader.pipeline import prepare
from grader.result import Profile
from grader.run import RunSettings, measure_suite
from grader.toolchain import Toolchain

MODERN, COURSE = "h200", "g80"
_MADE_WITH = "with nvcc"
_SEED = 1  # counters do not depend on it
_COLUMNS = (
    ("divergent branches", "divergent_branches"),
    ("wavefronts", "shared_wavefronts"),
    ("ideal wavefronts", "shared_wavefronts_ideal"),
    ("load sectors", "global_load_sectors"),
    ("store sectors", "global_store_sectors"),
    ("barriers", "barriers"),
    ("warp instructions", "warp_instructions"),
)


@dataclass(frozen=True)
class Ladder:
    """The reference's evidence runs, one a rung, on two profiles."""

    modern: list[Profile]
    course: list[Profile]


def measure_ladder(
    layout: Layout, toolchain: Toolchain, assignment: Assignment, threads: Sequence[int], *, sandboxed: bool
) -> Ladder:
    """Runs the reference; raises GraderError where the figures differ between numbers of threads."""

    def measure(profile: str) -> list[Profile]:
        return _measure(layout, toolchain, assignment, threads, profile, sandboxed=sandboxed)

    return Ladder(measure(MODERN), measure(COURSE))


def _measure(
    layout: Layout,
    toolchain: Toolchain,
    assignment: Assignment,
    threads: Sequence[int],
    profile: str,
    *,
    sandboxed: bool,
) -> list[Profile]:
    measured: list[list[Profile]] = []
    stop = threading.Event()
    with tempfile.TemporaryDirectory(prefix="lockstep-ladder-") as name:
        for count in threads:
            work = Path(name) / str(count)
            settings = RunSettings(_SEED, "vgpu", count, sandboxed, profile)
            bench = prepare(layout, toolchain, assignment, settings, work, stop)
            worker = bench.reference.worker()
            if worker is None:
                raise GraderError(f"{assignment.id} has no reference solution to measure")
            result = measure_suite(layout, toolchain, assignment, bench.suite, worker, work, settings, stop=stop)
            measured.append([run for run in result.profiles if run.source == "submission"])
    for count, profiles in zip(threads, measured, strict=True):
        for first, other in zip(measured[0], profiles, strict=True):
            if first != other:
                raise GraderError(f"{first.rung} differs between {threads[0]} and {count} threads of the virtual GPU")
    return measured[0]


def ladder_page(assignment: Assignment, ladder: Ladder, threads: Sequence[int], compiler: str, command: str) -> str:
    """The documentation's page, in Markdown. `compiler` made the PTX, and another makes other instructions."""
    modern = {profile.rung: profile for profile in ladder.modern}
    course = {profile.rung: profile for profile in ladder.course}
    first, first_course = modern[assignment.rungs[0].id], course[assignment.rungs[0].id]
    counted = []
    timed = []
    for rung in assignment.rungs:
        profile, old = modern[rung.id], course[rung.id]
        counted.append([f"`{rung.id}`", *(_grouped(profile.counters[key]) for _, key in _COLUMNS)])
        cells = [f"`{rung.id}`", f"{profile.microseconds:.1f}", f"{first.microseconds / profile.microseconds:.2f}"]
        cells += [f"{old.microseconds / 1000:.3f}", f"{first_course.microseconds / old.microseconds:.2f}"]
        if rung.published_ms and assignment.rungs[0].published_ms:
            cells += [f"{rung.published_ms:.3f}", f"{assignment.rungs[0].published_ms / rung.published_ms:.2f}"]
            cells += [f"{old.microseconds / 1000 / rung.published_ms:.2f}"]
        else:
            cells += ["", "", ""]
        timed.append(cells)
    lines = [
        f"# {assignment.title}, in counters",
        "",
        f"The reference solution's rungs on {_grouped(first.n)} elements, all passes of a rung together, as the",
        f"virtual GPU counts them. The figures were the same with {_listed(threads)} CPU threads.",
        "[Metrics](metrics.md) says what each column means.",
        "",
        f"Made by `{command}` {_MADE_WITH} {compiler}; the tests check that it is up to date.",
        "",
        *_table(["rung", *(title for title, _ in _COLUMNS)], counted),
        "",
        "Times are [modelled](../concepts/time-model.md) from these counters: on a GPU of today (H200), and on the",
        "GeForce 8800 GTX of 2006 (G80) that the course's published times were measured on.",
        "",
        *_table(
            [
                "rung",
                "H200 µs",
                "speed-up",
                "G80 ms",
                "speed-up",
                "G80 published ms",
                "speed-up",
                "modelled ÷ published",
            ],
            timed,
        ),
        "",
    ]
    return "\n".join(lines)


def is_of_other_compiler(page: str, compiler: str) -> bool:
    """Whether a page was made with another nvcc, so that its instruction counts may differ for no fault of anyone."""
    return _MADE_WITH in page and f"{_MADE_WITH} {compiler};" not in page


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        "| " + " | ".join(head) + " |",
        "|" + "|".join(["---", *["---:"] * (len(head) - 1)]) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def _grouped(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


def _listed(numbers: Sequence[int]) -> str:
    words = [str(number) for number in numbers]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
