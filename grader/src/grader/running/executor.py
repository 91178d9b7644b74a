"""Where submissions are run: on this machine, or by what `grader.cluster` hands them to."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar

from grader.base.jobs import Jobs
from grader.model.record import Record
from grader.running.grading import Task, Tests, run_task
from grader.running.progress import Progress

_T = TypeVar("_T")


class Executor(Protocol):
    """Takes tasks, and gives their records. What follows a record or a piece of work runs in the thread of `run`.

    `ahead` is how many assignments are to be made ready before their turn.
    """

    ahead: int

    def add(self, task: Task, progress: Progress, then: Callable[[Record], None], rank: int) -> None:
        """Takes a task, behind all with its rank or a lower one; `then` gets its record."""

    def add_here(self, work: Callable[[], _T], then: Callable[[_T], None], rank: int) -> None:
        """Takes work that tasks wait for, and that is done on this machine."""

    def run(self) -> None:
        """Returns when nothing is left to do; raises the first error."""


class LocalExecutor:
    """Runs submissions on this machine, several at a time."""

    def __init__(self, jobs: int, tests: Tests, stop: threading.Event) -> None:
        """`tests` keeps those that have ended. `stop` ends all that is at work, and is set on any error."""
        self._queue = Jobs(jobs, stop)
        self._tests = tests
        self._stop = stop
        self.ahead = jobs

    def add(self, task: Task, progress: Progress, then: Callable[[Record], None], rank: int) -> None:
        """Takes a task."""
        self._queue.add(partial(run_task, task, self._tests, progress, self._stop), then, rank)

    def add_here(self, work: Callable[[], _T], then: Callable[[_T], None], rank: int) -> None:
        """Takes work that tasks wait for."""
        self._queue.add(work, then, rank)

    def run(self) -> None:
        """Returns when the queue is empty; raises the first error."""
        self._queue.run()
