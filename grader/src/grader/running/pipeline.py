"""Grades a class: the steps for one submission, and all submissions in parallel.

For each submission: key → journal? → build → run → score → journal. The work folder of a submission is named by its
key and is removed when the result is in the journal. Threads only wait for compilers and suites, which are processes.

With a GPU each submission's suite runs three times: on the virtual GPU and then on the GPU, in parallel with others',
and a third time to measure the rungs that are right on both, while nothing else is on the GPU.
"""

import contextlib
import errno
import fcntl
import os
import shlex
import shutil
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from grader.base.errors import GraderError, InfrastructureError, OverrunError
from grader.base.jobs import Jobs
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
from grader.running.changes import changes
from grader.running.keys import identity, provenance_of, run_key_of
from grader.running.machine_paths import MachinePaths
from grader.running.regrades import turn_of
from grader.running.reuse import reused
from grader.running.run import PartialResultError, RunSettings, in_order, run_suite
from grader.running.store import Asked, Journal, gpu_key

_RETRIES = 2
_SHORT = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)  # of what others may soon give back
_PAUSE_SECONDS = 1.0  # for what is short to be there again


class Progress(Protocol):
    """Who watches the grading. Calls come from several threads."""

    def on_stage(self, submission: Submission, stage: str) -> None:
        """A submission enters a stage: building, running, retrying."""

    def on_tests(self, submission: Submission, ended: int, total: int) -> None:
        """So many of its tests have ended."""

    def on_record(self, record: Record, *, cached: bool) -> None:
        """A submission is done; `cached` where the journal had it already."""


class Quiet:
    """A watcher that says nothing."""

    def on_stage(self, submission: Submission, stage: str) -> None:
        """Nothing."""

    def on_tests(self, submission: Submission, ended: int, total: int) -> None:
        """Nothing."""

    def on_record(self, record: Record, *, cached: bool) -> None:
        """Nothing."""


@contextlib.contextmanager
def only_grader(out: Path) -> Any:
    """Holds the output folder's lock; raises GraderError where another grader holds it."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise GraderError(
                f"another grader is running in {out}.\nWait for it, or choose another folder with --out DIR"
            ) from None
        yield


def grade_class(
    bench: Bench,
    submissions: Sequence[Submission],
    journal: Journal,
    progress: Progress,
    *,
    jobs: int,
    command: str,
    stop: threading.Event,
    after: Callable[[], None] | None = None,
) -> list[Record]:
    """Grades all submissions, `jobs` at a time, each result in the journal before the next begins in its place.

    `after` is called once the last one has begun: while it is graded, the other threads have nothing else to do.

    Of those with the same code one is graded, and the others get its result: they have the seed in common too. Results
    come as outlines in the order of `submissions`. `stop` may be set from outside, and is set on any error.
    """
    records: dict[int, Record] = {}
    queue = Jobs(jobs, stop)

    def add(index: int, copies: Sequence[int] = ()) -> None:
        def graded(record: Record) -> None:
            records[index] = record.outline()
            for copy in copies:
                add(copy)

        work = partial(grade_one, bench, submissions[index], journal, progress, command, stop, may_reuse=True)
        queue.add(work, graded)

    runs: dict[str | int, list[int]] = {}
    for index, submission in enumerate(submissions):
        runs.setdefault(run_key_of(bench, submission) if submission.source is not None else index, []).append(index)
    for first, *copies in runs.values():
        add(first, copies)
    if after is not None:
        queue.add(after, lambda _: None)
    queue.run()
    return [records[index] for index in range(len(submissions))]


def make_ready(bench: Bench, submissions: Sequence[Submission], journal: Journal) -> None:
    """Builds and measures the reference if there is one to grade. What fails is told when one is graded."""
    if not any(change.is_run for change in changes(bench, submissions, journal)):
        return
    with contextlib.suppress(GraderError, InfrastructureError):
        bench.reference.worker()
        bench.reference.figures(bench)


def grade_one(
    bench: Bench,
    submission: Submission,
    journal: Journal,
    progress: Progress,
    command: str,
    stop: threading.Event,
    *,
    may_reuse: bool = False,
) -> Record:
    """Grades one submission, or finds it in the journal; with `may_reuse`, a run of the same code serves it too.

    What a person asked to be graded again is run. Until that comes to an end, the result before it counts.
    """
    if stop.is_set():
        raise CancelledError
    turn = turn_of(bench, submission, journal)
    own = _command(command, submission)
    again: Record | None = None
    if turn.asked is not None:
        again = _Grading(bench, submission, journal, progress, own, stop, turn.asked_key, turn.asked).record()
        _keep(bench, journal, progress, again)
        if again.is_final:
            return again
    known = journal.find(bench.assignment.id, submission.folder, turn.key)
    if known is not None:
        # The roster may have changed meanwhile, and what the platform says of the hand-in.
        known = replace(known, student=submission.student, handed=submission.handed)
        if again is None:
            progress.on_record(known, cached=True)
        return known
    record = reused(bench, submission, journal, turn.key, own, turn.regrade) if may_reuse else None
    if record is None and again is not None:
        return again  # it has just been tried
    if record is None:
        counted = Asked(turn.regrade, "", "")  # another file with the same code
        record = _Grading(bench, submission, journal, progress, own, stop, turn.key, counted).record()
    _keep(bench, journal, progress, record)
    return record


def _keep(bench: Bench, journal: Journal, progress: Progress, record: Record) -> None:
    journal.add(record)
    shutil.rmtree(_work_folder(bench, record.folder, record.key), ignore_errors=True)
    progress.on_record(record, cached=False)


def _command(command: str, submission: Submission) -> str:
    return f"{command} --only {shlex.quote(submission.folder)}"


def _work_folder(bench: Bench, folder: str, key: str) -> Path:
    """One's own: two who hand in the same file have the same key, and may be graded side by side."""
    return bench.work / f"{key[:24]}-{fingerprint(folder)}"


