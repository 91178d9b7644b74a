"""The ladder of an assignment in counters: what the reference's rungs cost, rung by rung, for the documentation.

The figures are exact and must not depend on the number of CPU threads that run the virtual GPU, so they are measured
with several and compared.
"""

import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from grader.assignment import Assignment
from grader.errors import GraderError
from grader.layout import Layout
from grader.pipeline import prepare
from grader.result import Profile, TestResult
from grader.run import RunSettings, run_suite
from grader.toolchain import Toolchain

_SEED = 1
_COLUMNS = (
    ("divergent branches", "divergent_branches"),
    ("wavefronts", "shared_wavefronts"),
    ("ideal wavefronts", "shared_wavefronts_ideal"),
    ("load sectors", "global_load_sectors"),
    ("store sectors", "global_store_sectors"),
    ("barriers", "barriers"),
    ("warp instructions", "warp_instructions"),
)


def measure_ladder(
    layout: Layout, toolchain: Toolchain, assignment: Assignment, threads: Sequence[int], *, sandboxed: bool
) -> list[Profile]:
    """The reference's evidence runs, one a rung; raises GraderError where they differ between numbers of threads."""
    measured: list[list[Profile]] = []
    stop = threading.Event()
    with tempfile.TemporaryDirectory(prefix="lockstep-ladder-") as name:
        for count in threads:
            work = Path(name) / str(count)
            settings = RunSettings(_SEED, "vgpu", count, sandboxed)
            bench = prepare(layout, toolchain, assignment, settings, work, stop)
            worker = bench.reference.worker()
            if worker is None:
                raise GraderError(f"{assignment.id} has no reference solution to measure")
            # The suite measures every rung, also where all its tests are left out.
            left_out = [TestResult(test, "", "PASS", 0.0, "", "", "", ()) for test in bench.suite.tests]
            result = run_suite(
                layout, toolchain, assignment, bench.suite, worker, None, work, settings, done=left_out, stop=stop
            )
            measured.append([profile for profile in result.profiles if profile.source == "submission"])
    for count, profiles in zip(threads, measured, strict=True):
        for first, other in zip(measured[0], profiles, strict=True):
            if first != other:
                raise GraderError(f"{first.rung} differs between {threads[0]} and {count} threads of the virtual GPU")
    return measured[0]


def ladder_page(assignment: Assignment, profiles: Sequence[Profile], threads: Sequence[int], command: str) -> str:
    """The documentation's page, in Markdown."""
    by_rung = {profile.rung: profile for profile in profiles}
    first = by_rung[assignment.rungs[0].id]
    head = ["rung", *(title for title, _ in _COLUMNS), "modelled µs", "speed-up", "published ms", "speed-up"]
    rows = []
    for rung in assignment.rungs:
        profile = by_rung.get(rung.id)
        if profile is None:
            continue
        cells = [f"`{rung.id}`", *(f"{profile.counters[key]:,.0f}".replace(",", " ") for _, key in _COLUMNS)]
        cells += [f"{profile.microseconds:.1f}", f"{first.microseconds / profile.microseconds:.2f}"]
        if rung.published_ms and assignment.rungs[0].published_ms:
            cells += [f"{rung.published_ms:.3f}", f"{assignment.rungs[0].published_ms / rung.published_ms:.2f}"]
        else:
            cells += ["", ""]
        rows.append(cells)
    device = f"{first.n:,} elements".replace(",", " ")
    lines = [
        f"# {assignment.title}, in counters",
        "",
        f"The reference solution's rungs on {device}, all passes of a rung together, as the virtual GPU counts them on",
        f"the profile `h200`. The figures were the same with {_listed(threads)} CPU threads. The published times are",
        "the course's, on a GeForce 8800 GTX of 2006.",
        "",
        f"Made by `{command}`; the tests check that it is up to date.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "|".join(["---", *["---:"] * (len(head) - 1)]) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]
    return "\n".join(lines)


def _listed(numbers: Sequence[int]) -> str:
    words = [str(number) for number in numbers]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
