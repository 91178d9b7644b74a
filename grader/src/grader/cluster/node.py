"""What runs on a node: one batch. submitit calls `work` there, as the user who grades.

Before the first submission it checks that the node can grade and may: there is a sandbox, and suite, libraries,
assignment and compilers equal the head's. Otherwise it reports why and grades nothing: a result made with other
versions would be stored under the wrong key.
"""

import contextlib
import json
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from grader.base import sandbox
from grader.base.counted import joined
from grader.base.errors import GraderError, InfrastructureError
from grader.base.jobs import Jobs
from grader.base.schema import Fields
from grader.base.toolchain import find_toolchain
from grader.cluster.batch import ON_GPU, VIRTUAL, Batch, Order, batch_from, parts_of, task_of
from grader.cluster.shared import KEY, SharedFolder
from grader.model.assignment import load_assignment
from grader.model.result import FORMAT, TestResult, result_from, test_from
from grader.running.bench import Bench, Reference, prepare
from grader.running.build import build_worker
from grader.running.changes import named_parts
from grader.running.grading import Half, Task, first_half, run_task, second_half
from grader.running.keys import key_of
from grader.running.progress import Quiet
from grader.running.run import why_no_gpu
from grader.running.store import UNREADABLE

REFUSAL = "refusal-"


def work(shared_path: str, name: str) -> str:
    """Grades the batch of this name; returns the node's name, for submitit's log."""
    node = os.environ.get("SLURMD_NODENAME") or socket.gethostname()
    processors = int(os.environ.get("SLURM_CPUS_PER_TASK") or len(os.sched_getaffinity(0)))
    if KEY not in os.environ:
        raise GraderError(f"Slurm gave this job no {KEY}: let sbatch pass the environment on (--export=ALL)")
    # The key is removed from the environment, so that child processes don't inherit it.
    grade_batch(SharedFolder(Path(shared_path), os.environ.pop(KEY)), name, node, processors)
    return node


def grade_batch(shared: SharedFolder, name: str, node: str, processors: int) -> None:
    """Grades a batch, as many submissions at once as there are processors.

    Each result is written to the shared folder at once, so a kill loses only the submissions being graded.
    """
    batch = batch_from(shared.batch(name))
    with tempfile.TemporaryDirectory(prefix="lockstep-") as scratch:
        stop = threading.Event()
        try:
            bench = _bench(batch, shared, Path(scratch), stop)
        except (GraderError, InfrastructureError) as error:
            shared.put_result(f"{REFUSAL}{name}", {"node": node, "why": str(error)})
            return
        # On a GPU one at a time: the task has the node to itself, so timings are undisturbed.
        queue = Jobs(1 if batch.part == ON_GPU else processors, stop)
        for order in batch.orders:
            if not shared.has_result(order.name):  # else the task ran before and was requeued
                queue.add(partial(_grade, bench, batch, order, shared, node, stop), lambda _: None)
        queue.run()


def _bench(batch: Batch, shared: SharedFolder, scratch: Path, stop: threading.Event) -> Bench:
    """The bench for grading the batch; raises GraderError if this node can't or must not grade it."""
    layout = batch.layout
    if not layout.build.is_dir():
        raise GraderError(f"{layout.build} is not there: the project has to be in a folder that all nodes share")
    if batch.sandboxed and (reason := sandbox.why_no_sandbox()):
        raise GraderError(f"no sandbox for student code: {reason}")
    assignment = load_assignment(layout.assignment(batch.assignment))
    if batch.part == ON_GPU and (reason := why_no_gpu(layout, assignment)):
        raise GraderError(f"no NVIDIA GPU to run on: {reason}")
    settings = batch.settings(1, 0)
    bench = prepare(layout, find_toolchain(layout), assignment, settings, scratch, stop, build_worker)
    here = parts_of(bench)
    if others := named_parts([name for name, value in batch.expected.items() if here.get(name) != value]):
        raise GraderError(f"not the same as where the class is graded from: {joined(others)}{_versions(batch, here)}")
    given = _GivenReference(bench.reference, batch, shared, scratch / "reference")
    return replace(bench, reference=given)


