"""A Python assignment with the suite of the circular shift: results of each python_shift solution, in the sandbox."""

import contextlib
import importlib.util
import shutil
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import BUILD, ROOT, needs, needs_build, needs_sandbox
from grader.authoring.declared import collect
from grader.authoring.opponents import check_verdict, find_corpus
from grader.authoring.solutions import Solution, solutions_in
from grader.base.errors import InfrastructureError
from grader.base.layout import Layout
from grader.base.toolchain import find_toolchain
from grader.model.assignment import load_assignment
from grader.model.discovery import Submission
from grader.model.record import Record
from grader.model.roster import Student
from grader.running.bench import Bench, prepare
from grader.running.build import Built, Order, build_worker
from grader.running.pipeline import Desk, grade_one
from grader.running.run import RunSettings
from grader.running.store import Journal

DATA = Path(__file__).parent / "python_shift"
SOLUTIONS = DATA / "solutions"
WRONG = solutions_in(SOLUTIONS, "wrong", "shift.py")[0]
NAME = "03_circular_shift"
LIBRARIES = (
    "liblockstep_worker.a", "liblockstep_wire.a", "liblockstep_python.a", "libcudart.so.13", "python_flags.txt",
)  # fmt: skip

SAID = {
    "no_guard": ["shift_kernel<<<1,256>>>", "just past the end of d_out", "shift.py:17  write"],
    "no_barrier": ["shift.py:17  write", "shift.py:19  read", "put cuda.syncwarp()"],
    "endless_kernel": ["the launch took more than", "  shift.py:1"],
    "endless_launcher": ["the host code did not return within 3 seconds", "  at      shift.py:2"],
    "divides_by_zero": [
        "the launcher raised ZeroDivisionError: integer division or modulo by zero\n  at      shift.py:23\n"
    ],
    "exits": ["the launcher raised SystemExit: 0\n  at      shift.py:23\n"],
    "empty_grid": ["a grid needs at least one block", "shift.py:23"],
    "block_too_large": ["a block has at most 1,024 threads", "shift.py:23"],
    "swallows_the_error": ["a block has at most 1,024 threads", "shift.py:24"],
    "swaps_arguments": [
        "the launcher raised TypeError: argument 2 of shift_kernel: expected a device array of int32 with 1 dimension, "
        "got int 1\n  at      shift.py:23\n"
    ],
    "on_the_host": ["the result is right, but no kernel was launched"],
}

needs_numba = needs(
    importlib.util.find_spec("numba_cuda") is not None, "Numba is missing; type: harness/setup.sh --python"
)
needs_interpreter = needs(
    (BUILD / "lib" / "liblockstep_python.a").is_file(),
    "the build has no Python for workers; type: harness/setup.sh --python && make build",
)
pytestmark = [needs_build, needs_sandbox, needs_numba, needs_interpreter]


def made_checkout(root: Path) -> Layout:
    """A checkout whose shift is in Python, with what its workers need of the real build tree."""
    layout = Layout(root, root / "build")
    for folder in (layout.assignment(NAME), root / "harness" / "suites", layout.compiled_glue(NAME).parent):
        folder.mkdir(parents=True)
    for folder in ("protocol", "worker"):
        shutil.copytree(ROOT / "harness" / folder, root / "harness" / folder)
    for path in (DATA / "assignment.toml", DATA / "shift.py"):
        shutil.copyfile(path, layout.assignment(NAME) / path.name)
    # No reference, which would be built and measured first.
    shutil.copytree(SOLUTIONS, layout.reference(NAME), ignore=shutil.ignore_patterns("shift.py"))
    (layout.build / "bin").symlink_to(BUILD / "bin")
    for name in ("nvcc.txt", "link_flags.txt", *(f"lib/{name}" for name in LIBRARIES)):
        if (BUILD / name).is_file():
            shutil.copyfile(BUILD / name, layout.build / name)
    shutil.copyfile(DATA / "launchers.cc", layout.glue(NAME))
    paths = [f"-I{root / 'harness'}", str(layout.glue(NAME)), "-o", str(layout.build / "glue.o")]
    subprocess.run(["/usr/bin/g++", "-c", "-O1", "-std=c++20", "-fPIC", *paths], check=True)
    subprocess.run(["/usr/bin/ar", "rcs", str(layout.compiled_glue(NAME)), str(layout.build / "glue.o")], check=True)
    return layout


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    root = tmp_path_factory.mktemp("python")
    layout = made_checkout(root)
    settings = RunSettings(7, "vgpu", 1, sandboxed=True)
    work = root / "work"
    made = prepare(
        layout, find_toolchain(layout), load_assignment(layout.assignment(NAME)), settings, work, threading.Event()
    )
    # The public suite is enough, and the reference is not run with each solution.
    suite = replace(made.suite, path=layout.public_suite(NAME))
    return replace(made, suite=replace(suite, tests=tuple(name for name in suite.tests if "Hidden" not in name)))


