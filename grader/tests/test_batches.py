"""Several assignments are graded in one queue: references are built early, and results equal those of separate runs."""

import itertools
import re
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conftest import add_assignment, journal_rows
from grader.base.jobs import Jobs
from grader.base.layout import Layout
from grader.commands.cli import cli, main

pytestmark = pytest.mark.in_turn

FILES = {"90_fake": "ladder.cu", "91_more": "more.cu", "92_last": "last.cu"}
Class = Callable[..., Path]


@pytest.fixture
def three(in_checkout: Layout) -> Layout:
    """A checkout with three assignments, whose references have names of their own in the log."""
    for name, file in FILES.items():
        if name != "90_fake":
            add_assignment(in_checkout, name, file)
        (in_checkout.reference(name) / file).write_text(f"// who reference/{file}\n")
    return in_checkout


@pytest.fixture
def handed_in(tmp_path: Path) -> Class:
    """Makes a class in which each student hands in the same lines for each assignment."""

    def make(**sources: str) -> Path:
        folder = tmp_path / "class"
        for name, source in sources.items():
            (folder / name).mkdir(parents=True, exist_ok=True)
            for file in FILES.values():
                (folder / name / file).write_text(f"// who {name}/{file}\n{source}\n")
        return folder

    return make


def grade(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox", "--seed", "7", *arguments])


def log(layout: Layout) -> list[str]:
    """The builds, measurements and runs, in order."""
    lines = (layout.build / "bin/runs.log").read_text().splitlines()
    return [re.sub(r"^built .*/work/reference-(\w+)/.*", r"built \1", line) for line in lines]


def test_lower_ranks_go_first_and_equal_ones_in_their_order() -> None:
    done: list[str] = []
    queue = Jobs(1, threading.Event())
    for name, rank in (("last", 3), ("second", 0), ("third", 0), ("first", -1)):
        queue.add(partial(done.append, name), lambda _: None, rank)
    queue.run()
    assert done == ["first", "second", "third", "last"]


def test_references_are_ready_before_their_submissions_and_beside_others(three: Layout, handed_in: Class) -> None:
    assert grade(handed_in(ada="// slow 0.05", grace="// slow 0.05"), "--jobs", "2").exit_code == 0
    order = log(three)
    for name, file in FILES.items():
        ready = order.index(f"record reference/{file}")
        assert order.index(f"built {name}") < ready
        assert all(ready < order.index(f"run {student}/{file}") for student in ("ada", "grace"))
        assert order.count(f"built {name}") == order.count(f"record reference/{file}") == 1
    # The second assignment's reference is ready before the first one's submissions are: nothing waits for it.
    ended = max(order.index(f"done {student}/ladder.cu") for student in ("ada", "grace"))
    assert order.index("record reference/more.cu") < ended


def test_the_next_assignment_begins_before_the_last_submission_ends(three: Layout, handed_in: Class) -> None:
    folder = handed_in(ada="", grace="")
    (folder / "ada" / "ladder.cu").write_text("// who ada/ladder.cu\n// slow 0.6\n")
    assert grade(folder, "--jobs", "2").exit_code == 0
    order = log(three)
    assert order.index("run ada/more.cu") < order.index("done ada/ladder.cu")


def test_results_do_not_hang_on_how_many_run_at_once(three: Layout, handed_in: Class) -> None:
    folder = handed_in(
        ada="", grace="// slow 0.02", alan="// fail beta_two WRONG", kurt="#error no", anne="// todo beta_two"
    )
    for student in ("ada", "grace"):
        (folder / f"like_{student}").mkdir()
        for file in FILES.values():
            (folder / f"like_{student}" / file).write_bytes((folder / student / file).read_bytes())

    def graded(jobs: int) -> dict[str, bytes]:
        out = three.root / f"out{jobs}"
        assert grade(folder, "--jobs", str(jobs), "--out", str(out)).exit_code == 0
        kept = {path.name: path.read_bytes() for path in (out / "gradebook.csv", out / "criteria.csv")}
        for path in out.glob("cards/*/*.html"):
            text = re.sub(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?", "", path.read_text())
            kept[str(path.relative_to(out))] = text.encode()
        return kept

    one = graded(1)
    assert len(one) == 2 + 3 * 7
    for jobs in (2, 7):
        assert graded(jobs) == one


def test_a_reference_that_does_not_build_is_told_once_and_costs_no_result(
    three: Layout, handed_in: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = handed_in(ada="", grace="")
    broken = three.reference("92_last") / "last.cu"
    right = broken.read_text()
    broken.write_text("#error\n")
    # With one job, the last reference is built while the first assignment's submissions are graded.
    arguments = ["grader", "grade", str(folder), "--no-sandbox", "--seed", "7", "--jobs", "1"]
    monkeypatch.setattr("sys.argv", arguments)
    assert main() == 1
    said = capsys.readouterr().err
    assert said.count("does not build") == 1
    assert "92_last/last.cu" in said.replace("\n", "")
    assert not [line for line in log(three) if line.startswith("run ") and line.endswith("/last.cu")]
    graded = {assignment for (assignment,) in journal_rows(three, "SELECT DISTINCT assignment FROM record")}
    assert "90_fake" in graded
    broken.write_text(right)
    before = log(three)
    assert main() == 0
    after = log(three)[len(before) :]
    ended = {line for line in before if line.startswith("done ") and "reference" not in line}
    assert {"done ada/ladder.cu", "done grace/ladder.cu"} <= ended
    assert not ended & set(after)
    assert sorted(line for line in log(three) if line.startswith("run ")) == sorted(
        f"run {student}/{file}" for student in ("ada", "grace") for file in FILES.values()
    )


def test_a_reference_that_can_not_be_measured_costs_its_own_submissions_their_grade(
    three: Layout, handed_in: Class
) -> None:
    (three.reference("91_more") / "more.cu").write_text("// who reference/more.cu\n// harness 99\n")
    result = grade(handed_in(ada=""), "--jobs", "2")
    assert result.exit_code == 3
    rows = journal_rows(three, "SELECT assignment, json_extract(document, '$.status') FROM record")
    assert dict(rows) == {"90_fake": "graded", "91_more": "not graded", "92_last": "graded"}


def test_no_reference_is_built_for_what_needs_no_run(three: Layout, handed_in: Class) -> None:
    folder = handed_in(ada="")
    (folder / "roster.csv").write_text("name,sid\nada,1\n")
    assert grade(folder).exit_code == 0
    built = log(three)
    (folder / "roster.csv").write_text("name,sid\nada,1\ngrace,2\n")
    assert "MISSING" in grade(folder).output
    assert log(three) == built
    (folder / "ada" / "more.cu").write_text("// who ada/more.cu\nint another;\n")
    assert grade(folder).exit_code == 0
    assert [line for line in log(three)[len(built) :] if line.split()[0] in ("built", "record")][:2] == [
        "built 91_more", "record reference/more.cu"
    ]  # fmt: skip


def test_nothing_else_is_on_the_gpu_while_a_submission_of_any_assignment_is_timed(
    three: Layout, handed_in: Class
) -> None:
    students = {f"student{index}": "// slow 0.05" for index in range(3)}
    assert grade(handed_in(**students), "--jobs", "9", "--device", "cuda").exit_code == 0
    order = [line for line in log(three) if line.split()[0] in ("gpu", "time", "timed")]
    begun = [(line, after) for line, after in itertools.pairwise(order) if line.startswith("time ")]
    assert len(begun) == 9
    assert all(after == line.replace("time ", "timed ") for line, after in begun)