def _versions(batch: Batch, here: dict[str, str]) -> str:
    """The compilers' versions, so that a message can say how head and node differ."""
    found = [
        f"{here[name]} and not {batch.expected[name]}"
        for name in ("nvcc", "host_compiler")
        if here[name] != batch.expected[name]
    ]
    return f" ({'; '.join(found)})" if found else ""


class _GivenReference(Reference):
    """The reference that the head has built and measured."""

    def __init__(self, own: Reference, batch: Batch, shared: SharedFolder, folder: Path) -> None:
        self.__dict__.update(own.__dict__)
        self._given = shared.copy(batch.reference, folder / "worker") if batch.reference else None
        self._measured = shared.copy(batch.figures, folder / "figures.json") if batch.figures else None

    def worker(self) -> Path | None:
        """As recorded in the head's batch."""
        return self._given

    def figures(self, bench: Bench) -> Path | None:
        """As recorded in the head's batch."""
        return self._measured


def _grade(bench: Bench, batch: Batch, order: Order, shared: SharedFolder, node: str, stop: threading.Event) -> None:
    task = task_of(bench, batch, order, shared.get(order.source), threads=1)
    key = key_of(task.bench, task.submission)
    if key != order.key.partition("#")[0]:
        raise GraderError(f"the key of a submission is {key} on {node}, and {order.key} where it is graded from")
    tests = _TestsFile(shared, order.name)
    with contextlib.closing(tests):
        document = _outcome(batch, task, order, tests, shared, stop)
    shared.put_result(order.name, {"node": node, **document})
    shutil.rmtree(task.work, ignore_errors=True)


def _outcome(
    batch: Batch, task: Task, order: Order, tests: "_TestsFile", shared: SharedFolder, stop: threading.Event
) -> dict[str, Any]:
    if batch.part == ON_GPU:
        return {"record": second_half(task, _half(task, order, shared), tests, Quiet(), stop).document()}
    if batch.part != VIRTUAL:
        return {"record": run_task(task, tests, Quiet(), stop).document()}
    found = first_half(task, tests, Quiet(), stop)
    if not isinstance(found, Half):
        return {"record": found.document()}
    worker = shared.put(found.worker.read_bytes(), executable=True)
    half = {"worker": worker, "result": {"format": FORMAT, **asdict(found.virtual)}}
    return {"half": shared.put(json.dumps(half, ensure_ascii=False).encode())}


def _half(task: Task, order: Order, shared: SharedFolder) -> Half:
    document = json.loads(shared.get(order.half))
    worker = shared.copy(str(document["worker"]), task.work / str(os.getpid()) / "out" / "worker")
    return Half(worker, result_from(document["result"]))


class _TestsFile:
    """The finished tests of a run, one per line: a requeued task continues after them."""

    def __init__(self, shared: SharedFolder, name: str) -> None:
        self._shared = shared
        self._name = name
        self._path = path = shared.tests_path(name)
        self._lock = threading.Lock()
        self._known = list(self._read())
        self._file = path.open("a", encoding="utf-8")

    def _read(self) -> Iterator[tuple[str, TestResult]]:
        if not self._path.is_file():
            return
        for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(*UNREADABLE):  # the last line may have been cut short
                signed = json.loads(line)
                if signed["signature"] == self._shared.signature(self._name, signed["text"]):
                    document = json.loads(signed["text"])
                    yield document["key"], test_from(Fields(document["test"], "test"))

    def tests(self, folder: str, key: str) -> list[TestResult]:
        """The test results that an earlier run with this key stored."""
        return [test for own, test in self._known if own == key]

    def add_tests(self, folder: str, key: str, tests: Sequence[TestResult]) -> None:
        """Stores test results for a later run."""
        with self._lock:
            self._file.writelines(map(self._line, (json.dumps({"key": key, "test": asdict(test)}) for test in tests)))
            self._file.flush()

    def _line(self, text: str) -> str:
        return json.dumps({"signature": self._shared.signature(self._name, text), "text": text}) + "\n"

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
