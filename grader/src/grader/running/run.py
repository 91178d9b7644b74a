"""Runs a suite on a worker and reads its results.

The suite is the judge: it is trusted, runs outside the sandbox, and starts the worker in the sandbox with the arguments
in its prefix file. A failure here is the harness's fault, never the student's: it is retried and reported as such.
Tests that ended in an earlier run that was killed are skipped, and their results come from the journal.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.base import cgroup, sandbox
from grader.base.errors import InfrastructureError, OverrunError
from grader.base.files import FileError, read_regular
from grader.base.layout import Layout
from grader.base.process import Ended, run_command
from grader.base.schema import SchemaError
from grader.base.secret import Secret
from grader.base.toolchain import Toolchain
from grader.model.assignment import Assignment
from grader.model.result import (
    EVIDENCE_SUITE,
    TIMING_SUITE,
    SuiteResult,
    TestResult,
    listed_tests,
    parse_result,
    passed_test,
)

_RESULT_BYTES = 64 << 20
_REST = 40  # pause as a multiple of the time to read a result: at most 2.5 % of a processor
_OUTPUT_CAP = 1 << 16
_LIST_SECONDS = 60
_HARNESS_STATUS = 3
_FINISHED_STATUSES = (0, 1)
_JUDGE_PROCESSES = 1024  # including threads of the virtual GPU
_JUDGE_SLACK = 1.25  # the judge checks its own memory periodically; what it misses hits the kernel's limit
# Processor time. A judge that is stopped after more than this was busy with the submission's requests: a whole suite
# takes a tenth of it. A judge that used less was delayed by the machine.
_BUSY_SECONDS = 300.0
_FILTER_BYTES = 100_000
_ONLY_TESTS = f"{EVIDENCE_SUITE}.*:{TIMING_SUITE}.*"


class PartialResultError(InfrastructureError):
    """The judge reports a harness failure; `result` is what it had found by then."""

    def __init__(self, message: str, result: SuiteResult) -> None:
        """`message` says what failed."""
        super().__init__(message)
        self.result = result


@dataclass(frozen=True)
class Suite:
    """A judge's executable, and all tests in it by full name."""

    path: Path
    tests: tuple[str, ...]


@dataclass(frozen=True)
class RunSettings:
    """How suites are run: the seed of all inputs, the device, its threads, and whether workers are boxed.

    `device` is "vgpu", or "cuda": then the virtual GPU finds faults and counts all the same, and a GPU adds its own
    verdicts and measured time; with `alone` only the GPU runs. `profile` names the device that the virtual GPU
    models; empty: the assignment's choice. With `fail_fast` the first test that fails ends the run; with `rung` only
    that one is tested. `times` are the rungs that are to be timed on a GPU; without any, tests run, and nothing is
    timed. With a `secret` each submission has a seed derived from it, and `seed` is not used.
    """

    seed: int
    device: str
    threads: int
    sandboxed: bool
    profile: str = ""
    fail_fast: bool = False
    alone: bool = False
    rung: str = ""
    times: tuple[str, ...] = ()
    secret: Secret | None = None

    def for_source(self, assignment: str, source: bytes) -> "RunSettings":
        """A copy with the seed of this submission."""
        return replace(self, seed=self.secret.seed(assignment, source), secret=None) if self.secret else self

    @property
    def on_gpu(self) -> bool:
        """Whether a GPU is used."""
        return self.device == "cuda"


def list_suite(layout: Layout, assignment: Assignment) -> Suite:
    """The assignment's suite and its tests; raises InfrastructureError if it fails to list them."""
    path = layout.suite(assignment.id)
    ended = _ended(
        [str(path), f"--assignment={assignment.path.parent}", "--gtest_list_tests", "--gtest_color=no"],
        seconds=_LIST_SECONDS,
        cwd=path.parent,
    )
    if ended.status != 0 or ended.timed_out:
        raise InfrastructureError(f"{path} --gtest_list_tests failed:\n{ended.output.strip()[-2000:]}")
    return Suite(path, tuple(listed_tests(ended.output)))


