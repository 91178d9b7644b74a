"""What one array task does: grades some submissions of one assignment, described by a document in the shared folder.

It names no student: a node gets the code, the seed and the key. The head adds the student to the record.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.base.layout import Layout
from grader.base.names import fingerprint
from grader.base.schema import Fields
from grader.base.secret import Secret
from grader.cluster.shared import SharedFolder
from grader.model.discovery import Submission
from grader.model.record import Record
from grader.model.roster import Student
from grader.running.bench import Bench
from grader.running.grading import Task
from grader.running.keys import identity
from grader.running.run import RunSettings
from grader.running.store import Asked

WHOLE, VIRTUAL, ON_GPU = "whole", "virtual", "on gpu"  # which part of a run a batch covers
_DIGITS = 32
_PARTS = ("suite", "library", "assignment", "reference", "scoring")


@dataclass(frozen=True)
class OneSeed(Secret):
    """Replaces the secret on a node, which learns the seeds of its submissions and nothing else."""

    known: str = ""
    one: int = 0

    def seed(self, assignment: str, source: bytes) -> int:
        """The seed that the head derived."""
        return self.one

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the secret."""
        return self.known


@dataclass(frozen=True)
class Order:
    """A submission in a batch. `source`: its file's hash; `half`: the hash of the virtual GPU's results, if any."""

    name: str
    source: str
    seed: int
    key: str
    regrade: int = 0
    half: str = ""


@dataclass(frozen=True)
class Batch:
    """Submissions of one assignment, and the versions they need: a node with other versions than the head refuses."""

    part: str
    assignment: str
    root: Path
    build: Path
    device: str
    seed: int
    sandboxed: bool
    secret: str
    expected: dict[str, str]
    reference: str
    figures: str
    orders: tuple[Order, ...]

    @property
    def layout(self) -> Layout:
        """Where the project is, on the head and on every node."""
        return Layout(self.root, self.build)

    def settings(self, threads: int, seed: int) -> RunSettings:
        """How a node runs a submission with this seed."""
        secret = OneSeed(b"", self.secret, seed) if self.secret else None
        return RunSettings(self.seed, self.device, threads, self.sandboxed, secret=secret)

    def document(self) -> dict[str, Any]:
        """As plain JSON; the seeds are strings, because they have 128 bits."""
        plain = {name: getattr(self, name) for name in ("part", "assignment", "device", "sandboxed", "secret")}
        orders = [{**vars(order), "seed": str(order.seed)} for order in self.orders]
        return plain | {
            "root": str(self.root), "build": str(self.build), "seed": str(self.seed), "expected": self.expected,
            "reference": self.reference, "figures": self.figures, "orders": orders,
        }  # fmt: skip


def batch_from(document: dict[str, Any]) -> Batch:
    """Reads a batch back; raises SchemaError."""
    fields = Fields(document, "batch")
    return Batch(
        part=fields.choice("part", (WHOLE, VIRTUAL, ON_GPU)),
        assignment=fields.text("assignment"),
        root=Path(fields.text("root")),
        build=Path(fields.text("build")),
        device=fields.text("device"),
        seed=fields.large("seed"),
        sandboxed=fields.flag("sandboxed"),
        secret=fields.text("secret"),
        expected=fields.words("expected"),
        reference=fields.text("reference"),
        figures=fields.text("figures"),
        orders=tuple(
            Order(
                one.text("name"), one.text("source"), one.large("seed"), one.text("key"), one.whole("regrade"),
                one.text("half"),
            )
            for one in fields.tables("orders")
        ),
    )  # fmt: skip


def name_of(task: Task, part: str) -> str:
    """The name of the result of one part of a task; it contains no student's name."""
    return fingerprint(f"{task.key} {part} {task.submission.folder}", _DIGITS)


def order_of(task: Task, part: str, shared: SharedFolder, half: str = "") -> Order:
    """The task in the form a node gets; also puts its file where the node finds it."""
    bench, source = task.bench, task.submission.source or b""
    seed = bench.settings.for_source(bench.assignment.id, identity(bench, task.submission)).seed
    return Order(name_of(task, part), shared.put(source), seed, task.key, task.asked.number, half)


def put_reference(bench: Bench, shared: SharedFolder) -> tuple[str, str]:
    """The reference's program and figures, made here once; empty if there are none.

    Raises GraderError if it doesn't build, and InfrastructureError if it can't be measured.
    """
    worker = bench.reference.worker()
    figures = bench.reference.figures(bench) if worker else None
    return (
        shared.put(worker.read_bytes(), executable=True) if worker else "",
        shared.put(figures.read_bytes()) if figures else "",
    )


def batch_of(bench: Bench, part: str, orders: tuple[Order, ...], reference: tuple[str, str]) -> Batch:
    """A batch for nodes with the same installation as the head."""
    settings = bench.settings
    return Batch(
        part=part,
        assignment=bench.assignment.id,
        root=bench.layout.root,
        build=bench.layout.build,
        device=settings.device,
        seed=settings.seed,
        sandboxed=settings.sandboxed,
        secret=settings.secret.fingerprint if settings.secret else "",
        expected=parts_of(bench),
        reference=reference[0],
        figures=reference[1],
        orders=orders,
    )


def parts_of(bench: Bench) -> dict[str, str]:
    """The parts that must be equal on node and head, by the names in a record's provenance."""
    hashes = {name: bench.hashes[name] for name in _PARTS}
    return hashes | {"nvcc": bench.toolchain.nvcc_version, "host_compiler": bench.toolchain.host_version}


def task_of(bench: Bench, batch: Batch, order: Order, source: bytes, threads: int) -> Task:
    """The task as a node runs it."""
    own = replace(bench, settings=batch.settings(threads, order.seed))
    submission = Submission(order.name, Student(order.name), source)
    return Task(own, submission, order.key, Asked(order.regrade, "", ""), "")


def record_on_head(task: Task, record: Record) -> Record:
    """A node's record, with the student and file that only the head knows."""
    submission = task.submission
    return replace(
        record,
        folder=submission.folder,
        student=submission.student,
        handed=submission.handed,
        reason=task.asked.reason,
        staff=task.asked.staff,
        provenance=replace(record.provenance, command=task.command),
    )
