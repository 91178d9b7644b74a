"""The run of one submission: build, run on one device or both, score. It knows no journal and no other submission.

With a GPU each submission's suite runs three times: on the virtual GPU and then on the GPU, in parallel with others',
and a third time to measure the rungs that are right on both, while nothing else is on the GPU. The first of these may
run on a different machine from the other two (`first_half`, `second_half`).
"""

import errno
import os
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, TypeVar

from grader.base.errors import GraderError, InfrastructureError, OverrunError
from grader.base.names import fingerprint, shown, shown_block
from grader.base.process import CancelledError
from grader.base.storage import storage_problem
from grader.model.discovery import Submission
from grader.model.record import GRADED, MISSING, NOT_GRADED, Record
from grader.model.result import SuiteResult, TestResult
from grader.model.score import Score, score_nothing, score_result
from grader.running import devices
from grader.running.bench import Bench
from grader.running.build import Built, Order
from grader.running.keys import identity, provenance_of, run_key_of
from grader.running.machine_paths import MachinePaths
from grader.running.progress import Progress
from grader.running.run import PartialResultError, RunSettings, in_order, run_suite
from grader.running.store import Asked, gpu_key

_Outcome = TypeVar("_Outcome")
RETRIES = 2
_SHORT = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)  # shortages that may end soon
_PAUSE_SECONDS = 1.0  # wait for such resources


@dataclass(frozen=True)
class Task:
    """A run that is not in the journal: its submission, its bench, and the key for its result.

    `asked` is the regrade that it belongs to, `command` the command that repeats it.
    """

    bench: Bench
    submission: Submission
    key: str
    asked: Asked
    command: str

    @property
    def name(self) -> str:
        """Unique per submission; identical files share a key but may run concurrently."""
        return f"{self.key[:24]}-{fingerprint(self.submission.folder)}"

    @property
    def work(self) -> Path:
        """The folder for building and running it."""
        return self.bench.work / self.name


class Tests(Protocol):
    """Stores the finished tests of an incomplete run, so that an interrupted one can continue."""

    def tests(self, folder: str, key: str) -> list[TestResult]:
        """Test results of an interrupted run."""

    def add_tests(self, folder: str, key: str, tests: Sequence[TestResult]) -> None:
        """Stores finished test results."""


@dataclass(frozen=True)
class Half:
    """The virtual GPU's results for a submission still to run on a GPU, and its worker."""

    worker: Path
    virtual: SuiteResult


def without_run(task: Task) -> Record:
    """The record of a submission without a file to run."""
    submission = task.submission
    verdict = ("REJECTED", "was not accepted") if submission.refused else ("MISSING", "nothing to test")
    return _record(task, GRADED if submission.refused else MISSING, submission.problem, _nothing(task, *verdict))


def not_graded(task: Task, message: str) -> Record:
    """The record of a run that failed through no fault of the submission."""
    return _record(task, NOT_GRADED, message, None)


def run_task(task: Task, tests: Tests, progress: Progress, stop: threading.Event) -> Record:
    """Builds and runs a submission. Harness failures are retried, then recorded.

    Raises CancelledError if `stop` is set, and GraderError if no submission could be graded.
    """
    run = _Run(task, tests, progress, stop)
    return run.tried(run.whole)


def first_half(task: Task, tests: Tests, progress: Progress, stop: threading.Event) -> Record | Half:
    """Does the part of `run_task` that needs no GPU; returns a record if that is all, as after a compile error."""
    run = _Run(task, tests, progress, stop)
    return run.tried(run.first)


def second_half(task: Task, half: Half, tests: Tests, progress: Progress, stop: threading.Event) -> Record:
    """The part of the work that needs a GPU."""
    run = _Run(task, tests, progress, stop)
    return run.tried(lambda attempt: run.second(half, attempt))


def _nothing(task: Task, verdict: str, detail: str) -> Score:
    return score_nothing(task.bench.assignment, verdict, detail, on_gpu=task.bench.settings.on_gpu)