def _unexpected(error: Exception) -> str:
    """What happened, and where in the grader, for whoever reports it."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    said = shown(f"{type(error).__name__}: {error}", 300)
    return f"the grader itself failed: {said} (in {Path(at.filename).name}, line {at.lineno})"


class _Grading:
    """The grading of one submission that the journal doesn't have."""

    def __init__(
        self,
        bench: Bench,
        submission: Submission,
        journal: Journal,
        progress: Progress,
        command: str,
        stop: threading.Event,
        key: str,
        asked: Asked,
    ) -> None:
        self._bench = bench
        self._submission = submission
        self._journal = journal
        self._progress = progress
        self._command = command
        self._stop = stop
        self._key = key
        self._asked = asked
        self._kept: set[tuple[str, str]] = set()  # tests in the journal, by key and name
        self._settings = bench.settings.for_source(bench.assignment.id, identity(bench, submission))

    def record(self) -> Record:
        self._bench.reference.worker()  # first: what doesn't build after it is the submission's fault
        assignment = self._bench.assignment
        submission = self._submission
        if submission.source is None:
            if submission.refused:
                return self._made(GRADED, submission.problem, self._nothing("REJECTED", "was not accepted"))
            return self._made(MISSING, submission.problem, self._nothing("MISSING", "nothing to test"))
        failure = ""
        partial: SuiteResult | None = None
        for attempt in range(1 + _RETRIES):
            try:
                built = self._build(attempt)
                if built.worker is None or built.refused:
                    why = ("REJECTED", "uses a library") if built.refused else ("COMPILE", "does not compile")
                    return self._made(GRADED, built.message, self._nothing(*why))
                result = self._run(built.worker, attempt)
                return self._made(GRADED, "", score_result(assignment, result), result)
            except OverrunError as error:
                return self._made(
                    GRADED, str(error), self._nothing("REJECTED", "uses too much of the judge's memory or time")
                )
            except InfrastructureError as error:
                failure = str(error)
                partial = error.result if isinstance(error, PartialResultError) else partial
            except (CancelledError, GraderError):
                raise
            except (
                Exception
            ) as error:  # no processes or memory left, a mistake of ours: the others are graded all the same
                if isinstance(error, OSError) and error.errno not in _SHORT and storage_problem(error):
                    raise  # nobody else's result could be kept either
                failure = _unexpected(error)
                self._stop.wait(_PAUSE_SECONDS * attempt)
        return self._made(NOT_GRADED, f"Tried {1 + _RETRIES} times: {failure}", None, partial)

    def _nothing(self, verdict: str, detail: str) -> Score:
        bench = self._bench
        return score_nothing(bench.assignment, verdict, detail, on_gpu=bench.settings.on_gpu)

    def _build(self, attempt: int) -> Built:
        self._progress.on_stage(self._submission, "building" if attempt == 0 else "building again")
        assert self._submission.source is not None  # noqa: S101
        bench = self._bench
        order = Order(
            bench.layout,
            bench.toolchain,
            bench.assignment,
            self._submission.source,
            self._folder(),
            bench.settings.sandboxed,
        )
        return bench.build(order, self._stop)

    def _run(self, worker: Path, attempt: int) -> SuiteResult:
        again = " again" if attempt else ""
        settings = self._settings
        if not settings.on_gpu:
            return self._run_on(worker, settings, f"running{again}", self._key)
        virtual = None
        if not settings.alone:
            virtual = self._run_on(worker, replace(settings, device="vgpu"), f"running{again}", self._key)
        self._progress.on_stage(self._submission, "waiting for the GPU")
        with self._bench.gpu.tests():
            gpu = self._run_on(worker, settings, f"on the GPU{again}", gpu_key(self._key))
        times = self._rungs_to_time((*gpu.tests, *(virtual.tests if virtual else ())))
        if times:
            self._progress.on_stage(self._submission, "waiting for the GPU alone")
            with self._bench.gpu.times():
                timed = self._run_on(worker, replace(settings, times=times), f"timed{again}", gpu_key(self._key))
            gpu = replace(gpu, timings=timed.timings)
        return devices.merge(virtual, gpu) if virtual else devices.alone(gpu)

    def _rungs_to_time(self, tests: Sequence[TestResult]) -> tuple[str, ...]:
        """Those with a timed criterion that are right: a wrong result's time counts for nothing."""
        wrong = {test.rung for test in tests if test.verdict != "PASS"}
        only = self._bench.settings.rung
        rungs = [criterion.rung for criterion in self._bench.assignment.criteria if criterion.timing]
        return tuple(dict.fromkeys(rung for rung in rungs if rung not in wrong and only in ("", rung)))

    def _run_on(self, worker: Path, settings: RunSettings, stage: str, key: str) -> SuiteResult:
        if self._stop.is_set():
            raise CancelledError
        self._progress.on_stage(self._submission, stage)
        bench = self._bench
        done = self._journal.tests(self._submission.folder, key)
        result = run_suite(
            bench.layout,
            bench.toolchain,
            bench.assignment,
            bench.suite,
            worker,
            bench.reference.worker() if settings.on_gpu else None,  # it is timed beside each there
            self._folder(),
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
        # Evidence is measured anew by the next run: its measurements stand in the result beside the tests.
        kept = [
            test
            for test in tests
            if not test.is_evidence and test.verdict != "HARNESS" and (key, test.name) not in self._kept
        ]
        if kept:
            self._journal.add_tests(self._submission.folder, key, kept)
            self._kept.update((key, test.name) for test in kept)
        self._progress.on_tests(self._submission, before + len(tests), len(self._bench.suite.tests))

    def _folder(self) -> Path:
        return _work_folder(self._bench, self._submission.folder, self._key) / str(os.getpid())

    def _made(self, status: str, message: str, score: Score | None, result: SuiteResult | None = None) -> Record:
        bench = self._bench
        source = self._submission.source or b""
        paths = MachinePaths(bench.layout, bench.toolchain, self._folder() / "src", bench.work)
        return Record(
            assignment=bench.assignment.id,
            folder=self._submission.folder,
            student=self._submission.student,
            key=self._key,
            run=run_key_of(bench, self._submission),
            status=status,
            message=shown_block(paths.hide(message), 1 << 17),
            score=score,
            result=paths.hide_in(result) if result else None,
            source=source.decode("utf-8", "replace"),
            provenance=provenance_of(bench, self._submission, self._command),
            graded_at=datetime.now(UTC).isoformat(timespec="seconds"),
            handed=self._submission.handed,
            regrade=self._asked.number,
            reason=self._asked.reason,
            staff=self._asked.staff,
        )