def run_suite(  # noqa: PLR0913 - a suite's options
    layout: Layout,
    toolchain: Toolchain,
    assignment: Assignment,
    suite: Suite,
    worker: Path,
    reference: Path | None,
    folder: Path,
    settings: RunSettings,
    *,
    done: Sequence[TestResult] = (),
    on_tests: Callable[[Sequence[TestResult]], None] = lambda _: None,
    stop: threading.Event | None = None,
    figures: Path | None = None,
    flags: Sequence[str] = (),
) -> SuiteResult:
    """Runs all tests except those in `done`, and returns the result of both; `flags` go to the suite too.

    `reference` is the reference's worker, `figures` a file with its counters. `on_tests` gets all finished tests
    whenever there are more. Raises InfrastructureError where the harness failed.
    """
    result_path = folder / "result.json"
    result_path.unlink(missing_ok=True)
    watch = _Watch(result_path, assignment, on_tests)
    judge_bytes = int(_JUDGE_SLACK * (assignment.limits.judge_mb << 20))
    with (
        cgroup.group(sandbox.PROCESSES, assignment.limits.memory_mb << 20) as groups,
        cgroup.group(_JUDGE_PROCESSES, judge_bytes) as judge_groups,
    ):
        box = _box(layout, toolchain, assignment, worker, settings, groups)
        prefix_path = folder / "prefix.txt"
        prefix_path.write_text(_lines(sandbox.prefix(box, sandboxed=settings.sandboxed)), encoding="utf-8")
        command = [
            *sandbox.join_prefix(judge_groups),
            str(suite.path),
            f"--assignment={assignment.path.parent}",
            f"--worker={worker}",
            *([f"--witness={witness}"] if (witness := layout.witness(assignment.id)).is_file() else []),
            *([f"--reference={reference}"] if reference else []),
            *([f"--figures={figures}"] if figures else []),
            f"--prefix={prefix_path}",
            f"--result={result_path}",
            _seed(settings, folder),
            f"--device={settings.device}",
            *([f"--profile={settings.profile}"] if settings.profile else []),
            f"--threads={settings.threads}",
            *([f"--rung={settings.rung}"] if settings.rung else []),
            "--gtest_color=no",
            *(["--gtest_fail_fast"] if settings.fail_fast else []),
            *_filter(done, settings),
            *flags,
        ]
        ended = _ended(command, seconds=_total_seconds(assignment, suite), cwd=folder, stop=stop, on_tick=watch.tick)
        if ended.status == -signal.SIGKILL and not ended.timed_out and cgroup.ran_out_of_memory(judge_groups):
            raise OverrunError(
                f"the judge was stopped while it ran the submission, because it used more than "
                f"{judge_bytes >> 20} MiB of memory"
            )
    if ended.timed_out and ended.processor_seconds > _BUSY_SECONDS:
        raise OverrunError(
            f"the judge was stopped while it ran the submission, after {ended.processor_seconds:,.0f} s of work: "
            f"{watch.reason or 'too slow'}"
        )
    if ended.timed_out:
        raise InfrastructureError(f"the suite was stopped after {ended.seconds:.0f} s: {watch.reason or 'too slow'}")
    if ended.status == _HARNESS_STATUS and not _is_only_inconclusive(result_path):
        raise _harness_failed(result_path, suite, done, ended.output)
    if ended.status not in (*_FINISHED_STATUSES, _HARNESS_STATUS):
        raise InfrastructureError(f"the suite ended with status {ended.status}:\n{ended.output.strip()[-2000:]}")
    result = read_result(result_path)
    if not result.finished:
        raise InfrastructureError("the suite ended without finishing its result file")
    if (result.assignment, result.seed) != (assignment.id, settings.seed):
        raise InfrastructureError("the result file belongs to another run")
    if any(verdict == "HARNESS" for verdict in _verdicts(result)):
        raise _harness_failed(result_path, suite, done, ended.output)
    return result.with_tests(in_order(suite, (*done, *result.tests)))


