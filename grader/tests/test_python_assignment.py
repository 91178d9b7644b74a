"""An assignment in Python, by the suite of the circular shift: what each solution of python_shift gets, in the box."""

import contextlib
import importlib.util
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, needs, needs_build, needs_sandbox
from grader.authoring.declared import collect
from grader.authoring.opponents import find_opponents, judge_opponent
from grader.base.layout import Layout
from grader.base.toolchain import find_toolchain
from grader.model.assignment import load_assignment
from grader.model.discovery import Submission
from grader.model.record import Record
from grader.model.roster import Student
from grader.running.bench import Bench, prepare
from grader.running.pipeline import grade_one
from grader.running.run import RunSettings
from grader.running.store import Journal

DATA = Path(__file__).parent / "python_shift"
SOLUTIONS = DATA / "solutions"
NAME = "03_circular_shift"

needs_numba = needs(
    importlib.util.find_spec("numba_cuda") is not None, "Numba is missing; type: harness/setup.sh --python"
)
needs_interpreter = needs(
    (BUILD / "lib" / "liblockstep_python.a").is_file(),
    "the build has no Python for workers; install python3-dev, and type: make build",
)
pytestmark = [needs_build, needs_sandbox, needs_numba, needs_interpreter]


def made_checkout(root: Path) -> Layout:
    """A checkout whose shift is in Python, on the real build tree."""
    layout = Layout(root, BUILD)
    for folder in (layout.assignment(NAME), root / "harness" / "suites", layout.reference(NAME)):
        folder.mkdir(parents=True)
    shutil.copytree(ROOT / "harness/worker", root / "harness/worker")
    for path in (DATA / "assignment.toml", DATA / "shift.py"):
        shutil.copyfile(path, layout.assignment(NAME) / path.name)
    # Newer than what the build tree has compiled.
    layout.glue(NAME).write_text((DATA / "launchers.cc").read_text())
    shutil.copytree(SOLUTIONS, layout.reference(NAME), dirs_exist_ok=True)
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
    # The public suite is enough, and no run of the reference beside each.
    suite = replace(made.suite, path=layout.public_suite(NAME))
    return replace(made, suite=replace(suite, tests=tuple(name for name in suite.tests if "Hidden" not in name)))


class Silent:
    """Nobody watches."""

    def on_stage(self, submission: Submission, stage: str) -> None: ...
    def on_tests(self, submission: Submission, ended: int, total: int) -> None: ...
    def on_record(self, record: Record, *, cached: bool) -> None: ...


def grade(bench: Bench, submission: Submission, folder: Path) -> Record:
    with contextlib.closing(Journal(folder / "journal.sqlite")) as journal:
        return grade_one(bench, submission, journal, Silent(), "", threading.Event())


@pytest.mark.parametrize("path", sorted(SOLUTIONS.glob("right/*.py")), ids=lambda path: path.stem)
def test_right_designs_have_full_marks(bench: Bench, path: Path, tmp_path: Path) -> None:
    submission = Submission(path.name, Student(path.name), path.read_bytes())
    record = grade(bench, submission, tmp_path)
    declared = collect(bench.layout, bench.assignment).right[f"right/{path.name}"]
    assert record.score is not None, record.message
    assert (record.score.total, record.verdict) == (declared[0], "PASS"), record.message


@pytest.mark.parametrize("path", sorted(SOLUTIONS.glob("wrong/*.py")), ids=lambda path: path.stem)
def test_wrong_solutions_get_their_verdicts(bench: Bench, path: Path, tmp_path: Path) -> None:
    submission = Submission(path.name, Student(path.name), path.read_bytes())
    verdict, rung = collect(bench.layout, bench.assignment).wrong[f"wrong/{path.name}"]
    own = replace(bench, flags=("--one-failure",), settings=replace(bench.settings, rung=rung))
    record = grade(own, submission, tmp_path)
    assert record.score is not None, record.message
    assert (record.verdict, record.score.rung or "") == (verdict, rung), record.message


@pytest.mark.parametrize("path", sorted(SOLUTIONS.glob("hostile/*.py")), ids=lambda path: path.stem)
def test_hostile_solutions_get_their_verdicts(bench: Bench, path: Path, tmp_path: Path) -> None:
    opponents, problems = find_opponents(bench.layout, bench.assignment)
    assert not problems
    opponent = next(one for one in opponents if one.submission.folder == f"hostile/{path.name}")
    own = replace(bench, flags=("--one-failure",), settings=replace(bench.settings, rung=opponent.rung))
    record = grade(own, opponent.submission, tmp_path)
    assert not judge_opponent(opponent, record, on_gpu=False).finding.problem
