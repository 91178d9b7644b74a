"""What submissions of one assignment are graded with: suite, reference, settings, and their hashes."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from grader.base.errors import GraderError, InfrastructureError
from grader.base.files import sha256_bytes, sha256_file, sha256_files
from grader.base.layout import KERNELS, Layout
from grader.base.numba_python import find_numba_python
from grader.base.toolchain import Toolchain
from grader.model.assignment import Assignment
from grader.model.assignment_parts import judged_part, scored_part
from grader.running.build import Built, Order, build_worker
from grader.running.gpu_gate import GATE, GpuGate
from grader.running.run import RunSettings, Suite, list_suite, measure_suite

FIGURES = "figures.json"  # a suite's counters of the reference

Build = Callable[[Order, threading.Event | None], Built]  # `build_worker`, or a caching version of it


@dataclass(frozen=True)
class Bench:
    """Everything needed to grade the submissions of one assignment."""

    layout: Layout
    toolchain: Toolchain
    assignment: Assignment
    suite: Suite
    reference: "Reference"
    settings: RunSettings
    hashes: dict[str, str]
    work: Path
    build: Build
    gpu: GpuGate = GATE
    flags: tuple[str, ...] = ()  # for the suite, besides those derived from the settings
    headers: str = ""  # the texts of the assignment's headers, which submissions may include


def prepare(
    layout: Layout,
    toolchain: Toolchain,
    assignment: Assignment,
    settings: RunSettings,
    work: Path,
    stop: threading.Event,
    build: Build = build_worker,
) -> Bench:
    """Lists the suite's tests and hashes everything a grade depends on; raises GraderError if the suite doesn't run."""
    try:
        suite = list_suite(layout, assignment)
    except InfrastructureError as error:
        # The judge also reads assignment.toml, and reports errors in its metrics.
        again = "" if assignment.path.name in str(error) else "\nType:  make build"
        raise GraderError(f"{error}{again}") from error
    reference = Reference(layout, toolchain, assignment, settings, work, stop, build)
    library = sha256_files([*layout.worker_parts, *layout.build_files])
    python = find_numba_python(layout).versions if assignment.needs_numba else ""
    hashes = {
        "suite": sha256_file(suite.path),
        "library": sha256_bytes(f"{library} {python}".encode()) if python else library,
        "assignment": _hash_of_assignment(layout, assignment),
        "reference": sha256_file(reference.source) if reference.source.is_file() else "",
        "scoring": sha256_bytes(scored_part(assignment.path)),
    }
    headers = "".join(path.read_text("utf-8", "replace") for path in sorted(assignment.path.parent.glob("*.h")))
    return Bench(
        layout, toolchain, assignment, suite, reference, settings, hashes, work, build, headers=headers
    )  # fmt: skip


def _hash_of_assignment(layout: Layout, assignment: Assignment) -> str:
    """A hash of the assignment's inputs to a run: headers, glue, and the judge's part of assignment.toml."""
    folder = assignment.path.parent
    headers = [path for path in (*folder.glob("*.h"), folder / KERNELS) if path.is_file()]
    glue = [path for path in (layout.glue(assignment.id), layout.compiled_glue(assignment.id)) if path.is_file()]
    return sha256_bytes(sha256_files([*headers, *glue]).encode() + judged_part(assignment.path))


class Reference:
    """The reference's worker, built on first use: a run that finds everything in the journal never builds it."""

    def __init__(
        self,
        layout: Layout,
        toolchain: Toolchain,
        assignment: Assignment,
        settings: RunSettings,
        work: Path,
        stop: threading.Event,
        build: Build,
    ) -> None:
        self._builder = build
        self._layout = layout
        self._toolchain = toolchain
        self._assignment = assignment
        self._sandboxed = settings.sandboxed
        self._folder = work / f"reference-{assignment.id}"
        self._stop = stop
        self._lock = threading.Lock()
        self._worker: Path | None = None
        self._figures: Path | None = None

    @property
    def source(self) -> Path:
        """The solution's file."""
        return self._layout.reference(self._assignment.id) / self._assignment.submission

    def worker(self) -> Path | None:
        """The built worker; None if there is no reference.

        Raises GraderError if it doesn't build: then no submission would.
        """
        with self._lock:
            if self._worker is None and self.source.is_file():
                self._worker = self._build()
            return self._worker

    def figures(self, bench: Bench) -> Path | None:
        """A file with the reference's counters, measured once so that it need not run with each submission.

        None if there is no reference, or nothing to compare with it. Raises InfrastructureError if measuring fails.
        """
        worker = self.worker()
        if worker is None or not self._assignment.n:
            return None
        with self._lock:
            if self._figures is None:
                folder = self._folder / "figures"
                folder.mkdir(parents=True, exist_ok=True)
                record = folder / FIGURES
                record.unlink(missing_ok=True)
                measure_suite(
                    self._layout, self._toolchain, self._assignment, bench.suite, worker, folder,
                    replace(bench.settings, device="vgpu", rung=""), stop=self._stop, flags=[f"--record={record}"],
                )  # fmt: skip
                if not record.is_file():
                    raise InfrastructureError("the suite recorded no figures of the reference")
                self._figures = record
            return self._figures

    def _build(self) -> Path:
        try:
            source = self.source.read_bytes()
            order = Order(self._layout, self._toolchain, self._assignment, source, self._folder, self._sandboxed)
            built = self._builder(order, self._stop)
            problem = built.message
        except InfrastructureError as error:
            built, problem = None, str(error)
        if built is None or built.worker is None:
            raise GraderError(
                f"the reference solution {self.source} does not build, so no submission would:\n{problem}\n"
                "Type:  make build      and try again"
            )
        return built.worker