class Silent:
    """An observer that does nothing."""

    def on_stage(self, submission: Submission, stage: str) -> None: ...
    def on_tests(self, submission: Submission, ended: int, total: int) -> None: ...
    def on_record(self, record: Record, *, cached: bool) -> None: ...


def grade(bench: Bench, submission: Submission, folder: Path) -> Record:
    with contextlib.closing(Journal(folder / "journal.sqlite")) as journal:
        return grade_one(Desk(bench, journal, Silent(), ""), submission, threading.Event())


def build(bench: Bench, source: str, folder: Path) -> Built:
    order = Order(bench.layout, bench.toolchain, bench.assignment, source.encode(), folder / "work", sandboxed=True)
    return build_worker(order)


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "no_signature",
            "shift.py(9): error: the kernel shift_kernel has no signature\n@cuda.jit\n\n"
            'The types of its parameters are needed, as in @cuda.jit("void(int32[::1], int32[::1], int64)").\n'
            "A function that kernels call is declared by @cuda.jit(device=True).",
        ),
        ("no_syntax", "shift.py(13): error: expected ':'\n    if i < n"),
        (
            "no_such_attribute",
            "shift.py(17): error: in the kernel shift_kernel: Unknown attribute 'values' of type array(int32, 1d, C)\n"
            "        d_out[i] = d_in.values[source]",
        ),
        ("no_launcher", "shift.py: error: the function shift2_any is missing, which the tests call"),
        (
            "fails_at_import",
            "shift.py(6): error: ZeroDivisionError: integer division or modulo by zero\nBLOCK = 256 // 0",
        ),
    ],
)
def test_what_does_not_compile_is_said_with_its_line(bench: Bench, name: str, message: str, tmp_path: Path) -> None:
    (source,) = (one.source.decode() for one in WRONG if Path(one.name).stem == name)
    built = build(bench, source, tmp_path)
    assert (built.worker, built.message) == (None, message)


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "int64)",
            "complex64)",
            "shift.py(8): error: shift_kernel: parameter 3 is a complex64, and a launcher can pass",
        ),
        (
            '"void(',
            '"int32(',
            "shift.py(8): error: shift_kernel: a kernel returns nothing, so its signature begins with",
        ),
        ('int64)"', 'int64)", debug=True', "shift.py(8): error: shift_kernel: the option debug can't be used here"),
        ('"void(int32[::1]', '"void(int33[::1]', "shift.py(8): error: shift_kernel: the signature "),
        (
            "BLOCK = 256",
            'BLOCK = 256\noutside = cuda.declare_device("outside", "int32(int32)")\n\n\n@cuda.jit("void(int32[::1])")\n'
            "def other(d_out):\n    d_out[0] = outside(1)\n",
            "shift.py(9): error: in the kernel other: outside() is linked from elsewhere",
        ),
        (
            "BLOCK = 256",
            "BLOCK = 256\nraise SystemExit(0)",
            "shift.py: error: it exits on import, which the compiler needs",
        ),
    ],
)
def test_what_is_refused_is_named(bench: Bench, old: str, new: str, says: str, tmp_path: Path) -> None:
    source = (SOLUTIONS / "shift.py").read_text()
    assert old in source
    built = build(bench, source.replace(old, new), tmp_path)
    assert built.worker is None
    assert built.message.startswith(says)