def _record(task: Task, status: str, message: str, score: Score | None, result: SuiteResult | None = None) -> Record:
    bench, submission, asked = task.bench, task.submission, task.asked
    paths = MachinePaths(bench.layout, bench.toolchain, _folder(task) / "src", bench.work)
    return Record(
        assignment=bench.assignment.id,
        folder=submission.folder,
        student=submission.student,
        key=task.key,
        run=run_key_of(bench, submission),
        status=status,
        message=shown_block(paths.hide(message), 1 << 17),
        score=score,
        result=paths.hide_in(result) if result else None,
        source=(submission.source or b"").decode("utf-8", "replace"),
        provenance=provenance_of(bench, submission, task.command),
        graded_at=datetime.now(UTC).isoformat(timespec="seconds"),
        handed=submission.handed,
        regrade=asked.number,
        reason=asked.reason,
        staff=asked.staff,
    )


def _folder(task: Task) -> Path:
    return task.work / str(os.getpid())


def _unexpected(error: Exception) -> str:
    """The error, and where in the grader it occurred, for a bug report."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    said = shown(f"{type(error).__name__}: {error}", 300)
    return f"the grader itself failed: {said} (in {Path(at.filename).name}, line {at.lineno})"


def _again(stage: str, attempt: int) -> str:
    return f"{stage} again" if attempt else stage


class _Run:
    """The run of one submission."""

    def __init__(self, task: Task, tests: Tests, progress: Progress, stop: threading.Event) -> None:
        self._task = task
        self._bench = task.bench
        self._submission = task.submission
        self._tests = tests
        self._progress = progress
        self._stop = stop
        self._kept: set[tuple[str, str]] = set()  # stored tests, by key and name
        self._settings = self._bench.settings.for_source(
            self._bench.assignment.id, identity(self._bench, self._submission)
        )

    def tried(self, work: Callable[[int], _Outcome]) -> _Outcome | Record:
        """Calls `work` with the number of the attempt, retrying harness failures."""
        if self._stop.is_set():
            raise CancelledError
        self._bench.reference.worker()  # first, so that a later build failure is the submission's fault
        failure = ""
        partial: SuiteResult | None = None
        for attempt in range(1 + RETRIES):
            try:
                return work(attempt)
            except OverrunError as error:
                score = _nothing(self._task, "REJECTED", "uses too much of the judge's memory or time")
                return _record(self._task, GRADED, str(error), score)
            except InfrastructureError as error:
                failure = str(error)
                partial = error.result if isinstance(error, PartialResultError) else partial
            except (CancelledError, GraderError):
                raise
            except (
                Exception
            ) as error:  # no processes or memory left, or a bug in the grader: the others are still graded
                if isinstance(error, OSError) and error.errno not in _SHORT and storage_problem(error):
                    raise  # no other result could be stored either
                failure = _unexpected(error)
                self._stop.wait(_PAUSE_SECONDS * attempt)
        return _record(self._task, NOT_GRADED, f"Tried {1 + RETRIES} times: {failure}", None, partial)

    def whole(self, attempt: int) -> Record:
        """Runs both parts."""
        worker = self._built(attempt)
        if isinstance(worker, Record):
            return worker
        settings = self._settings
        if not settings.on_gpu:
            return self._scored(self._run_on(worker, settings, _again("running", attempt), self._task.key))
        virtual = None if settings.alone else self._on_virtual(worker, attempt)
        return self._scored(self._on_gpu(worker, virtual, attempt))

    def first(self, attempt: int) -> Record | Half:
        """Runs the part that needs no GPU."""
        worker = self._built(attempt)
        return worker if isinstance(worker, Record) else Half(worker, self._on_virtual(worker, attempt))

    def second(self, half: Half, attempt: int) -> Record:
        """Runs the part that needs a GPU."""
        return self._scored(self._on_gpu(half.worker, half.virtual, attempt))

    def _scored(self, result: SuiteResult) -> Record:
        return _record(self._task, GRADED, "", score_result(self._bench.assignment, result), result)

    def _built(self, attempt: int) -> Path | Record:
        """The worker, or a record if the file does not compile or is not accepted."""
        built = self._build(attempt)
        if built.worker is not None and not built.refused:
            return built.worker
        why = ("REJECTED", "is not accepted") if built.refused else ("COMPILE", "does not compile")
        return _record(self._task, GRADED, built.message, _nothing(self._task, *why))

    def _build(self, attempt: int) -> Built:
        self._progress.on_stage(self._submission, "building" if attempt == 0 else "building again")
        assert self._submission.source is not None  # noqa: S101
        bench = self._bench
        edits = bench.assignment.edits
        if edits and (why_not := edits.refusal(self._submission.source, bench.assignment.submission)):
            return Built(None, why_not, 0.0, refused=True)
        order = Order(
            bench.layout,
            bench.toolchain,
            bench.assignment,
            self._submission.source,
            _folder(self._task),
            bench.settings.sandboxed,
        )
        return bench.build(order, self._stop)

    def _on_virtual(self, worker: Path, attempt: int) -> SuiteResult:
        settings = replace(self._settings, device="vgpu")
        return self._run_on(worker, settings, _again("running", attempt), self._task.key)

    def _on_gpu(self, worker: Path, virtual: SuiteResult | None, attempt: int) -> SuiteResult:
        settings, key = self._settings, gpu_key(self._task.key)
        self._progress.on_stage(self._submission, "waiting for the GPU")
        with self._bench.gpu.tests():
            gpu = self._run_on(worker, settings, _again("on the GPU", attempt), key)
        times = self._rungs_to_time((*gpu.tests, *(virtual.tests if virtual else ())))
        if times:
            self._progress.on_stage(self._submission, "waiting for the GPU alone")
            with self._bench.gpu.times():
                timed = self._run_on(worker, replace(settings, times=times), _again("timed", attempt), key)
            gpu = replace(gpu, timings=timed.timings)
        return devices.merge(virtual, gpu) if virtual else devices.alone(gpu)

    def _rungs_to_time(self, tests: Sequence[TestResult]) -> tuple[str, ...]:
        """The timed rungs whose results are right: a wrong result's time counts for nothing."""
        wrong = {test.rung for test in tests if test.verdict != "PASS"}
        only = self._bench.settings.rung
        rungs = [criterion.rung for criterion in self._bench.assignment.criteria if criterion.timing]
        return tuple(dict.fromkeys(rung for rung in rungs if rung not in wrong and only in ("", rung)))

    def _run_on(self, worker: Path, settings: RunSettings, stage: str, key: str) -> SuiteResult:
        if self._stop.is_set():
            raise CancelledError
        self._progress.on_stage(self._submission, stage)
        bench = self._bench
        done = self._tests.tests(self._submission.folder, key)
        result = run_suite(
            bench.layout,
            bench.toolchain,
            bench.assignment,
            bench.suite,
            worker,
            bench.reference.worker() if settings.on_gpu else None,  # there it is timed alongside each submission
            _folder(self._task),
            settings,
            done=in_order(bench.suite, done),
            on_tests=lambda tests: self._ended(tests, len(done), key),
            stop=self._stop,
            figures=None if settings.on_gpu else bench.reference.figures(bench),
            flags=bench.flags,
        )
        self._ended(result.tests, 0, key)  # all of them: the other device's run, or a time, may have to be done again
        return result

    def _ended(self, tests: Sequence[TestResult], before: int, key: str) -> None:
        # The next run measures evidence again, so these results are not stored with the tests.
        kept = [
            test
            for test in tests
            if not test.is_evidence and test.verdict != "HARNESS" and (key, test.name) not in self._kept
        ]
        if kept:
            self._tests.add_tests(self._submission.folder, key, kept)
            self._kept.update((key, test.name) for test in kept)
        self._progress.on_tests(self._submission, before + len(tests), len(self._bench.suite.tests))
