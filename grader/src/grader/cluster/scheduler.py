"""What the head needs of a cluster's scheduler. `grader.cluster.slurm` is Slurm; the benchmark has a stand-in."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

PENDING, RUNNING, ENDED, CANCELLED = "pending", "running", "ended", "cancelled"


class BusyError(Exception):
    """The scheduler does not answer now, and may do so later."""


@dataclass(frozen=True)
class Element:
    """One task of an array: which array, which of its tasks, how it is, and on which node.

    `state` and `job` are the scheduler's own words for how and which it is. It may not know one any more that ended a
    while ago.
    """

    array: str
    index: int
    phase: str
    node: str = ""
    state: str = ""
    job: str = ""

    @property
    def is_live(self) -> bool:
        """Whether it waits or runs."""
        return self.phase in (PENDING, RUNNING)


class Scheduler(Protocol):
    """Runs arrays of batches. Methods raise BusyError where the scheduler does not answer, else GraderError."""

    def submit(self, part: str, array: str, batches: Sequence[str], excluded: Collection[str]) -> None:
        """Queues an array that does these batches, on no excluded node; `part` says with which resources."""

    def elements(self) -> list[Element]:
        """All tasks of this run's arrays that the scheduler knows, also those that an earlier head has queued."""

    def log(self, element: Element) -> str:
        """The last lines that a task has printed; empty where it has printed nothing, or its disk is full."""

    def exclude(self, nodes: Collection[str]) -> None:
        """Excludes these nodes for waiting jobs."""

    def nodes(self, part: str) -> list[str]:
        """All nodes that a part may run on."""

    def cancel(self) -> int:
        """Ends all that waits and runs; gives how many tasks that were."""
