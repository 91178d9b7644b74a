"""What `test`, `check`, `profile`, `debug` and `hint` do: build a student's solution, run the public suite, explain.

`command` calls it once the harness is built. The student's own code runs on the student's own machine, so
there is no sandbox. Only the standard library is used: students need no Python packages.

Status: 0 everything requested is right, 1 something is not, 3 the harness failed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.base.errors import GraderError, UsageError
from grader.base.files import FileError, read_regular, write_atomic
from grader.base.layout import Layout
from grader.base.process import run_command
from grader.base.schema import SchemaError
from grader.base.worker_key import BUILD_SCRIPT_STATUS, REFUSED_STATUS, worker_key
from grader.model import reports
from grader.model.assignment import Assignment, load_assignment
from grader.model.picture import findings_said
from grader.model.result import SuiteResult, listed_tests, parse_result
from grader.student.compile_hints import compile_hint, warning_hints
from grader.student.hints import hint
from grader.student.machine_code import ARCH, MachineChanges, find_disassembler, look_at_machine_code
from grader.student.mistyped import DEVICES, no_device, no_file, no_rung, no_test
from grader.student.page import failure_page, profile_page, read_template
from grader.student.text import (
    Choice,
    Terminal,
    faults,
    first_failure,
    open_rungs,
    overview,
    profile_text,
    report,
    with_found_line,
)
from grader.student.typed import Typed

_HARNESS_STATUS, _WRONG_STATUS = 3, 1
_SECONDS = 3600
_BYTES = 64 << 20
_ALL_LEFT_OUT = "-*"  # no tests: the suite then measures every selected rung
_NO_EVIDENCE = "-Evidence.*"
_SEARCH_SECONDS = 2  # of processor time
_SEARCHED = {"WRONG", "BOUNDS", "UNINIT", "RACE"}  # verdicts for which the faulty line is searched
_PATIENCE_SECONDS = 3.0
_KEY = 16  # length of a worker's hash in its name
_MOST_WORKERS = 8  # kept per assignment
GPU_NODES = (Path("/dev/nvidiactl"), Path("/dev/dxg"))  # device nodes made by the driver, on Linux and on WSL


class _CompileError(Exception):
    """The compiler's message."""


class _RefusedError(_CompileError):
    """Why the file is not accepted, although it may compile."""


@dataclass(frozen=True)
class Request:
    """The parsed command: its action, its assignments, and the selected rungs or tests.

    `state`: a file with data for `watch`, written after the tests. `sarif`, `junit`: report files; `annotations`:
    whether to print findings in GitHub's log format too.
    """

    command: str
    names: Sequence[str]
    choice: Choice = field(default_factory=Choice)
    device: str = "vgpu"
    seed: str = ""
    verbose: bool = False
    page: bool = False
    source: Path | None = None
    flags: Sequence[str] = ()
    typed: Typed = field(default_factory=Typed)
    state: Path | None = None
    sarif: Path | None = None
    junit: Path | None = None
    annotations: bool = False


def carry_out(layout: Layout, request: Request) -> int:
    """Runs one command and returns its status. Raises GraderError if it can't be run."""
    return _Student(layout, request).run()


