"""Runs submissions on a cluster, as an executor of `grader.running`: queues arrays of batches, and takes the results.

A run is queued once, and again only if its task ended without a result: the node failed, was too slow, or may not
grade. A result is removed from the shared folder only after it is in the journal, so a kill at any moment loses nothing
and counts nothing twice.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

from grader.base.errors import GraderError, InfrastructureError
from grader.base.jobs import Jobs
from grader.base.schema import SchemaError
from grader.base.storage import need_space
from grader.cluster.batch import (
    ON_GPU,
    VIRTUAL,
    WHOLE,
    batch_from,
    batch_of,
    name_of,
    order_of,
    put_reference,
    record_on_head,
)
from grader.cluster.node import REFUSAL
from grader.cluster.scheduler import CANCELLED, PENDING, RUNNING, BusyError, Element, Scheduler
from grader.cluster.settings import CPU, GPU, ClusterSettings
from grader.cluster.shared import SharedFolder
from grader.model.record import Record, record_from_document
from grader.running.grading import RETRIES, Task, not_graded
from grader.running.progress import Progress

_T = TypeVar("_T")
_BUSY_SAYS_SECONDS = 60.0  # between two messages about a scheduler that does not answer
_UNREADABLE = (InfrastructureError, SchemaError, KeyError, TypeError, ValueError)


@dataclass(frozen=True)
class Pace:
    """Waiting times in seconds. `results`, `scheduler`: between two polls; `hold`: to gather runs for the GPU that can
    share an array; `late`: for a result that is not visible yet; `busy`: when the scheduler accepts no more jobs.

    A slow scheduler is polled less often: it is left alone for `rest` times as long as it took to answer.
    """

    results: float = 1.0
    scheduler: float = 5.0
    rest: float = 50.0
    hold: float = 15.0
    late: float = 15.0
    busy: float = 30.0
    tick: float = 0.5


@dataclass
class _Flight:
    """A queued task: its part, its name, and its place in a Slurm array."""

    task: Task
    part: str
    name: str
    progress: Progress
    then: Callable[[Record], None]
    since: float
    half: str = ""
    batch: str = ""
    element: tuple[str, int] | None = None
    failures: list[str] = field(default_factory=list)
    gone_since: float | None = None
    node: str = ""  # the node it was last seen running on

    @property
    def resources(self) -> str:
        """The resources that a task asks Slurm for."""
        return GPU if self.part == ON_GPU else CPU


@dataclass(frozen=True)
class Counts:
    """How many submissions wait in the cluster's queue and how many run, on how many nodes."""

    waiting: int = 0
    running: int = 0
    nodes: int = 0


