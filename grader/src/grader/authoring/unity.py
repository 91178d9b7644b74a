"""Compiles the solutions next to a reference in batches.

With a short file nvcc spends its time on headers. A batch is one source, with each solution in a namespace of its own:
20 of 04's files take 5 s of a processor in a batch, and 17 s one by one. build.sh links a worker for each namespace.

Some solutions are compiled alone: those that a namespace would change, and those that the compiler refuses inside one.
If a worker from a batch gives an unexpected result, callers compile that solution alone and try again. Kernels' names
show the namespace; `without_namespaces` takes it out.
"""

import re
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from grader.model.discovery import Submission
from grader.model.record import Record
from grader.running.bench import Bench
from grader.running.build import Built, Order, build_worker
from grader.running.worker_cache import WorkerCache

SIZE = 16  # a larger module costs more to load in every run than the compiler saves
_NAMESPACE = "lockstep_part"
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
_DEFINED = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
# Names that a namespace changes, and code that runs before main: it would run in all workers of a batch.
_ALONE = re.compile(
    rb'extern\s+"C"|\bmain\s*\(|\bnamespace\s+(?:std|cuda|cooperative_groups)\b|\bconstructor\b|\bglobal_asm\b|^asm\b'
    rb"|__managed__|#\s*pragma\s+once|\b(?:cub|thrust)/|\w##\w|\bdlsym\b",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Unit:
    """Submissions for one compiler run: a batch if there are `orders`, else a single one."""

    submissions: Sequence[Submission]
    orders: Sequence[Order] = ()


class UnityBuilds:
    """Builds workers in batches, or alone if that fails. Thread-safe."""

    def __init__(self, cache: WorkerCache) -> None:
        """`cache` keeps the workers, including those from batches."""
        self._cache = cache
        self._lock = threading.Lock()
        self._parts: dict[bytes, str] = {}  # maps a source to the key of its worker

    def units(
        self, bench: Bench, submissions: Sequence[Submission], alone: Callable[[Submission], bool] = lambda _: False
    ) -> list[Unit]:
        """All submissions, grouped into batches; those that `alone` holds for are on their own."""
        members: dict[bytes, Order] = {}
        for index, submission in enumerate(submissions):
            source = submission.source
            if source is None or bench.assignment.is_python or alone(submission) or _ALONE.search(source):
                continue
            folder = bench.work / f"batch-{bench.assignment.id}-{index}"  # benches may share a folder
            order = Order(
                bench.layout, bench.toolchain, bench.assignment, source, folder, bench.settings.sandboxed
            )  # fmt: skip
            key = self._key(order)
            if self._cache.holds(key):
                self._parts[source] = key
            else:
                members[source] = order
        orders = list(members.values())
        count = -(-len(orders) // SIZE)
        batches = [batch for batch in (orders[index::count] for index in range(count)) if len(batch) > 1]
        batched = {order.source: batch for batch in batches for order in batch}
        units = [Unit([submission]) for submission in submissions if submission.source not in batched]
        for batch in batches:
            sources = {order.source for order in batch}
            units.append(Unit([submission for submission in submissions if submission.source in sources], batch))
        return units

    def compile(self, unit: Unit, stop: threading.Event) -> Sequence[Submission]:
        """Compiles a batch without the sources that the compiler refuses, and returns the unit's submissions."""
        orders = list(unit.orders)
        while len(orders) > 1:
            names = [f"{_NAMESPACE}{index}" for index in range(len(orders))]
            first = orders[0]
            source = batch_source([order.source for order in orders], names, first.assignment.submission)
            built = build_worker(replace(first, source=source, parts=tuple(names)), stop)
            self._keep(orders, names)
            numbers = re.findall(rf"\b{_NAMESPACE}(\d+)::", built.message)  # parses nvcc's output
            refused = set(map(int, numbers))
            if not built.refused or not refused:
                break
            orders = [order for index, order in enumerate(orders) if index not in refused]
        return unit.submissions

    def _keep(self, orders: Sequence[Order], names: Sequence[str]) -> None:
        """Stores those workers of a batch that were built."""
        folder = orders[0].folder
        for order, name in zip(orders, names, strict=True):
            worker = folder / "out" / f"worker.{name}"
            if worker.is_file():
                key = self._key(order)
                self._cache.add(key, worker)
                with self._lock:
                    self._parts[order.source] = key
        shutil.rmtree(folder, ignore_errors=True)

    def has(self, submission: Submission) -> bool:
        """Whether a batch has the submission's worker."""
        return submission.source in self._parts

    def build(self, order: Order, stop: threading.Event | None = None) -> Built:
        """The worker from a batch where there is one, else compiled alone."""
        with self._lock:
            key = self._parts.get(order.source, "")
        return (self._cache.known(key, order.folder) if key else None) or self._cache.build(order, stop)

    def _key(self, order: Order) -> str:
        return f"{self._cache.key(order)}-part"


def batch_source(sources: Sequence[bytes], namespaces: Sequence[str], name: str) -> bytes:
    """One source with each of the sources in a namespace; its lines keep their numbers, in a file called `name`."""
    includes = dict.fromkeys(line.strip() for source in sources for line in _INCLUDE.findall(source))
    parts = [b"\n".join(includes)]
    for source, namespace in zip(sources, namespaces, strict=True):
        parts += [
            b'namespace %s {\n#line 1 "%s"' % (namespace.encode(), name.encode()),
            _INCLUDE.sub(b"", source),
            b"}",
            *(b"#undef " + macro for macro in dict.fromkeys(_DEFINED.findall(source))),
        ]
    return b"\n".join(parts) + b"\n"


def without_namespaces(record: Record) -> Record:
    """The record with messages that don't show the namespaces of a batch."""
    if record.result is None:
        return record
    tests = tuple(test.with_texts(_plain) for test in record.result.tests)
    evidence = tuple(entry.with_texts(_plain) for entry in record.result.evidence)
    return replace(record, result=replace(record.result, tests=tests, evidence=evidence))


def _plain(text: str) -> str:
    return re.sub(rf"\b{_NAMESPACE}\d+::", "", text)