def test_the_build_can_write_to_no_file_but_the_worker(bench: Bench, tmp_path: Path) -> None:
    writes = """
import os
for line in open("/proc/self/mountinfo"):
    for place in (line.split()[4], os.path.dirname(line.split()[4])):
        try:
            open(os.path.join(place, "left_behind"), "w").write("x" * 1000)
        except OSError:
            pass
"""
    built = build(bench, writes + (SOLUTIONS / "shift.py").read_text(), tmp_path)
    assert built.worker is not None, built.message
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["shift.py", "worker"]


def test_a_file_that_makes_the_script_say_it_cannot_begin_is_itself_at_fault(bench: Bench, tmp_path: Path) -> None:
    layout = Layout(tmp_path / "checkout", BUILD)
    layout.build_script.parent.mkdir(parents=True)
    order = Order(layout, bench.toolchain, bench.assignment, b"END THE SCRIPT", tmp_path / "work", sandboxed=False)
    for script, is_at_fault in (
        ('for word; do grep -qx "END THE SCRIPT" "$word" 2> /dev/null && exit 64; done; exit 1', True),
        ("exit 64", False),
    ):
        layout.build_script.write_text(f"#!/bin/sh\n{script}\n")
        layout.build_script.chmod(0o755)
        if is_at_fault:
            assert build_worker(order).message == "shift.py: error: the file ended the compiler"
        else:
            with pytest.raises(InfrastructureError, match="can't work"):
                build_worker(order)


def test_the_stub_compiles_and_says_where_to_begin(bench: Bench, tmp_path: Path) -> None:
    record = grade(bench, Submission("stub", Student("stub"), (DATA / "shift.py").read_bytes()), tmp_path)
    assert record.score is not None, record.message
    assert record.score.total == 0
    assert record.result is not None
    said = {test.said.partition("\n  ")[2] for test in record.result.tests if test.unfinished}
    assert any(line.endswith("fill in TODO(shift1) in shift.py") for line in said), said


@pytest.mark.in_turn
@pytest.mark.parametrize("path", sorted(SOLUTIONS.glob("right/*.py")), ids=lambda path: path.stem)
def test_right_designs_have_full_marks(bench: Bench, path: Path, tmp_path: Path) -> None:
    submission = Submission(path.name, Student(path.name), path.read_bytes())
    record = grade(bench, submission, tmp_path)
    declared = collect(bench.layout, bench.assignment).right[f"right/{path.name}"]
    assert record.score is not None, record.message
    assert (record.score.total, record.verdict) == (declared[0], "PASS"), record.message


@pytest.mark.in_turn
@pytest.mark.parametrize("solution", WRONG, ids=lambda solution: Path(solution.name).stem)
def test_wrong_solutions_get_their_verdicts(bench: Bench, solution: Solution, tmp_path: Path) -> None:
    submission = Submission(solution.name, Student(solution.name), solution.source)
    verdict, rung = collect(bench.layout, bench.assignment).wrong[solution.name]
    own = replace(bench, flags=("--one-failure",), settings=replace(bench.settings, rung=rung))
    record = grade(own, submission, tmp_path)
    assert record.score is not None, record.message
    assert (record.verdict, record.score.rung or "") == (verdict, rung), record.message
    said = "" if record.result is None else "\n".join(test.said for test in record.result.tests)
    assert [words for words in SAID.get(Path(solution.name).stem, ()) if words not in said] == [], said


@pytest.mark.in_turn
@pytest.mark.parametrize("name", [solution.name for solution in solutions_in(SOLUTIONS, "hostile", "shift.py")[0]])
def test_hostile_solutions_get_their_verdicts(bench: Bench, name: str, tmp_path: Path) -> None:
    opponents, problems = find_corpus(bench.layout, bench.assignment)
    assert not problems
    opponent = next(one for one in opponents if one.submission.folder == name)
    own = replace(bench, flags=("--one-failure",), settings=replace(bench.settings, rung=opponent.rung))
    record = grade(own, opponent.submission, tmp_path)
    assert not check_verdict(opponent, record, on_gpu=False).finding.problem