def measure_suite(  # noqa: PLR0913 - a suite's options
    layout: Layout,
    toolchain: Toolchain,
    assignment: Assignment,
    suite: Suite,
    worker: Path,
    folder: Path,
    settings: RunSettings,
    *,
    stop: threading.Event | None = None,
    flags: Sequence[str] = (),
) -> SuiteResult:
    """Runs only the evidence runs of all rungs: the suite measures them even if all its tests are filtered out."""
    left_out = [passed_test(test, "") for test in suite.tests]
    return run_suite(
        layout, toolchain, assignment, suite, worker, None, folder, settings, done=left_out, stop=stop, flags=flags
    )


def _verdicts(result: SuiteResult) -> list[str]:
    verdicts = [test.verdict for test in result.tests] + [entry.verdict for entry in result.evidence]
    return verdicts + [entry.verdict for entry in result.timings if not entry.is_inconclusive]


def _is_only_inconclusive(path: Path) -> bool:
    """Whether the suite finished and the only problem is an inconclusive time."""
    try:
        result = read_result(path)
    except InfrastructureError:
        return False
    return result.finished and not result.is_conclusive and "HARNESS" not in _verdicts(result)


def why_no_gpu(layout: Layout, assignment: Assignment) -> str:
    """Empty if suites can use a GPU here; else the judge's error. Runs no test and no student code."""
    path = layout.suite(assignment.id)
    # The suite requires a worker argument, but does not start it.
    ended = _ended(
        [
            str(path),
            f"--assignment={assignment.path.parent}",
            f"--worker={path}",
            "--device=cuda",
            "--gtest_filter=*-*",
        ],
        seconds=_LIST_SECONDS,
        cwd=path.parent,
    )
    if ended.status == 0:
        return ""
    said = ended.output.strip().splitlines() or ["it says nothing"]
    return said[-1]


def _harness_failed(path: Path, suite: Suite, done: Sequence[TestResult], output: str) -> InfrastructureError:
    """The exception for a harness failure, with the judge's message if the result file has one."""
    try:
        result = read_result(path)
    except InfrastructureError:
        return InfrastructureError(f"the suite reports that the harness failed:\n{output.strip()[-2000:]}")
    messages = [test.said for test in result.tests if test.verdict == "HARNESS"]
    messages += [entry.said for entry in result.evidence if entry.verdict == "HARNESS"]
    messages += [entry.said for entry in result.timings if entry.verdict == "HARNESS"]
    message = messages[0] if messages else output.strip()[-2000:]
    whole = result.with_tests(in_order(suite, (*done, *result.tests)))
    return PartialResultError(f"the suite reports that the harness failed:\n{message}", whole)


def read_result(path: Path) -> SuiteResult:
    """Reads a result file as untrusted input; raises InfrastructureError."""
    try:
        return parse_result(read_regular(path, _RESULT_BYTES))
    except FileNotFoundError:
        raise InfrastructureError("the suite left no result file") from None
    except (FileError, SchemaError) as error:
        raise InfrastructureError(f"the suite's result can't be read: {error}") from error


def in_order(suite: Suite, tests: Sequence[TestResult]) -> tuple[TestResult, ...]:
    """Each test once (the later result counts), in the suite's order."""
    latest = {test.name: test for test in tests}
    place = {name: index for index, name in enumerate(suite.tests)}
    return tuple(sorted(latest.values(), key=lambda test: place.get(test.name, len(place))))