class _Student:
    """A command that a student typed, while it runs."""

    def __init__(self, layout: Layout, request: Request) -> None:
        self._layout = layout
        self._request = request
        self._stamp = 0  # of the result file shown last
        self._since = time.monotonic()  # when it was shown
        self._waits_for = ""  # the test that has run since then, if known
        plain = "NO_COLOR" in os.environ or os.environ.get("TERM", "dumb") == "dumb"
        self._is_terminal = sys.stdout.isatty()
        columns = shutil.get_terminal_size().columns if self._is_terminal else 0
        self._to = Terminal(colour=self._is_terminal and not plain, columns=columns)

    def run(self) -> int:
        if self._request.device not in DEVICES:
            raise UsageError(no_device(self._request.device))
        if self._request.command in ("check", "profile", "debug") and self._request.device == "cuda":
            self._print(f"make {self._request.command} uses the virtual GPU: only it has what that takes.\n")
            self._request = replace(self._request, device="vgpu")
        if self._request.device == "cuda" and not any(node.exists() for node in GPU_NODES):
            raise GraderError(
                "This machine has no NVIDIA GPU.\nType:  make test      for the virtual GPU, which needs none"
            )
        names = self._request.names or self._layout.assignments()
        assignments = [load_assignment(self._layout.assignment(name)) for name in names]
        if self._request.command == "hint":
            return self._hint(assignments)
        if len(assignments) == 1:
            return self._one(assignments[0])
        if self._request.command == "debug":
            raise UsageError(f"Debug one assignment.\nType:  cd assignments/{names[0]} && make debug")
        if self._request.sarif or self._request.junit or self._request.annotations:
            raise UsageError(f"Such a report is of one assignment.\nType:  cd assignments/{names[0]} && make test")
        if self._request.command == "test":
            return self._all(assignments)
        status = 0
        for assignment in assignments:
            self._print(f"{assignment.id}\n")
            status = max(status, self._one(assignment))
            self._print()
        return status

    def _hint(self, assignments: Sequence[Assignment]) -> int:
        if len(assignments) > 1:
            raise UsageError(f"A hint is for one assignment.\nType:  cd assignments/{assignments[0].id} && make hint")
        try:
            source = self._source(assignments[0]).read_text(encoding="utf-8", errors="replace")
        except OSError:
            source = ""
        self._print(hint(self._layout, assignments[0], self._request.choice.rung, source))
        return 0

    def _one(self, assignment: Assignment) -> int:
        try:
            worker = self._worker(assignment)
        except _CompileError as error:
            said = str(error)
            is_refused = isinstance(error, _RefusedError)
            self._report(assignment, reports.not_compiled(self._source(assignment).name, said, is_refused=is_refused))
            text = self._source(assignment).read_text(encoding="utf-8", errors="replace")
            hint_line = f"  hint    {found}\n\n" if (found := compile_hint(said, text)) else ""
            what = "is REJECTED, with no points" if is_refused else "does not compile: fix the first error above"
            self._print(f"{said}\n\n{hint_line}{assignment.submission} {what}.  Next: make test")
            return _WRONG_STATUS
        commands = {"test": self._test, "check": self._check, "profile": self._profile, "debug": self._debug}
        return commands[self._request.command](assignment, worker)

    def _test(self, assignment: Assignment, worker: Path) -> int:
        filters = [f"--gtest_filter=*{self._request.choice.test}*"] if self._request.choice.test else []
        result, table = self._suite(assignment, worker, filters, verbose=self._request.verbose)
        if self._request.choice.test and not result.tests and not result.evidence:
            raise UsageError(no_test(assignment, self._request.choice.test, self._tests(assignment)))
        source = self._source(assignment).read_text(encoding="utf-8", errors="replace")
        result = self._with_line(assignment, worker, result, source)
        self._print(
            report(assignment, result, source, self._request.choice, table, self._to, wide=self._request.verbose),
            end="",
        )
        self._report(assignment, reports.outcomes(result))
        write_atomic(self._seed_path(assignment), str(result.seed))
        if self._request.page:
            self._page_of_failure(assignment, worker, result)
        if self._request.state is not None:
            state = {"open": [row.id for row in open_rungs(assignment, result)], "status": _status(assignment, result)}
            write_atomic(self._request.state, json.dumps(state))
        return _status(assignment, result)

    def _with_line(self, assignment: Assignment, worker: Path, result: SuiteResult, source: str) -> SuiteResult:
        """The result with the line of the first mistake, if a single edit of the program reveals it.

        Edits are tried in a separate process: they change the message, never the verdict.
        """
        first = first_failure(assignment, result)
        if first is None or first.verdict not in _SEARCHED or self._request.device != "vgpu":
            return result
        flags = [f"--gtest_filter=*/{first.rung}-{_NO_EVIDENCE[1:]}", f"--edits={_SEARCH_SECONDS}"]
        try:
            found, _ = self._suite(assignment, worker, [*flags, f"--seed={result.seed}"])
        except GraderError:
            return result  # the search is optional
        tests = [test for test in found.tests if test.name == first.name and test.hint]
        return with_found_line(result, first, tests[0], source) if tests else result

    def _page_of_failure(self, assignment: Assignment, worker: Path, result: SuiteResult) -> None:
        """Repeats the first test that fails, up to the call that fails, and writes a page about that call."""
        first = first_failure(assignment, result)
        if first is None or self._request.device != "vgpu":
            self._print("\nNo test fails, so there is no page about one.  Next: make profile PAGE=1")
            return
        told = "\n".join([*(line.text for line in first.lines), *first.launches])
        named = re.search(r"\bblock \((\d+,\d+,\d+)\)", told)  # parses a launch's line, which has no fields
        block = named[1] if named else "0,0,0"
        flags = [f"--gtest_filter={first.name}", f"--rung={first.rung}", f"--seed={result.seed}", f"--replay={block}"]
        again, recorded = self._recorded(assignment, worker, flags)
        if first.name in recorded and again.tests[0].verdict == first.verdict:
            page = failure_page(read_template(self._layout.harness), first, result.seed, recorded[first.name])
            self._write_page(self._layout.build / "pages" / f"{assignment.id}.failure.html", page)
        else:
            self._print("\nThis failure has no page: its call launched no kernel, or did not fail so when repeated.")

    def _recorded(
        self, assignment: Assignment, worker: Path, flags: Sequence[str]
    ) -> tuple[SuiteResult, dict[str, Any]]:
        """The suite's result, and by test or rung what a page shows of its call."""
        with tempfile.TemporaryDirectory(prefix="lockstep-") as folder:
            path = Path(folder) / "page.json"
            result, _ = self._suite(assignment, worker, [*flags, *([f"--page={path}"] if self._request.page else [])])
            return result, json.loads(read_regular(path, _BYTES)) if path.is_file() else {}

    def _write_page(self, path: Path, page: str) -> None:
        path.parent.mkdir(exist_ok=True)
        write_atomic(path, page)
        self._print(f"\nFor a browser: {path}")

    def _seed_path(self, assignment: Assignment) -> Path:
        """The file with the seed of the last `test`: `debug` uses it, so that it repeats what `test` found."""
        path = self._layout.build / "seeds" / assignment.id
        path.parent.mkdir(exist_ok=True)
        return path

    def _report(self, assignment: Assignment, found: Sequence[reports.Outcome]) -> None:
        """Writes the findings in the requested formats."""
        request, source = self._request, self._source(assignment).absolute()
        source = source.relative_to(Path.cwd()) if source.is_relative_to(Path.cwd()) else source
        texts = {request.sarif: reports.sarif(found, source), request.junit: reports.junit(assignment.id, found)}
        for path, text in texts.items():
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomic(path, text)
        if request.annotations:
            print(reports.annotations(found, source), end="")

    def _tests(self, assignment: Assignment) -> list[str]:
        """The full names of the suite's tests."""
        command = [
            str(self._layout.public_suite(assignment.id)),
            f"--assignment={assignment.path.parent}",
            "--gtest_list_tests",
        ]
        return listed_tests(subprocess.run(command, capture_output=True, text=True, check=False).stdout)

    def _check(self, assignment: Assignment, worker: Path) -> int:
        test = self._request.choice.test
        filters = [f"--gtest_filter=*{test}*:{_NO_EVIDENCE}" if test else f"--gtest_filter={_NO_EVIDENCE}"]
        result, _ = self._suite(assignment, worker, filters)
        self._print(faults(result, self._to), end="")
        self._report(assignment, reports.outcomes(result))
        return _WRONG_STATUS if any(test.findings for test in result.tests) else 0

    def _profile(self, assignment: Assignment, worker: Path) -> int:
        result, recorded = self._recorded(assignment, worker, [f"--gtest_filter={_ALL_LEFT_OUT}"])
        runs = list(result.runs("submission").values())
        if not runs:
            if not any(criterion.metric for criterion in assignment.criteria):
                self._print(f"{assignment.id} has nothing to profile: only its results count.  Next: make test")
            else:
                self._print("Nothing to profile yet: a rung is measured once its results are right.  Next: make test")
            return _WRONG_STATUS
        if not any(run.launches for run in runs):
            self._print("You launched no kernel, so there are no kernel lines to profile.  Next: make test")
            return 0
        source = self._source(assignment)
        text = source.read_text(encoding="utf-8", errors="replace")
        self._print(profile_text(source.name, runs, text, self._to, self._machine_code(assignment)), end="")
        if self._request.page:
            path = self._layout.build / "pages" / f"{assignment.id}.html"
            last = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
            self._write_page(
                path, profile_page(read_template(self._layout.harness), assignment, result, recorded, last)
            )
        return 0

    def _debug(self, assignment: Assignment, worker: Path) -> int:
        """Runs the tests, and the first that fails, else the first, again under the debugger."""
        test = self._request.choice.test
        kept = self._seed_path(assignment)
        if not self._request.seed and kept.is_file():
            self._request = replace(self._request, seed=kept.read_text(encoding="utf-8"))
        result, _ = self._suite(assignment, worker, [f"--gtest_filter=*{test}*:{_NO_EVIDENCE}"])
        if not result.tests:
            raise UsageError(no_test(assignment, test, self._tests(assignment)))
        failed = [one for one in result.tests if one.verdict != "PASS"]
        begun = [one for one in failed if one.launches or one.findings]
        first = first_failure(assignment, replace(result, evidence=())) or (begun or failed or result.tests)[0]
        self._print(first.said or f"{first.name} passes.")
        if first.unfinished:
            self._print("\nThere is no kernel to step through yet.  Next: make hint")
            return _WRONG_STATUS
        where = f"launch {first.launches_before + 1}, with which the call that fails begins"
        where = where if first.message else "first launch"
        self._print(f"\nThe debugger stops in this test's {where}; help lists its commands.")
        points = [
            f"break {place.file}:{place.line} block {_point(place.block)} thread {_point(place.thread)}"
            for finding in findings_said(first)[:1]
            for place in finding.places
            if place.line and place.thread
        ]
        if points:
            self._print(f"There are breakpoints at what was found: {'; '.join(points)}")
        self._print(f"The seed is {result.seed}, as in the last make test.\n" if kept.is_file() else "")
        flags = [f"--gtest_filter={first.name}", f"--rung={first.rung}", f"--seed={result.seed}", "--threads=1"]
        flags += ["--quiet", f"--debug={first.launches_before if first.message else 0}"]
        command = self._command(assignment, worker, flags)
        sys.stdout.flush()
        environment = os.environ | ({"LOCKSTEP_DEBUG_POINTS": "\n".join(points)} if points else {})
        status = subprocess.run(command, check=False, env=environment).returncode
        return _HARNESS_STATUS if status == _HARNESS_STATUS else 0

    def _machine_code(self, assignment: Assignment) -> MachineChanges | None:
        """Where a GPU's execution differs from the PTX; None if that can't be determined."""
        source, compiler = self._source(assignment), self._layout.build / "nvcc.txt"
        nvcc = compiler.read_text(encoding="utf-8").strip() if compiler.is_file() else "nvcc"
        if find_disassembler(nvcc) is None:
            return None
        with tempfile.TemporaryDirectory(prefix="lockstep-") as folder:
            ptx = Path(folder) / "code.ptx"
            command = [
                str(self._layout.build_script),
                *("--build", str(self._layout.build)),
                *("--assignment", str(assignment.path.parent)),
                *("--source", str(source)),
                *("--arch", ARCH),
                *("--ptx", str(ptx)),
            ]
            if subprocess.run(command, capture_output=True, check=False).returncode != 0:
                return None
            return look_at_machine_code(ptx, source.name, nvcc, Path(folder))

    def _all(self, assignments: Sequence[Assignment]) -> int:
        status = 0
        states: list[tuple[Assignment, SuiteResult | None, str]] = []
        self._say(f"compiling {len(assignments)} solutions")
        # All builds finish before the first suite starts, so that nothing disturbs timings on a GPU.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            builds = [pool.submit(self._build, assignment) for assignment in assignments]
        for assignment, build in zip(assignments, builds, strict=True):
            try:
                worker, warnings = build.result()
                self._warn(warnings)
                result, _ = self._suite(assignment, worker, [])
            except _CompileError as error:
                what = "is REJECTED" if isinstance(error, _RefusedError) else "does not compile"
                states.append((assignment, None, f"{assignment.submission} {what}"))
                status = max(status, _WRONG_STATUS)
                continue
            except GraderError as error:
                states.append((assignment, None, str(error).partition("\n")[0]))
                status = _HARNESS_STATUS
                continue
            states.append((assignment, result, ""))
            status = max(status, _status(assignment, result))
        self._print(overview(states, self._to), end="")
        to_do = [one for one, result, _ in states if result is None or _status(one, result) != 0]
        if to_do:
            self._print(f"\n  Next:  cd {to_do[0].path.parent.relative_to(self._layout.root)} && make test")
        else:
            self._print("\n  All done, as far as the public tests can tell.")
        return status

    def _source(self, assignment: Assignment) -> Path:
        return self._request.source or assignment.path.parent / assignment.submission

    def _worker(self, assignment: Assignment) -> Path:
        """The built solution, after the compiler's warnings. Raises _CompileError."""
        self._say(f"compiling {self._source(assignment).name}")
        try:
            worker, warnings = self._build(assignment)
        finally:
            self._say("")
        self._warn(warnings)
        return worker

    def _warn(self, warnings: str) -> None:
        if warnings:
            self._say("")
            self._print("\n".join([warnings, "", *(f"{hint}\n" for hint in warning_hints(warnings))]))

    def _build(self, assignment: Assignment) -> tuple[Path, str]:
        """The solution and the compiler's warnings, compiled if a dependency changed.

        Raises _CompileError.
        """
        path = self._source(assignment)
        try:
            source = read_regular(path, _BYTES)
        except FileNotFoundError as error:
            raise GraderError(no_file(path)) from error
        except FileError as error:
            raise GraderError(f"{path} can't be read: {error}") from error
        if assignment.edits and (why_not := assignment.edits.refusal(source, path.name)):
            raise _RefusedError(why_not)
        compiler = self._layout.build / "nvcc.txt"
        version = compiler.read_text(encoding="utf-8") if compiler.is_file() else ""
        lines = ["--lines", "-G"] if self._request.command == "debug" else []
        # The name depends on the content, so runs at the same time with different files don't share a worker. The
        # debugger reads the file at the path that the worker was built from.
        flags = "".join([*lines, str(path)]) if lines else ""
        key = worker_key(self._layout, assignment.id, source, version + flags)[:_KEY]
        worker = self._layout.build / "workers" / f"{assignment.id}.{key}"
        warnings = worker.with_name(f"{worker.name}.said")
        if worker.is_file():
            worker.touch()
            return worker, warnings.read_text(encoding="utf-8") if warnings.is_file() else ""
        worker.parent.mkdir(parents=True, exist_ok=True)
        made = worker.with_name(f"{worker.name}.{os.getpid()}")
        command = [
            str(self._layout.build_script),
            *("--build", str(self._layout.build)),
            *("--assignment", str(assignment.path.parent)),
            *("--source", str(path)),
            *("--glue", str(self._layout.glue(assignment.id))),
            *("--out", str(made)),
            *lines,
        ]
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        message = ended.stdout.decode("utf-8", "replace").replace(f"{path.parent}/", "").strip()
        if ended.returncode == BUILD_SCRIPT_STATUS:
            raise GraderError(message)
        if ended.returncode != 0:
            raise (_RefusedError if ended.returncode == REFUSED_STATUS else _CompileError)(message)
        write_atomic(warnings, message)  # shown at every run: they may explain a failure
        made.replace(worker)
        ours = [one for one in worker.parent.glob(f"{assignment.id}.*") if len(one.suffix) == 1 + _KEY]
        for old in sorted(ours, key=lambda one: one.stat().st_mtime)[:-_MOST_WORKERS]:
            old.unlink(missing_ok=True)
            old.with_name(f"{old.name}.said").unlink(missing_ok=True)
        return worker, message

    def _command(self, assignment: Assignment, worker: Path, flags: Sequence[str]) -> list[str]:
        request = self._request
        return [
            str(self._layout.public_suite(assignment.id)),
            f"--assignment={assignment.path.parent}",
            f"--worker={worker}",
            *([f"--witness={witness}"] if (witness := self._layout.witness(assignment.id)).is_file() else []),
            f"--device={request.device}",
            *([f"--rung={_for_judge(assignment, request.choice.rung)}"] if request.choice.rung else []),
            *([f"--seed={request.seed}"] if request.seed else []),
            f"--gtest_color={'yes' if self._to.colour else 'no'}",
            *flags,
            *request.flags,
        ]

    def _suite(
        self, assignment: Assignment, worker: Path, flags: Sequence[str], *, verbose: bool = False
    ) -> tuple[SuiteResult, str]:
        """The suite's result, and its printed table. Raises GraderError if the harness failed."""
        if (rung := self._request.choice.rung) and not assignment.rungs_named(rung):
            raise UsageError(no_rung(assignment, rung))
        with tempfile.TemporaryDirectory(prefix="lockstep-") as folder:
            path = Path(folder) / "result.json"
            command = self._command(
                assignment, worker, [f"--result={path}", *(["--quiet"] if not verbose else []), *flags]
            )
            self._since = time.monotonic()
            if verbose:
                sys.stdout.flush()
                status, output = subprocess.run(command, check=False).returncode, ""
            else:
                ended = run_command(
                    command,
                    seconds=_SECONDS,
                    output_cap=1 << 20,
                    cwd=Path.cwd(),
                    environment=os.environ,
                    on_tick=lambda: self._progress(assignment, path),
                )
                status, output = ended.status, ended.output
            self._say("")
            if status == _HARNESS_STATUS and not path.is_file():
                raise GraderError(output.strip())
            try:
                result = parse_result(read_regular(path, _BYTES))
            except (FileNotFoundError, FileError, SchemaError) as error:
                raise GraderError(f"the suite ended with status {status} and left no result:\n{output}") from error
            if not result.finished:
                raise GraderError(f"the suite ended with status {status} before its tests did:\n{output}")
        return result, output

    def _progress(self, assignment: Assignment, path: Path) -> bool:
        """A progress line for the suite, on a terminal."""
        if not self._is_terminal:
            return True
        now = time.monotonic()
        try:
            stamp = path.stat().st_mtime_ns
            if stamp != self._stamp:
                self._stamp, self._since, self._waits_for = stamp, now, ""
                self._say(parse_result(read_regular(path, _BYTES)).tests[-1].name)
        except (OSError, FileError, SchemaError, IndexError):
            pass  # nothing to show yet
        if (waited := now - self._since) > _PATIENCE_SECONDS:
            self._waits_for = self._waits_for or self._running_test(assignment, path)
            self._say(f"waiting {waited:.0f} s for {self._waits_for}: an endless loop?")
        return True

    def _running_test(self, assignment: Assignment, path: Path) -> str:
        """The first test, in the suite's order, that is not in the result file yet."""
        try:
            ended = {test.name for test in parse_result(read_regular(path, _BYTES)).tests}
        except (OSError, FileError, SchemaError):
            ended = set()
        rung, part = self._request.choice.rung, self._request.choice.test
        for name in self._tests(assignment):
            of = next((one for one in assignment.rungs if name.endswith(f"/{one.id}")), None)
            is_chosen = part in name and (not rung or (of is not None and of.is_named(rung)))
            if is_chosen and name not in ended:
                return name.partition(".")[2].partition("/")[0]
        return "the measurements"

    def _print(self, text: str = "", end: str = "\n") -> None:
        """Prints text for the student, with commands in the form that was typed."""
        print(self._request.typed(text), end=end)

    def _say(self, text: str) -> None:
        if self._is_terminal:
            sys.stdout.write(f"\r\033[K{self._to.paint(text[:78], 'dim')}")
            sys.stdout.flush()


def _status(assignment: Assignment, result: SuiteResult) -> int:
    counted = [test for test in result.tests if not (test.unfinished and assignment.is_bonus_rung(test.rung))]
    verdicts = [test.verdict for test in counted]
    verdicts += [entry.verdict for entry in result.evidence if not assignment.is_bonus_rung(entry.rung)]
    if "HARNESS" in verdicts:
        return _HARNESS_STATUS
    return _WRONG_STATUS if any(verdict != "PASS" for verdict in verdicts) else 0


def _point(index: Sequence[int]) -> str:
    return f"({','.join(map(str, index))})"


def _for_judge(assignment: Assignment, rung: str) -> str:
    """A student's word for a rung in the judge's form, which has no letters for rungs with the same number."""
    named = assignment.rungs_named(rung)
    return named[0].id if len(named) == 1 else rung
