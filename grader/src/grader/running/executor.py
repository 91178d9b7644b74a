"""Where submissions run: on this machine, or on a cluster through `grader.cluster`."""

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
    """Runs tasks and returns their records. Callbacks run in the thread that called `run`.

    `ahead` is how many assignments to prepare before their turn.
    """

    ahead: int

    def add(self, task: Task, progress: Progress, then: Callable[[Record], None], rank: int) -> None:
        """Queues a task after all with the same or a lower rank; `then` gets its record."""

    def add_here(self, work: Callable[[], _T], then: Callable[[_T], None], rank: int) -> None:
        """Queues work that tasks wait for and that runs on this machine."""

    def run(self) -> None:
        """Returns when nothing is left to do; raises the first error."""


class LocalExecutor:
    """Runs submissions on this machine, several at a time."""

    def __init__(self, jobs: int, tests: Tests, stop: threading.Event) -> None:
        """`tests` stores finished tests. `stop` ends all running work, and is set on any error."""
        self._queue = Jobs(jobs, stop)
        self._tests = tests
        self._stop = stop
        self.ahead = jobs

    def add(self, task: Task, progress: Progress, then: Callable[[Record], None], rank: int) -> None:
        """Queues a task."""
        self._queue.add(partial(run_task, task, self._tests, progress, self._stop), then, rank)

    def add_here(self, work: Callable[[], _T], then: Callable[[_T], None], rank: int) -> None:
        """Queues work that tasks wait for."""
        self._queue.add(work, then, rank)

    def run(self) -> None:
        """Returns when the queue is empty; raises the first error."""
        self._queue.run()