class _Watch:
    """Polls the result file while the suite runs: passes on finished tests, and detects a stuck suite."""

    def __init__(self, path: Path, assignment: Assignment, on_tests: Callable[[Sequence[TestResult]], None]) -> None:
        self._path = path
        self._patience = max(900.0, 12 * assignment.limits.call_seconds)
        self._on_tests = on_tests
        self._stamp = 0
        self._next = 0.0
        self._changed = time.monotonic()
        self.reason = ""

    def tick(self) -> bool:
        try:
            stamp = self._path.stat().st_mtime_ns
        except OSError:
            stamp = 0
        if stamp != self._stamp and time.monotonic() >= self._next:
            self._stamp = stamp
            self._changed = time.monotonic()
            began = time.thread_time()
            with contextlib.suppress(InfrastructureError):  # checked when the suite ends
                self._on_tests(read_result(self._path).tests)
            # The file grows with each test and is read as a whole, so it is polled less often.
            self._next = time.monotonic() + _REST * (time.thread_time() - began)
        if time.monotonic() - self._changed > self._patience:
            self.reason = f"no test ended for {self._patience:.0f} s"
            return False
        return True


def _box(
    layout: Layout,
    toolchain: Toolchain,
    assignment: Assignment,
    worker: Path,
    settings: RunSettings,
    groups: tuple[Path, ...],
) -> sandbox.Box:
    on_gpu = settings.on_gpu
    nvidia_libraries = [toolchain.toolkit / "lib64", toolchain.toolkit / "lib"] if on_gpu else []
    # CUDA on a GPU reserves a large address range. The virtual GPU runs inside the judge: there an address-space limit
    # can replace a control group's. Each thread's own arena of malloc would take 64 MiB of it.
    by_addresses = not on_gpu and not groups
    return sandbox.Box(
        read_only=(worker.parent, layout.libraries, *(path for path in nvidia_libraries if path.is_dir())),
        covered=(layout.root / "reference",),
        gpu=on_gpu,
        address_bytes=assignment.limits.memory_mb << 20 if by_addresses else 0,
        environment=(("MALLOC_ARENA_MAX", "1"),) if by_addresses else (),
        processes=256 if on_gpu else sandbox.PROCESSES,
        cgroups=groups,
    )


def _seed(settings: RunSettings, folder: Path) -> str:
    """The flag with the seed. In a sandbox by user id, arguments of all processes are readable, so the seed goes into a
    file.
    """
    if not (settings.sandboxed and sandbox.is_of_user()):
        return f"--seed={settings.seed}"
    path = folder / "seed"
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(f"{settings.seed}\n")
    return f"--seed-file={path}"


def _lines(words: Sequence[str]) -> str:
    if any("\n" in word for word in words):
        raise InfrastructureError("a path with a line feed in it can't be given to the suite")
    return "".join(f"{word}\n" for word in words)


def _filter(done: Sequence[TestResult], settings: RunSettings) -> list[str]:
    if settings.times:
        return [f"--gtest_filter={':'.join(f'{TIMING_SUITE}.*/{rung}' for rung in settings.times)}"]
    names = ":".join(test.name for test in done)
    if len(names) >= _FILTER_BYTES:
        names = ""
    if settings.on_gpu:
        # A filter with a leading star keeps the suite from measuring rungs that no criterion measures.
        return [f"--gtest_filter=*-{_ONLY_TESTS}{':' if names else ''}{names}"]
    return [f"--gtest_filter=-{names}"] if names else []


def _total_seconds(assignment: Assignment, suite: Suite) -> float:
    """Upper bound on a suite's run time: every call of every test hits its limit."""
    return 300 + 6 * assignment.limits.call_seconds * max(len(suite.tests), 10)


def _environment() -> dict[str, str]:
    """The judge's environment. Of several GPUs it uses the one assigned to the grader, for example by Slurm."""
    given = {name: os.environ[name] for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER") if name in os.environ}
    return {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"} | given  # noqa: S108


def _ended(
    command: Sequence[str],
    *,
    seconds: float,
    cwd: Path,
    stop: threading.Event | None = None,
    on_tick: Callable[[], bool] | None = None,
) -> Ended:
    try:
        return run_command(
            command,
            seconds=seconds,
            output_cap=_OUTPUT_CAP,
            cwd=cwd,
            environment=_environment(),
            stop=stop,
            on_tick=on_tick,
        )
    except OSError as error:
        raise InfrastructureError(f"{command[0]} can't be started: {error.strerror}") from error
