"""Grades the submissions of several assignments from one queue, so that no processor idles at the end of a batch.

An assignment's reference is built and measured before its submissions, while those of earlier assignments run. To keep
all processors busy, as many references are prepared ahead as there are jobs.

Runs go to an executor. The journal is read and written only here, in one thread.
"""

import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from grader.base.errors import InfrastructureError
from grader.model.discovery import Submission
from grader.model.record import Record
from grader.running.bench import Bench
from grader.running.changes import changes
from grader.running.executor import Executor, LocalExecutor
from grader.running.grading import Task
from grader.running.keys import run_key_of
from grader.running.pipeline import Desk
from grader.running.progress import Progress
from grader.running.store import Journal


@dataclass(frozen=True)
class Batch:
    """The submissions of one assignment, their bench, and the observer of their progress.

    `command` repeats the run. `then` gets the results as outlines, in the order of `submissions`, when all are done.
    """

    bench: Bench
    submissions: Sequence[Submission]
    progress: Progress
    command: str
    then: Callable[[list[Record]], None] = lambda _: None


def grade_batches(batches: Sequence[Batch], journal: Journal, executor: Executor) -> list[list[Record]]:
    """Grades all submissions, and stores each result in the journal at once.

    Batches are graded in order. If submissions have the same code, and hence the same seed, one is run and the
    others share its result. Returns the results of each batch. Raises GraderError if a reference doesn't build,
    because no submission of its assignment would.
    """
    all_at_work = [_AtWork(batch, place, journal, executor) for place, batch in enumerate(batches)]
    for place, one in enumerate(all_at_work):
        # Runs before the submissions of the batch `ahead` places earlier, because it was queued first.
        executor.add_here(one.make_ready, one.begin, place - executor.ahead)
    executor.run()
    return [one.records() for one in all_at_work]


def grade_class(
    bench: Bench,
    submissions: Sequence[Submission],
    journal: Journal,
    progress: Progress,
    *,
    jobs: int,
    command: str,
    stop: threading.Event,
) -> list[Record]:
    """Grades submissions of one assignment on this machine, `jobs` at a time, as `grade_batches` does."""
    executor = LocalExecutor(jobs, journal, stop)
    return grade_batches([Batch(bench, submissions, progress, command)], journal, executor)[0]


class _AtWork:
    """A batch and the results that have arrived."""

    def __init__(self, batch: Batch, place: int, journal: Journal, executor: Executor) -> None:
        self._batch = batch
        self._place = place
        self._journal = journal
        self._executor = executor
        self._desk = Desk(batch.bench, journal, batch.progress, batch.command, may_reuse=True)
        self._records: dict[int, Record] = {}

    def make_ready(self) -> None:
        """Builds and measures the reference if there is a submission to run.

        Raises GraderError if it doesn't build. If it can't be measured, each submission reports that.
        """
        bench = self._batch.bench
        if any(change.is_run for change in changes(bench, self._batch.submissions, self._journal)):
            bench.reference.worker()
            with contextlib.suppress(InfrastructureError):
                bench.reference.figures(bench)

    def begin(self, _: None) -> None:
        """Puts the submissions into the queue."""
        batch = self._batch
        runs: dict[str | int, list[int]] = {}
        for index, submission in enumerate(batch.submissions):
            run = run_key_of(batch.bench, submission) if submission.source is not None else index
            runs.setdefault(run, []).append(index)
        for first, *copies in runs.values():
            self._add(first, copies)
        if not runs:
            batch.then([])

    def _add(self, index: int, copies: Sequence[int] = ()) -> None:
        found = self._desk.begin(self._batch.submissions[index])
        if isinstance(found, Task):
            then = partial(self._ended, index, copies, found)
            self._executor.add(found, self._batch.progress, then, self._place)
        else:
            self._graded(index, copies, found)

    def _ended(self, index: int, copies: Sequence[int], task: Task, record: Record) -> None:
        self._graded(index, copies, self._desk.end(task, record))

    def _graded(self, index: int, copies: Sequence[int], record: Record) -> None:
        self._records[index] = record.outline()
        if len(self._records) == len(self._batch.submissions):
            self._batch.then(self.records())
        for copy in copies:  # the last of them may complete the batch: report the results only once
            self._add(copy)

    def records(self) -> list[Record]:
        """The results in the order of the submissions."""
        return [self._records[index] for index in range(len(self._batch.submissions))]
