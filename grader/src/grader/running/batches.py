"""Grades the submissions of several assignments: all in one queue, so that no processor waits for the rest of a batch.

An assignment's reference is built and measured before its submissions, while those of assignments before it run. There
is work at any time until the last submissions are at work: as many references are ready ahead as there are jobs.

What has to be run goes to an executor. The journal is read and written here alone, in one thread.
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
    """The submissions of one assignment, what they are graded with, and who hears of it.

    `command` repeats the run. `then` gets the results, outlines in the order of `submissions`, when all are there.
    """

    bench: Bench
    submissions: Sequence[Submission]
    progress: Progress
    command: str
    then: Callable[[list[Record]], None] = lambda _: None


def grade_batches(batches: Sequence[Batch], journal: Journal, executor: Executor) -> list[list[Record]]:
    """Grades all submissions, each result in the journal as soon as it is there.

    Those of the first batch go first. Of those with the same code one is graded, and the others get its result: they
    have the seed in common too. Gives the results of each batch. Raises GraderError where a reference doesn't build,
    because no submission of its assignment would.
    """
    all_at_work = [_AtWork(batch, place, journal, executor) for place, batch in enumerate(batches)]
    for place, one in enumerate(all_at_work):
        # Before the submissions of the batch that is `ahead` places before it: it was added before them.
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

        Raises GraderError where it doesn't build. That it can't be measured is told with each submission.
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
        for copy in copies:  # of which the last one may be there at once: the results are told once
            self._add(copy)

    def records(self) -> list[Record]:
        """The results in the order of the submissions."""
        return [self._records[index] for index in range(len(self._batch.submissions))]
