"""Shows the findings of assignments checked in parallel in the order of the assignments."""

import threading
from collections.abc import Callable, Sequence

from grader.authoring.finding import Finding
from grader.model.assignment import Assignment


class InOrder:
    """Shows the current assignment's findings as they come, and queues those of later ones."""

    def __init__(
        self,
        assignments: Sequence[Assignment],
        on_begin: Callable[[Assignment], None],
        on_finding: Callable[[Finding], None],
    ) -> None:
        self._assignments = assignments
        self._on_begin = on_begin
        self._on_finding = on_finding
        self._waiting: list[list[Finding]] = [[] for _ in assignments]
        self._finished = [False] * len(assignments)
        self._now = 0
        self._lock = threading.Lock()
        if assignments:
            on_begin(assignments[0])

    def add(self, index: int, finding: Finding) -> None:
        """Adds a finding of assignment number `index`."""
        with self._lock:
            if index == self._now:
                self._on_finding(finding)
            else:
                self._waiting[index].append(finding)

    def finish(self, index: int) -> None:
        """Marks the assignment at `index` as complete."""
        with self._lock:
            self._finished[index] = True
            while self._now < len(self._finished) and self._finished[self._now]:
                self._now += 1
                if self._now < len(self._finished):
                    self._on_begin(self._assignments[self._now])
                    for finding in self._waiting[self._now]:
                        self._on_finding(finding)
