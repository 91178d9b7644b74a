"""Compiles a submission into a worker, in a sandbox: compiling untrusted code is as dangerous as running it.

The flags are in harness/worker/build.sh, which make calls too. The sandbox sees the compilers, the worker's sources,
the protocol's, the assignment's folder as students have it and the one submission; it can write to one empty folder. It
sees no other part of the harness, because a submission could include a solution from there: benchmarks have scans,
tests have reductions.

A submission in Python runs while it is compiled: Numba compiles its kernels as it is imported. So its sandbox can write
to one file, the worker, and to no folder that it could fill; its output is trusted no more than the file it makes.
"""

import os
import re
import shutil
import signal
import threading
from dataclasses import dataclass, replace
from pathlib import Path

from grader.base import cgroup, sandbox
from grader.base.errors import InfrastructureError
from grader.base.layout import Layout
from grader.base.names import shown_block
from grader.base.numba_python import find_numba_python
from grader.base.process import Ended, run_command
from grader.base.storage import need_space
from grader.base.toolchain import Toolchain
from grader.base.worker_key import BUILD_SCRIPT_STATUS, REFUSED_STATUS
from grader.model.assignment import Assignment
from grader.running.machine_paths import IN_BOX, MachinePaths

_SECONDS = 180
_OUTPUT_CAP = 1 << 18
_FILE_BYTES = 1 << 30
_WORKER_BYTES = 64 << 20  # all of a class's are kept until it is graded; one takes 1 or 2 MiB
_MEMORY_BYTES = 4 << 30
_TMP_BYTES = 1 << 30
_FIRST_LINES = 60
_BESIDE_ERROR = 3
_KILLED = re.compile(
    r"^nvcc error\s*: .* died due to signal 9\b|^\S*: fatal error: Killed signal terminated", re.MULTILINE
)


@dataclass(frozen=True)
class Built:
    """A worker, or None and the compiler's message; `refused` if it would compile but is not allowed."""

    worker: Path | None
    message: str
    seconds: float
    refused: bool = False


@dataclass(frozen=True)
class Order:
    """A worker's inputs, options and folder.

    `parts`: namespaces of the source, each with a submission that is built into out/worker.NAME; empty: it has none.
    """

    layout: Layout
    toolchain: Toolchain
    assignment: Assignment
    source: bytes
    folder: Path
    sandboxed: bool
    parts: tuple[str, ...] = ()


def build_worker(order: Order, stop: threading.Event | None = None) -> Built:
    """Compiles the order's source into out/worker in its folder, or each of its parts that links.

    Raises InfrastructureError if the compiler could not be started.
    """
    layout, toolchain, assignment, sandboxed = order.layout, order.toolchain, order.assignment, order.sandboxed
    source_folder, out = order.folder / "src", order.folder / "out"
    for path in (source_folder, out):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
    (source_folder / assignment.submission).write_bytes(order.source)
    sandbox.admit(order.folder, source_folder, source_folder / assignment.submission)
    has_view = sandboxed and not sandbox.is_of_user()
    worker = out / "worker"
    if assignment.is_python:
        worker.touch(0o755)
    python = find_numba_python(layout) if assignment.needs_numba else None
    command = [
        str(layout.build_script),
        *("--build", str(layout.build)),
        *("--assignment", str(assignment.path.parent)),
        # Its name in the sandbox: the compiled program must not reveal paths of this machine.
        *("--source", str((IN_BOX if has_view else source_folder) / assignment.submission)),
        *("--glue", str(layout.glue(assignment.id))),
        *("--out", str(worker)),
        *("--nvcc", str(toolchain.nvcc)),
        *(("--python", str(python.program)) if python else ()),
        *(("--parts", " ".join(order.parts)) if order.parts else ()),
    ]
    status_read, status_write = os.pipe()
    try:
        with cgroup.group(sandbox.PROCESSES, _MEMORY_BYTES) as groups:
            box = sandbox.Box(
                read_only=(
                    *layout.build_folders,
                    layout.glue(assignment.id),
                    assignment.path.parent,
                    layout.libraries,
                    *_outside_usr(toolchain.toolkit),
                    *(path for folder in (python.folders if python else ()) for path in _outside_usr(folder)),
                ),
                renamed=((source_folder, IN_BOX),),
                writable=(worker if assignment.is_python else out,),
                covered=(layout.root / "reference",),
                environment=(("PATH", f"{toolchain.nvcc.parent}:/usr/bin:/bin"), ("TMPDIR", "/tmp")),  # noqa: S108
                file_bytes=_WORKER_BYTES + 1 if assignment.is_python else _FILE_BYTES,
                tmp_bytes=_TMP_BYTES,
                address_bytes=0 if groups else _MEMORY_BYTES,
                cgroups=groups,
                status_fd=status_write,
            )
            ended = run_command(
                [*sandbox.prefix(box, sandboxed=sandboxed), *command],
                seconds=_SECONDS,
                output_cap=_OUTPUT_CAP,
                cwd=order.folder,
                environment={"PATH": "/usr/bin:/bin"},
                pass_fds=(status_write,),
                stop=stop,
            )
            used_up = cgroup.ran_out_of_memory(groups)
        os.close(status_write)
        status_write = -1
        started = not sandboxed or b"child-pid" in os.read(status_read, 4096)
    finally:
        os.close(status_read)
        if status_write >= 0:
            os.close(status_write)
    if not started:
        raise InfrastructureError(f"the sandbox did not start: {ended.output.strip()[-500:]}")
    if order.parts:
        return Built(None, ended.output, ended.seconds, refused=ended.status != 0)
    if ended.status == BUILD_SCRIPT_STATUS and python and order.source:
        # The source may have caused the script's failure. If an empty source fails too, this raises.
        build_worker(replace(order, source=b"", folder=order.folder / "empty"), stop)
        return _ended_by_the_file(order, ended)
    return _built(order, ended, worker, MachinePaths(layout, toolchain, source_folder, out), used_up=used_up)


