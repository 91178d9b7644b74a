"""The interface to a cluster's scheduler. `grader.cluster.slurm` implements it for Slurm; the benchmark has a fake."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

PENDING, RUNNING, ENDED, CANCELLED = "pending", "running", "ended", "cancelled"


class BusyError(Exception):
    """The scheduler does not answer now, but may later."""


@dataclass(frozen=True)
class Element:
    """One task of an array: the array, its index, its state, and its node.

    `state` and `job` are in the scheduler's own terms. It may have forgotten a task that ended a while ago.
    """

    array: str
    index: int
    phase: str
    node: str = ""
    state: str = ""
    job: str = ""

    @property
    def is_live(self) -> bool:
        """Whether it is waiting or running."""
        return self.phase in (PENDING, RUNNING)


class Scheduler(Protocol):
    """Runs arrays of batches. Methods raise BusyError if the scheduler does not answer, else GraderError."""

    def submit(self, part: str, array: str, batches: Sequence[str], excluded: Collection[str]) -> None:
        """Queues an array of these batches on nodes that are not excluded; `part` selects the resources."""

    def elements(self) -> list[Element]:
        """All tasks of this run's arrays known to the scheduler, including those queued by an earlier head process."""

    def log(self, element: Element) -> str:
        """The last lines of a task's output; empty if it printed nothing, or its disk is full."""

    def exclude(self, nodes: Collection[str]) -> None:
        """Excludes these nodes for waiting jobs."""

    def nodes(self, part: str) -> list[str]:
        """All nodes that a part may run on."""

    def cancel(self) -> int:
        """Cancels all waiting and running tasks; returns how many."""