class ClusterExecutor:
    """Runs submissions as array tasks; work that they depend on runs on this machine."""

    def __init__(
        self,
        scheduler: Scheduler,
        shared: SharedFolder,
        settings: ClusterSettings,
        *,
        jobs: int,
        stop: threading.Event,
        tell: Callable[[str], None] = lambda _: None,
        pace: Pace,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`tell` reports progress to the user; `jobs` is how many jobs this machine runs at a time."""
        self._scheduler = scheduler
        self._shared = shared
        self._settings = settings
        self._here = Jobs(jobs, stop, pace.tick)
        self._stop = stop
        self._tell = tell
        self._pace = pace
        self._clock = clock
        self._waiting: list[_Flight] = []
        self._flights: dict[str, _Flight] = {}  # tasks handed to the cluster, by name
        self._places: dict[str, tuple[str, int]] = {}  # tasks that an earlier head has queued
        self._elements: dict[tuple[str, int], Element] = {}
        self._refused: dict[str, str] = {}  # reasons by node
        self._references: dict[str, tuple[str, str]] = {}  # in the shared folder, by assignment
        self._looked = self._asked = self._said_busy = self._submit_at = -1e9
        self._rest = pace.scheduler
        self.ahead = jobs

    def add(self, task: Task, progress: Progress, then: Callable[[Record], None], rank: int) -> None:
        """Accepts a task. The cluster's queue decides the order."""
        self._fly(task, VIRTUAL if task.bench.settings.on_gpu else WHOLE, progress, then)

    def add_here(self, work: Callable[[], _T], then: Callable[[_T], None], rank: int) -> None:
        """Runs work on this machine."""
        self._here.add(work, then, rank)

    def run(self) -> None:
        """Returns when nothing is left to do. Also finds the jobs of an earlier head, and takes their results."""
        self._shared.make()
        self._shared.cancelled.unlink(missing_ok=True)
        self._find_earlier()
        self._here.run(self._beside)

    def close(self, *, whole: bool) -> None:
        """Removes the shared files once the last tasks have ended, unless jobs for other submissions are waiting.

        If only a part of the class was graded, results of the others are kept too.
        """
        if not whole and any(self._shared.results()):
            return
        until = self._clock() + self._pace.late
        while (elements := self._quietly(self._scheduler.elements)) is not None:
            phases = {element.phase for element in elements if element.is_live}
            if not phases:
                self._shared.remove()
            if PENDING in phases or not phases or self._clock() >= until:
                return
            time.sleep(self._pace.results)

    def counts(self) -> Counts:
        """How many tasks wait and run, and on how many nodes, by the scheduler's last answer."""
        phases = [self._elements.get(flight.element) for flight in self._flights.values() if flight.element]
        running = [element for element in phases if element and element.phase == RUNNING]
        return Counts(
            len(self._flights) - len(running) + len(self._waiting), len(running), len({one.node for one in running})
        )

    def _find_earlier(self) -> None:
        """Finds the tasks that an earlier head process has queued."""
        self._ask(self._clock())
        arrays: dict[str, list[str]] = {}
        for element in self._elements.values():
            if element.is_live:
                batches = arrays.setdefault(element.array, self._shared.array(element.array))
                if element.index < len(batches):
                    batch = batch_from(self._shared.batch(batches[element.index]))
                    self._places.update((order.name, (element.array, element.index)) for order in batch.orders)

    def _fly(self, task: Task, part: str, progress: Progress, then: Callable[[Record], None], half: str = "") -> None:
        flight = _Flight(task, part, name_of(task, part), progress, then, self._clock(), half)
        flight.element = self._places.pop(flight.name, None)
        if flight.element is not None or self._shared.has_result(flight.name):
            self._flights[flight.name] = flight
        else:
            self._waiting.append(flight)

    def _beside(self) -> bool:
        """One poll of results and scheduler; returns whether anything is pending."""
        if self._shared.cancelled.exists():
            raise GraderError("the jobs were ended.\nFinished work is kept: the same command goes on with the rest")
        now = self._clock()
        if now - self._looked >= self._pace.results:
            self._looked = now
            self._take_results()
        if now - self._asked >= self._rest and self._flights:
            self._ask(now)
            self._look_for_lost(now)
        self._submit(now)
        return bool(self._waiting or self._flights)

    # Results.

    def _take_results(self) -> None:
        for name in self._shared.results():
            if name.startswith(REFUSAL):
                self._refuse(name)
            elif name in self._flights:
                self._take(self._flights[name])

    def _take(self, flight: _Flight) -> None:
        try:
            document = self._shared.result(flight.name)
            record = self._record(flight.task, document)
        except _UNREADABLE as error:
            self._shared.drop_result(flight.name)
            self._failed(flight, str(error) or type(error).__name__)
            return
        del self._flights[flight.name]
        if record is None:  # keep the half: if the head is killed now, the next one still has it
            self._fly(flight.task, ON_GPU, flight.progress, flight.then, str(document["half"]))
            return
        flight.then(record)
        for part in {flight.part, VIRTUAL}:
            self._shared.drop_result(name_of(flight.task, part))

    def _record(self, task: Task, document: dict[str, Any]) -> Record | None:
        """The record written by a node; None if it is only a half."""
        if "record" not in document:
            return None
        record = record_from_document(document["record"])
        if record.key != task.key:
            raise InfrastructureError(f"a result of {document.get('node', 'a node')} has another key")
        return record_on_head(task, record)

    # Handles nodes that may not grade.

    def _refuse(self, name: str) -> None:
        try:
            said = self._shared.result(name)
            node, why = str(said["node"]), str(said["why"])
        except _UNREADABLE:
            return
        finally:
            self._shared.drop_result(name)
        if node not in self._refused:
            self._refused[node] = why
            self._tell(f"{node} grades nothing: {why}")
            self._quietly(lambda: self._scheduler.exclude(self._refused))
        for flight in self._in_batch(name.removeprefix(REFUSAL)):
            self._again(flight)
        for part in {flight.resources for flight in self._waiting}:
            nodes = self._quietly(lambda part=part: self._scheduler.nodes(part)) or []  # type: ignore[misc]
            if nodes and all(node in self._refused for node in nodes):
                reasons = "\n".join(f"  {node}: {self._refused[node]}" for node in nodes)
                raise GraderError(f"no node of the cluster may grade ({part} in cluster.toml):\n{reasons}")

    def _in_batch(self, batch: str) -> list[_Flight]:
        return [flight for flight in self._flights.values() if flight.batch == batch]

    # The messages of the scheduler.

    def _quietly(self, ask: Callable[[], _T]) -> _T | None:
        """The scheduler's answer; None if it does not answer, which is reported from time to time."""
        try:
            return ask()
        except BusyError as error:
            now = self._clock()
            if now - self._said_busy >= _BUSY_SAYS_SECONDS:
                self._said_busy = now
                self._tell(f"the cluster does not answer, and is asked again: {error}")
            return None

    def _ask(self, now: float) -> None:
        began = time.monotonic()
        elements = self._quietly(self._scheduler.elements)
        self._asked = now
        self._rest = max(self._pace.scheduler, self._pace.rest * (time.monotonic() - began))
        if elements is None:
            return
        self._elements = {(one.array, one.index): one for one in elements}
        for flight in self._flights.values():
            element = flight.element and self._elements.get(flight.element)
            if element and element.phase == RUNNING and element.node != flight.node:
                flight.node = element.node
                flight.progress.on_stage(flight.task.submission, f"on {element.node}")

    def _look_for_lost(self, now: float) -> None:
        """Queues tasks again that ended without a result. A result may take a while to become visible here."""
        for flight in list(self._flights.values()):
            element = flight.element and self._elements.get(flight.element)
            if element and element.is_live:
                flight.gone_since = None
            elif flight.gone_since is None:
                flight.gone_since = now
            elif now - flight.gone_since >= self._pace.late and not self._shared.has_result(flight.name):
                self._lost(flight, element or None)

    def _lost(self, flight: _Flight, element: Element | None) -> None:
        if element and element.phase == CANCELLED:
            self._end(flight, "its job was cancelled on the cluster")
            return
        need_space(self._shared.path)  # else no result could be written there
        where = f" on {element.node}" if element and element.node else ""
        state = f" ({element.state})" if element and element.state else ""
        log = self._scheduler.log(element) if element else ""
        for path in (self._shared.path.resolve(), self._shared.path.parent.resolve(), Path.home()):
            log = log.replace(str(path), "…")  # this text appears on the card
        self._failed(flight, f"the job ended{where} without a result{state}{f': {log}' if log else ''}")

    def _failed(self, flight: _Flight, why: str) -> None:
        flight.failures.append(why)
        if len(flight.failures) > RETRIES:
            self._end(flight, f"Tried {len(flight.failures)} times on the cluster: {why}")
        else:
            self._again(flight)

    def _end(self, flight: _Flight, why: str) -> None:
        del self._flights[flight.name]
        flight.then(not_graded(flight.task, why))

    def _again(self, flight: _Flight) -> None:
        del self._flights[flight.name]
        flight.element, flight.gone_since, flight.batch, flight.since = None, None, "", self._clock()
        self._waiting.append(flight)

    # Submission.

    def _submit(self, now: float) -> None:
        if now < self._submit_at:
            return
        for resources in (CPU, GPU):
            waiting = [flight for flight in self._waiting if flight.resources == resources]
            if not waiting or (resources == GPU and not self._is_time(waiting, now)):
                continue
            for part, batches in self._batches(waiting):
                if self._quietly(lambda part=part, batches=batches: self._queued(part, batches)) is None:  # type: ignore[misc]
                    self._submit_at = now + self._pace.busy
                    return

    def _is_time(self, waiting: Sequence[_Flight], now: float) -> bool:
        """Whether to queue the GPU runs gathered so far: they arrive one by one, and should share arrays."""
        is_last = not any(flight.resources == CPU for flight in (*self._waiting, *self._flights.values()))
        return is_last or now - min(flight.since for flight in waiting) >= self._pace.hold

    def _batches(self, waiting: Sequence[_Flight]) -> Iterator[tuple[str, list[list[_Flight]]]]:
        """The arrays to queue, each as the batches of its tasks."""
        groups: dict[tuple[str, str], list[_Flight]] = defaultdict(list)
        alone: dict[str, list[list[_Flight]]] = defaultdict(list)
        for flight in waiting:
            if flight.failures:  # a submission that ended a task runs alone, so that it can't end others' again
                alone[flight.resources].append([flight])
            else:
                groups[flight.task.bench.assignment.id, flight.part].append(flight)
        arrays = defaultdict(list, alone)
        for flights in groups.values():
            size = self._settings.size(flights[0].resources, len(flights))
            cut = [flights[at : at + size] for at in range(0, len(flights), size)]
            arrays[flights[0].resources] += cut
        for resources, batches in arrays.items():
            for at in range(0, len(batches), self._settings.array_most):
                yield resources, batches[at : at + self._settings.array_most]

    def _queued(self, resources: str, batches: list[list[_Flight]]) -> bool:
        tasks = [(name, flights) for flights in batches if (name := self._put(flights))]
        if not tasks:
            return True
        names = [name for name, _ in tasks]
        array = token_hex(8)
        self._shared.put_array(array, names)  # before the jobs exist: a head killed now can still identify them
        self._scheduler.submit(resources, array, names, self._refused)
        for index, (name, flights) in enumerate(tasks):
            place = (array, index)
            self._elements[place] = Element(array, index, PENDING)
            for flight in flights:
                flight.batch, flight.element = name, place
                self._flights[flight.name] = flight
        queued = set(map(id, chain.from_iterable(flights for _, flights in tasks)))
        self._waiting = [flight for flight in self._waiting if id(flight) not in queued]
        return True

    def _put(self, flights: Sequence[_Flight]) -> str:
        """Writes the batch and returns its name; "" if the reference could not be measured."""
        bench = flights[0].task.bench
        given = self._references.get(bench.assignment.id)
        try:
            if given is None:
                given = self._references[bench.assignment.id] = put_reference(bench, self._shared)
        except InfrastructureError as error:
            for flight in flights:
                self._waiting.remove(flight)
                flight.then(not_graded(flight.task, str(error)))
            return ""
        orders = tuple(order_of(one.task, one.part, self._shared, one.half) for one in flights)
        return self._shared.put_batch(batch_of(bench, flights[0].part, orders, given).document())
