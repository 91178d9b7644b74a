#!/usr/bin/env python3
"""What a cluster's head costs: a large class through the code of `grader grade --executor slurm`, with made-up nodes.

  harness/dev/bench/cluster_scale.py [--tasks 20000] [--nodes 100] [--seconds 20] [--kilobytes 38] [--kill 0.5]

The shared folder, its files, the journal and the executor are the real ones. Nodes are simulated: each runs one task at
a time, on a clock of its own that runs as fast as the head does, and gives a record of --kilobytes for each submission
after --seconds. So the head's time is measured, and what it needs for a task, without a cluster's. --kill ends the head
when that share of the results is in the journal, and starts another. Without --nodes and --tasks, the documented table.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Collection, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / part) for part in ("grader/src", "grader/tests", "harness/dev/site")]

from conftest import make_checkout  # type: ignore[import-not-found]  # noqa: E402
from grader.base.toolchain import find_toolchain  # noqa: E402
from grader.cluster.batch import batch_from  # noqa: E402
from grader.cluster.executor import ClusterExecutor, Pace  # noqa: E402
from grader.cluster.node import grade_batch  # noqa: E402
from grader.cluster.scheduler import ENDED, PENDING, RUNNING, Element  # noqa: E402
from grader.cluster.settings import ClusterSettings, Resources  # noqa: E402
from grader.cluster.shared import SharedFolder  # noqa: E402
from grader.model.assignment import load_assignment  # noqa: E402
from grader.model.discovery import Submission  # noqa: E402
from grader.model.roster import Student  # noqa: E402
from grader.running.batches import Batch, grade_batches  # noqa: E402
from grader.running.bench import Bench, prepare  # noqa: E402
from grader.running.progress import Quiet  # noqa: E402
from grader.running.run import RunSettings  # noqa: E402
from grader.running.store import Journal  # noqa: E402

TABLE = ((2000, 10), (2000, 100), (20000, 10), (20000, 100), (20000, 1000))
PACE = Pace(results=1.0, scheduler=5.0, rest=0.0, late=15.0, tick=0.0)
_ENDED_KEPT = 300.0  # seconds that a scheduler remembers what has ended


class KilledError(Exception):
    """Raised where the simulation kills the head."""


class Simulated:
    """A scheduler whose nodes take a known time, by a clock that goes on a second whenever the head looks around."""

    def __init__(self, shared: SharedFolder, nodes: int, seconds: float, kilobytes: int) -> None:
        self.shared = shared
        self.now = 0.0
        self.took = self.took_wall = 0.0  # seconds, of a processor and by the clock, that the simulation itself had
        self.arrays = self.asked = 0
        self._free = [f"node{number}" for number in range(nodes)]
        self._seconds, self._bytes = seconds, kilobytes << 10
        self._waiting: deque[tuple[str, int, str]] = deque()
        self._running: dict[tuple[str, int], tuple[str, str, float]] = {}
        self._ended: dict[tuple[str, int], tuple[str, float]] = {}
        self._template: dict[str, object] | None = None

    def step(self) -> None:
        """Advances the simulated clock by one second."""
        began, clock = time.thread_time(), time.monotonic()
        self.now += 1.0
        for place, (node, batch, until) in list(self._running.items()):
            if until <= self.now:
                del self._running[place]
                self._ended[place] = (node, self.now)
                self._free.append(node)
                self._give(batch, node)
        while self._free and self._waiting:
            array, index, batch = self._waiting.popleft()
            orders = len(self.shared.batch(batch)["orders"])
            self._running[array, index] = (self._free.pop(), batch, self.now + orders * self._seconds)
        self.took += time.thread_time() - began
        self.took_wall += time.monotonic() - clock

    def submit(self, part: str, array: str, batches: Sequence[str], excluded: Collection[str]) -> None:
        """Queues an array."""
        self.arrays += 1
        self._waiting.extend((array, index, batch) for index, batch in enumerate(batches))

    def elements(self) -> list[Element]:
        """All that wait, run, or ended lately."""
        began, clock = time.thread_time(), time.monotonic()
        self.asked += 1
        self._ended = {place: one for place, one in self._ended.items() if self.now - one[1] < _ENDED_KEPT}
        found = [Element(array, index, PENDING, state="PENDING") for array, index, _ in self._waiting]
        found += [Element(*place, RUNNING, node, "RUNNING") for place, (node, _, _) in self._running.items()]
        found += [Element(*place, ENDED, node, "COMPLETED") for place, (node, _) in self._ended.items()]
        self.took += time.thread_time() - began
        self.took_wall += time.monotonic() - clock
        return found

    def log(self, element: Element) -> str:
        """ "": simulated jobs print nothing."""
        return ""

    def exclude(self, nodes: Collection[str]) -> None:
        """Does nothing: no simulated node is ever excluded."""

    def nodes(self, part: str) -> list[str]:
        """Never called in this simulation."""
        return []

    def cancel(self) -> int:
        """Never called in this simulation."""
        return 0

    def _give(self, name: str, node: str) -> None:
        batch = batch_from(self.shared.batch(name))
        for order in batch.orders:
            if self._template is None:  # the first one is graded in earnest: by a suite that is a stand-in
                grade_batch(self.shared, name, node, 1)
                self._template = self.shared.result(order.name)["record"]
                break
            record = self._template | {"key": order.key, "source": "x" * self._bytes}
            self.shared.put_result(order.name, {"node": node, "record": record})


class Until(Quiet):
    """Ends the head when this number of results is in the journal."""

    def __init__(self, limit: float) -> None:
        self._left = limit

    def on_record(self, record: object, *, cached: bool) -> None:
        """One more."""
        self._left -= 1
        if self._left <= 0:
            raise KilledError


class Head(ClusterExecutor):
    """The executor, with the simulation beside it."""

    simulated: Simulated

    def _beside(self) -> bool:
        if self._flights:
            self.simulated.step()
        return super()._beside()


class Attached(ClusterExecutor):
    """One that ends when it knows of every submission how it is."""

    def _beside(self) -> bool:
        if self._flights:
            raise KilledError
        return super()._beside()


def a_class(folder: Path, tasks: int) -> tuple[Bench, list[Submission]]:
    """Submissions of a made-up assignment, all of them different."""
    layout = make_checkout(folder)
    assignment = load_assignment(layout.assignment("90_fake"))
    settings = RunSettings(7, "vgpu", 1, sandboxed=False)
    bench = prepare(layout, find_toolchain(layout), assignment, settings, folder / "work", threading.Event())
    names = [f"student{number:06}" for number in range(tasks)]
    return bench, [Submission(name, Student(name), f"int {name};\n".encode()) for name in names]


def measure(tasks: int, nodes: int, seconds: float, kilobytes: int, kill: float) -> dict[str, float]:
    """Grades a class; with `kill` the head is ended once, and another goes on."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench, submissions = a_class(folder, tasks)
        shared = SharedFolder(folder / "shared")
        simulated = Simulated(shared, nodes, seconds, kilobytes)
        settings = ClusterSettings(cpu=Resources(submissions=8))
        done: dict[str, float] = {}
        journal = Journal(folder / "journal.sqlite")
        bench.reference.worker()
        bench.reference.figures(bench)

        def head(kind: type[ClusterExecutor]) -> ClusterExecutor:
            return kind(
                simulated, shared, settings, jobs=1, stop=threading.Event(), pace=PACE, clock=lambda: simulated.now
            )

        def run(executor: ClusterExecutor, limit: float = float("inf")) -> tuple[float, float]:
            """Wall and processor seconds of a head, without what the simulation took."""
            before, before_wall = simulated.took, simulated.took_wall
            began, processor = time.monotonic(), time.process_time()
            with contextlib.suppress(KilledError):
                grade_batches([Batch(bench, submissions, Until(limit), "")], journal, executor)
            wall = time.monotonic() - began - (simulated.took_wall - before_wall)
            return wall, time.process_time() - processor - (simulated.took - before)

        Head.simulated = simulated
        if kill:
            run(head(Head), kill * tasks)
            queued = simulated.arrays
            done["tasks of arrays then"] = sum(element.is_live for element in simulated.elements())
            done["s to know all again"], _ = run(head(Attached))
            run(head(Head))
            done["arrays queued again"] = simulated.arrays - queued
        else:
            wall, processor = run(head(Head))
            done |= {"head s": wall, "head processor s": processor, "ms a task": 1e3 * wall / tasks}
        journal.close()
        size = (folder / "journal.sqlite").stat().st_size
        done |= {"tasks": tasks, "nodes": nodes, "arrays": simulated.arrays, "questions": simulated.asked}
        done |= {"simulated h": simulated.now / 3600, "bound h": tasks * seconds / nodes / 3600}
        done |= {"peak MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "journal MiB": size / (1 << 20)}
        return done


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--kilobytes", type=int, default=38)
    parser.add_argument("--kill", type=float, default=0.0)
    chosen = parser.parse_args()
    if chosen.tasks is not None or chosen.nodes is not None:
        found = measure(chosen.tasks or 20000, chosen.nodes or 100, chosen.seconds, chosen.kilobytes, chosen.kill)
        print(json.dumps({name: round(value, 2) for name, value in found.items()}))
        return
    for tasks, nodes in TABLE:  # each in a process of its own, whose peak is its own
        command = [sys.executable, __file__, f"--tasks={tasks}", f"--nodes={nodes}", f"--seconds={chosen.seconds}"]
        command += [f"--kilobytes={chosen.kilobytes}", f"--kill={chosen.kill}"]
        subprocess.run(command, check=True, env=os.environ)


if __name__ == "__main__":
    main()