def _ended_by_the_file(order: Order, ended: Ended) -> Built:
    return Built(None, f"{order.assignment.submission}: error: the file ended the compiler", ended.seconds)


def _built(order: Order, ended: Ended, worker: Path, paths: MachinePaths, *, used_up: bool) -> Built:
    """The result of a finished build; raises InfrastructureError if it says nothing about the source."""
    is_python = order.assignment.is_python
    if ended.timed_out:
        return Built(None, f"The compiler was stopped after {_SECONDS} seconds.", ended.seconds)
    if ended.status == BUILD_SCRIPT_STATUS:
        raise InfrastructureError(f"the build script can't work: {ended.output.strip()[-500:]}")
    if is_python and ended.status == 0 and worker.stat().st_size == 0:
        return _ended_by_the_file(order, ended)
    if ended.status == 0 and worker.is_file() and not worker.is_symlink():
        if (size := worker.stat().st_size) > _WORKER_BYTES:
            worker.unlink()
            message = f"The program has {size >> 20:,} MiB; the limit is {_WORKER_BYTES >> 20} MiB."
            return Built(None, message, ended.seconds)
        return Built(worker, "", ended.seconds)
    if ended.status == 0:
        raise InfrastructureError("the build script reported success but left no worker")
    # A file that needs more memory than allowed is its author's to fix. A compiler killed for any other reason means
    # the machine ran out of memory, and says nothing about the file; a Python file may print that it was killed.
    was_killed = ended.status == -signal.SIGKILL or (not is_python and _KILLED.search(ended.output))
    if not used_up and was_killed:
        raise InfrastructureError("the compiler was killed: this machine may lack memory for so many --jobs")
    need_space(order.folder)  # else the compiler may have failed for lack of space
    message = first_errors(ended.output, paths)
    if ended.status == REFUSED_STATUS:
        return Built(None, message, ended.seconds, refused=True)
    return Built(None, message or f"The compiler ended with status {ended.status} and said nothing.", ended.seconds)


def first_errors(output: str, paths: MachinePaths) -> str:
    """The compiler's message without this machine's paths, reduced to the parts around the first errors."""
    text = shown_block(paths.hide(output), _OUTPUT_CAP)
    lines = [line.rstrip() for line in text.strip().splitlines()]
    if len(lines) <= _FIRST_LINES:
        return "\n".join(lines)
    kept: list[str] = []
    until = -1
    for index, line in enumerate(lines):
        if re.search(r"\b(error|undefined reference|multiple definition)\b", line):
            until = index + _BESIDE_ERROR
        if index <= until:
            kept.append(line)
        if len(kept) >= _FIRST_LINES:
            break
    kept = kept or lines[:_FIRST_LINES]
    return "\n".join([*kept, f"… ({len(lines)} lines in total)"])


def _outside_usr(folder: Path) -> tuple[Path, ...]:
    return () if folder.is_relative_to("/usr") else (folder,)
