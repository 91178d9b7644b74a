"""End to end on a small checkout: grading, output files, and no repeated work."""

import contextlib
import csv
import io
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conftest import journal_rows, needs_cgroups, needs_sandbox
from grader.base.layout import Layout
from grader.commands.cli import cli, main
from grader.running import build, run

Submissions = Callable[..., Path]


def grade(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox", "--jobs", "2", *arguments])


def log(layout: Layout) -> list[str]:
    path = layout.build / "bin" / "runs.log"
    return path.read_text().splitlines() if path.exists() else []


def results(layout: Layout) -> dict[str, dict]:  # type: ignore[type-arg]
    found = [json.loads(path.read_text()) for path in (layout.root / "out/staff/results/90_fake").glob("*.json")]
    return {document["folder"]: document for document in found}


def gradebook(layout: Layout) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((layout.root / "out/gradebook.csv").read_text(encoding="utf-8-sig"))))


def test_scores_by_criterion(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(
        perfect="", half="// value beta.fast 4", wrong="// fail beta_two WRONG", racing="// fail alpha_one RACE",
        broken="#error no", plain="// fail gamma_bonus WRONG",
    )  # fmt: skip
    assert grade(folder).exit_code == 0
    found = {name: (r["verdict"], r["score"]["total"], r["score"]["rung"]) for name, r in results(in_checkout).items()}
    assert found == {
        "perfect": ("PASS", 23, ""),
        "half": ("SLOW", 21, "beta_two"),
        "wrong": ("WRONG", 11, "beta_two"),
        "racing": ("RACE", 15, "alpha_one"),
        "broken": ("COMPILE", 0, ""),
        "plain": ("PASS", 20, ""),
    }
    assert results(in_checkout)["broken"]["message"] == "ladder.cu(1): error: #error says so"


def test_nothing_is_graded_twice(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="", grace="")
    grade(folder)
    first = log(in_checkout)
    output = grade(folder).output
    assert log(in_checkout) == first
    assert "2 of 2 were graded before" in output
    (folder / "ada" / "ladder.cu").write_text("// who ada\n// changed\n")
    grade(folder)
    assert [line for line in log(in_checkout)[len(first) :] if line.startswith("run")] == ["run ada"]


def test_the_reference_is_measured_once(in_checkout: Layout, submissions: Submissions) -> None:
    grade(submissions(ada="", grace="", alan=""))
    assert len([line for line in log(in_checkout) if line.startswith("record ")]) == 1
    assert [line for line in log(in_checkout) if line == "run reference"] == []


@pytest.mark.parametrize(
    "touched",
    ["build/lib/liblockstep_worker.a", "assignments/90_fake/ladder.h", "reference/90_fake/ladder.cu",
     "build/bin/90_fake_suite", "harness/suites/90_fake_launchers.cc"],
)  # fmt: skip
def test_a_change_of_what_grades_grades_again(in_checkout: Layout, submissions: Submissions, touched: str) -> None:
    folder = submissions(ada="")
    grade(folder)
    path = in_checkout.root / touched
    path.write_text(path.read_text() + "\n# changed\n")
    grade(folder)
    assert log(in_checkout).count("run ada") == 2


def test_a_metric_that_the_judge_does_not_know_is_told(
    in_checkout: Layout, submissions: Submissions, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = in_checkout.assignment("90_fake") / "assignment.toml"
    path.write_text(path.read_text().replace('metric = "microseconds"', 'metric = "grace"'))
    monkeypatch.setattr("sys.argv", ["grader", "grade", str(submissions(ada="")), "--no-sandbox"])
    assert main() == 1
    said = capsys.readouterr().err
    assert '"grace" is no counter' in said
    assert "make build" not in said


def test_a_journal_of_another_version_is_refused(
    in_checkout: Layout, submissions: Submissions, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = submissions(ada="")
    assert grade(folder).exit_code == 0
    with contextlib.closing(sqlite3.connect(in_checkout.root / "out/journal.sqlite")) as database, database:
        database.execute("UPDATE meta SET value='1' WHERE name='version'")
    monkeypatch.setattr("sys.argv", ["grader", "grade", str(folder), "--no-sandbox"])
    assert main() == 1
    assert "choose another folder with --out" in capsys.readouterr().err


def test_harness_failures_are_retried(in_checkout: Layout, submissions: Submissions) -> None:
    assert grade(submissions(ada="// harness 2")).exit_code == 0
    assert log(in_checkout).count("run ada") == 3
    assert results(in_checkout)["ada"]["score"]["total"] == 23


@needs_cgroups
def test_a_judge_that_takes_too_much_memory_is_ended_once(in_checkout: Layout, submissions: Submissions) -> None:
    result = grade(submissions(ada="// hog 900", grace=""))
    assert result.exit_code == 0, result.output
    ada = results(in_checkout)["ada"]
    assert (ada["status"], ada["score"]["verdict"], ada["score"]["total"]) == ("graded", "REJECTED", 0)
    assert "640 MiB" in ada["message"]
    assert results(in_checkout)["grace"]["score"]["total"] == 23
    assert log(in_checkout).count("run ada") == 1


def test_a_program_that_is_too_large_is_not_kept(
    in_checkout: Layout, submissions: Submissions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_WORKER_BYTES", 100 << 10)
    result = grade(submissions(ada="// " + "x" * (200 << 10), grace=""))
    assert result.exit_code == 0, result.output
    ada = results(in_checkout)["ada"]
    assert (ada["score"]["verdict"], ada["score"]["total"]) == ("COMPILE", 0)
    assert "the limit is" in ada["message"]
    assert results(in_checkout)["grace"]["score"]["total"] == 23


def test_a_judge_that_works_without_end_is_ended_once(
    in_checkout: Layout, submissions: Submissions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_BUSY_SECONDS", 0.3)
    monkeypatch.setattr(run, "_total_seconds", lambda *_: 4.0)
    result = grade(submissions(ada="// busy 99", grace="", linus="// slow 99"))
    assert result.exit_code == 3, result.output
    found = results(in_checkout)
    assert (found["ada"]["status"], found["ada"]["verdict"], found["ada"]["score"]["total"]) == (
        "graded",
        "REJECTED",
        0,
    )
    assert "the judge was stopped while it ran the submission" in found["ada"]["message"]
    assert found["grace"]["score"]["total"] == 23
    assert log(in_checkout).count("run ada") == 1
    # One that only waited was delayed by something else.
    assert (found["linus"]["verdict"], found["linus"]["score"]) == ("HARNESS", None)
    assert log(in_checkout).count("run linus") == 3


@pytest.mark.parametrize("fault", ["// harness 99", "// unfinished", "// garbage", "// fail alpha_one HARNESS"])
def test_harness_failures_are_never_zeros(in_checkout: Layout, submissions: Submissions, fault: str) -> None:
    folder = submissions(ada=fault, grace="")
    result = grade(folder)
    assert result.exit_code == 3
    assert "Not graded" in result.output
    assert results(in_checkout)["ada"]["score"] is None
    assert results(in_checkout)["ada"]["verdict"] == "HARNESS"
    rows = {row["name"]: row for row in gradebook(in_checkout)}
    assert (rows["ada"]["90_fake"], rows["grace"]["90_fake"]) == ("", "23")
    before = log(in_checkout).count("run ada")
    grade(folder)
    assert log(in_checkout).count("run ada") > before  # it is tried again, and the others are not
    assert log(in_checkout).count("run grace") == 1


def test_missing_and_refused_files(in_checkout: Layout, submissions: Submissions, tmp_path: Path) -> None:
    folder = submissions(ada="")
    (folder / "empty").mkdir()
    (folder / "linked").mkdir()
    secret = tmp_path / "secret.cu"
    secret.write_text("// who secret\n")
    (folder / "linked" / "ladder.cu").symlink_to(secret)
    (folder / "outside").symlink_to(tmp_path)
    (folder / "roster.csv").write_text("name,sid,email,alias\nAda L,1,ada@x,Fast\nNobody,2,nobody@x,\n")
    assert grade(folder).exit_code == 4  # three folders are nobody's on the roster
    found = {name: (r["status"], r["verdict"]) for name, r in results(in_checkout).items()}
    assert found == {
        "ada": ("graded", "PASS"),
        "empty": ("missing", "MISSING"),
        "linked": ("graded", "REJECTED"),
        "outside": ("graded", "REJECTED"),
        "2": ("missing", "MISSING"),
    }
    assert "run secret" not in log(in_checkout)
    assert {row["name"] for row in gradebook(in_checkout)} == {"Ada L", "Nobody", "empty", "linked", "outside"}


def test_only_one_and_report(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="", grace="")
    grade(folder)
    (folder / "ada" / "ladder.cu").write_text("// who ada\n// fail beta_two WRONG\n")
    assert grade(folder, "--only", "ada", "--replace").exit_code == 0
    assert set(results(in_checkout)) == {"ada", "grace"}
    cards = sorted((in_checkout.root / "out/cards/90_fake").glob("*.html"))
    before = [card.read_text() for card in cards]
    for card in cards:
        card.unlink()
    assert CliRunner().invoke(cli, ["report"]).exit_code == 0
    assert [card.read_text() for card in cards] == before


def test_a_student_who_left_leaves_no_page(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="", grace="")
    grade(folder)
    (folder / "grace" / "ladder.cu").unlink()
    (folder / "grace").rmdir()
    grade(folder, "--replace")
    assert [row["name"] for row in gradebook(in_checkout)] == ["ada"]
    assert len(list((in_checkout.root / "out/cards/90_fake").glob("*.html"))) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["grade", "nowhere"], "Type:  grader grade PATH"),
        (["grade", ".", "--assignment", "99"], "There are: 90_fake"),
        (["report", "--out", "nothing"], "Type:  grader grade SUBMISSIONS --out nothing"),
        (["check", "99"], "There are: 90_fake"),
    ],
)
@pytest.mark.usefixtures("in_checkout")
def test_errors_say_what_to_type(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["grader", *arguments, *(["--no-sandbox"] if arguments[0] != "report" else [])])
    assert main() == 1
    assert says in capsys.readouterr().err


@needs_sandbox
def test_in_the_sandbox(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="// LOOK_AROUND", grace="// fail beta_two BOUNDS")
    result = CliRunner().invoke(cli, ["grade", str(folder)])
    assert result.exit_code == 0, result.output
    assert {name: r["verdict"] for name, r in results(in_checkout).items()} == {"ada": "PASS", "grace": "BOUNDS"}
    assert all(r["provenance"]["sandboxed"] for r in results(in_checkout).values())


@pytest.mark.in_turn
def test_killed_again_and_again(in_checkout: Layout, submissions: Submissions) -> None:
    names = [f"s{index}" for index in range(6)]
    folder = submissions(**dict.fromkeys(names, "// slow 0.2"))
    command = [sys.executable, "-m", "grader", "grade", str(folder), "--no-sandbox", "--jobs", "2"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    chance = random.Random(20)
    finished: dict[str, int] = {}  # records and tests seen in the journal, and how long the log was then
    ended: dict[tuple[str, str], int] = {}
    for life in range(60):  # five at least, and on a busy machine as many as it takes to end a test and a submission
        if life >= 5 and finished and ended:
            break
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
        before, deadline = len(log(in_checkout)), time.monotonic() + 30
        while len(log(in_checkout)) == before and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)  # until it is at work
        time.sleep(chance.uniform(0, 1.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(0.2)  # the kernel ends what the grader had started
        for folder_name in journal_rows(in_checkout, "SELECT folder FROM record"):
            finished.setdefault(folder_name[0], len(log(in_checkout)))
        for folder_name, test in journal_rows(in_checkout, "SELECT folder, name FROM test"):
            ended.setdefault((folder_name, test), len(log(in_checkout)))
    assert finished
    assert ended
    assert subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode == 0
    once = "SELECT folder, count(*) FROM record GROUP BY folder"
    assert journal_rows(in_checkout, once) == [(name, 1) for name in names]
    assert {r["score"]["total"] for r in results(in_checkout).values()} == {23}
    assert all(len(r["result"]["tests"]) == 7 for r in results(in_checkout).values())
    lines = log(in_checkout)
    for name, position in finished.items():
        assert f"run {name}" not in lines[position:]
    for (name, test), position in ended.items():
        assert f"test {name} {test}" not in lines[position:]
    assert not (in_checkout.root / "out/work").exists()


@pytest.mark.daily
def test_killed_again_and_again_while_it_compiles(in_checkout: Layout, submissions: Submissions) -> None:
    """A run that is always killed before it has compiled everything and run a suite still finishes eventually."""
    names = ["s0", "s1"]
    folder = submissions(**dict.fromkeys(names, "// SLOW_COMPILER\n// slow 0.3"))
    command = [sys.executable, "-m", "grader", "grade", str(folder), "--no-sandbox", "--jobs", "1"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    workers, out = in_checkout.root / "out/workers", in_checkout.root / "out"

    every = ("SELECT 1 FROM record", "SELECT 1 FROM test")

    def done() -> tuple[int, int, int]:
        built = len([path for path in workers.glob("*") if not path.name.startswith(".")])
        records, tests = (journal_rows(in_checkout, query) for query in every)
        return built, len(records), len(tests)

    lives = 0
    while lives < 60:
        before, lives = done(), lives + 1
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
        while process.poll() is None and done() == before:
            time.sleep(0.01)  # it lives until one more file is compiled or one more test has ended
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert len(list((out / "work").glob("*"))) <= 2  # what runs before left is not kept
    assert process.returncode == 0
    assert {r["score"]["total"] for r in results(in_checkout).values()} == {23}
    builds = [line for line in log(in_checkout) if line.startswith("built")]
    assert len(builds) <= len(names) + 1 + 2  # a kill may fall between the compiler's end and the record of it
    assert not workers.exists()
    assert not (out / "work").exists()


def test_a_reference_that_does_not_build_stops_everything(
    in_checkout: Layout, submissions: Submissions, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (in_checkout.reference("90_fake") / "ladder.cu").write_text("#error\n")
    monkeypatch.setattr(sys, "argv", ["grader", "grade", str(submissions(ada="", grace="")), "--no-sandbox"])
    assert main() == 1
    assert "the reference solution" in capsys.readouterr().err
    assert not log(in_checkout)


def test_a_build_script_that_can_not_work_is_no_compile_error(in_checkout: Layout, submissions: Submissions) -> None:
    script = in_checkout.build_script
    folder = submissions(ada="// only ada")
    script.write_text(
        script.read_text().replace("# Tests put", 'if grep -q "only ada" "$source"; then exit 64; fi\n# Tests put')
    )
    assert grade(folder).exit_code == 3
    assert results(in_checkout)["ada"]["verdict"] == "HARNESS"


def copies(folder: Path, source: str) -> None:
    for path in folder.glob("*/ladder.cu"):
        path.write_text(source)


def test_the_same_file_is_graded_once(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(**dict.fromkeys(("a", "b", "c", "d"), ""))
    copies(folder, "// who copied\n// slow 0.05\n")
    assert grade(folder, "--jobs", "4").exit_code == 0
    assert {r["score"]["total"] for r in results(in_checkout).values()} == {23}
    assert log(in_checkout).count("run copied") == 1
    for name, result in results(in_checkout).items():
        assert result["student"]["name"] == name
        assert result["provenance"]["command"].endswith(f"--only {name}")
    assert "4 of 4 were graded before" in grade(folder).output


def test_a_failed_harness_is_no_result_for_the_same_file(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(a="", b="")
    copies(folder, "// who copied\n// harness 3\n")  # as often as one submission is tried
    assert grade(folder).exit_code == 3
    verdicts = {name: result["verdict"] for name, result in results(in_checkout).items()}
    assert verdicts == {"a": "HARNESS", "b": "PASS"}
