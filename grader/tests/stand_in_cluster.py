"""A fake scheduler without Slurm: nodes are threads of this process, which call the nodes' Python code."""

import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from grader.base.errors import GraderError
from grader.cluster.node import grade_batch
from grader.cluster.scheduler import CANCELLED, ENDED, PENDING, RUNNING, BusyError, Element
from grader.cluster.settings import ClusterSettings
from grader.cluster.shared import SharedFolder

Work = Callable[[SharedFolder, str, str, int], None]


class StandIn:
    """A cluster that outlives the heads that use it. `work`: a task's function; `busy`: how many calls get no answer.

    `crash` maps nodes to the number of tasks that will still end without a result.
    """

    def __init__(self, nodes: Sequence[str] = ("n1", "n2"), work: Work = grade_batch) -> None:
        """Starts the nodes."""
        self.all_nodes = list(nodes)
        self.work = work
        self.busy = 0
        self.crash: dict[str, int] = {}
        self.is_held: set[str] = set()  # nodes on which nothing starts until another has refused to grade
        self.arrays: list[tuple[str, tuple[str, ...]]] = []
        self.excluded: set[str] = set()
        self._elements: dict[tuple[str, int], Element] = {}
        self._batches: dict[tuple[str, int], str] = {}
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._shared: SharedFolder | None = None
        self._threads = [threading.Thread(target=self._node, args=(node,), daemon=True) for node in nodes]
        for thread in self._threads:
            thread.start()

    def __call__(self, shared: SharedFolder, settings: ClusterSettings) -> "StandIn":
        """Called like the class Slurm: returns the same cluster for every head."""
        self._shared = shared
        return self

    def end(self) -> None:
        """Stops the nodes."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def submit(self, part: str, array: str, batches: Sequence[str], excluded: Collection[str]) -> None:
        """Queues an array."""
        self._answer()
        with self._lock:
            self.excluded |= set(excluded)
            if set(self.all_nodes) <= self.excluded:
                raise GraderError("sbatch failed: Requested node configuration is not available")
            self.arrays.append((part, tuple(batches)))
            for index, batch in enumerate(batches):
                self._elements[array, index] = Element(array, index, PENDING, state="PENDING")
                self._batches[array, index] = batch

    def elements(self) -> list[Element]:
        """All tasks."""
        self._answer()
        with self._lock:
            return list(self._elements.values())

    def log(self, element: Element) -> str:
        """What a task printed."""
        return f"{element.node} caught fire in {self._shared.path.resolve() if self._shared else None}/slurm"

    def exclude(self, nodes: Collection[str]) -> None:
        """Keeps waiting tasks off these nodes."""
        with self._lock:
            self.excluded |= set(nodes)
            self.is_held = set()

    def nodes(self, part: str) -> list[str]:
        """All nodes."""
        return self.all_nodes

    def cancel(self) -> int:
        """Cancels waiting tasks; running ones finish."""
        with self._lock:
            live = [place for place, element in self._elements.items() if element.phase == PENDING]
            for place in live:
                self._elements[place] = replace(self._elements[place], phase=CANCELLED, state="CANCELLED")
        return len(live)

    def script(self, part: str, tasks: int) -> str:
        """The script that would be queued."""
        return f"#SBATCH {part} {tasks}"

    def wait(self) -> None:
        """Waits until nothing runs or is queued."""
        while any(element.is_live for element in self._elements.values()):
            time.sleep(0.02)

    def _answer(self) -> None:
        if self.busy:
            self.busy -= 1
            raise BusyError("no answer")

    def _next(self, node: str) -> tuple[str, int] | None:
        with self._lock:
            if node in self.is_held or node in self.excluded:
                return None
            for place, element in self._elements.items():
                if element.phase == PENDING:
                    self._elements[place] = replace(element, phase=RUNNING, node=node, state="RUNNING")
                    return place
        return None

    def _do(self, place: tuple[str, int], node: str) -> None:
        if self.crash.get(node, 0):
            self.crash[node] -= 1
            raise RuntimeError(node)
        assert self._shared is not None
        self.work(self._shared, self._batches[place], node, 1)

    def _node(self, node: str) -> None:
        while not self._over.is_set():
            place = self._next(node)
            if place is None:
                time.sleep(0.01)
                continue
            state = "COMPLETED"
            try:
                self._do(place, node)
            except BaseException:
                state = "FAILED"
            with self._lock:
                self._elements[place] = replace(self._elements[place], phase=ENDED, state=state)
