"""A requested regrade of an unchanged submission: it runs, counts, and stays in the history."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import journal_rows
from grader.base.layout import Layout
from grader.commands.cli import cli, main
from test_changes import edit, runs
from test_grade import grade, gradebook, log, results

pytestmark = pytest.mark.in_turn

Submissions = Callable[..., Path]
WHY = "appeal: noisy GPU"
AGAIN = ("--only", "ada", "--again", "--reason", WHY)


@pytest.fixture
def graded(in_checkout: Layout, submissions: Submissions) -> Path:
    folder = submissions(ada="", grace="// fail alpha_one RACE")
    assert grade(folder).exit_code == 0
    return folder


def noise(layout: Layout, rung: str = "beta_two") -> Path:
    """While this file exists, the fake worker reports the rung as wrong: like noise, which no hash shows."""
    path = layout.build / "bin" / "noise"
    path.write_text(f"// fail {rung} WRONG\n")
    return path


def points(layout: Layout) -> dict[str, str]:
    return {row["name"]: row["90_fake"] for row in gradebook(layout)}


def documents(layout: Layout, folder: str = "ada") -> list[dict]:  # type: ignore[type-arg]
    rows = journal_rows(layout, "SELECT folder, document FROM record WHERE is_final=1 ORDER BY serial")
    return [json.loads(document) for whose, document in rows if whose == folder]


def test_it_runs_counts_and_stays_in_the_history(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="", grace="")
    noisy = noise(in_checkout)
    assert grade(folder).exit_code == 0
    assert points(in_checkout) == {"ada": "11", "grace": "11"}
    noisy.unlink()
    told = grade(folder, *AGAIN, "--staff", "Hopper")
    assert told.exit_code == 0, told.output
    assert "90_fake: 1 to be graded again, because a regrade was asked for" in told.output
    assert points(in_checkout) == {"ada": "23", "grace": "11"}
    assert [(one["score"]["total"], one["reason"], one["staff"]) for one in documents(in_checkout)] == [
        (11, "", ""),
        (23, WHY, "Hopper"),
    ]
    assert results(in_checkout)["ada"]["reason"] == WHY
    # Grading the whole class doesn't undo it, and repeating the command requests another one.
    assert "2 of 2 were graded before" in grade(folder).output
    assert points(in_checkout)["ada"] == "23"
    noise(in_checkout, "alpha_one")
    assert grade(folder, *AGAIN, "--staff", "Hopper").exit_code == 0
    assert points(in_checkout)["ada"] == "15"
    assert [one["regrade"] for one in documents(in_checkout)] == [0, 1, 2]
    assert runs(in_checkout).count("run ada") == 3


def test_points_comments_and_suites_that_change_later(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="", grace="")
    source = "__device__ int a;\n__global__ void k() {}\n// who both\n"
    for name in ("ada", "grace"):
        (folder / name / "ladder.cu").write_text(source)
    noisy = noise(in_checkout)
    grade(folder)
    noisy.unlink()
    grade(folder, *AGAIN)
    toml = in_checkout.assignment("90_fake") / "assignment.toml"
    text = toml.read_text()
    ran = len(runs(in_checkout))
    edit(toml, 'title = "First"', 'title = "The first"')
    grade(folder, "--only", "grace")  # the latest run of the same code is not ada's
    assert grade(folder).exit_code == 0
    assert points(in_checkout) == {"ada": "23", "grace": "11"}
    toml.write_text(text)
    (folder / "ada" / "ladder.cu").write_text(f"{source}// a remark\n")
    assert grade(folder).exit_code == 0
    assert points(in_checkout) == {"ada": "23", "grace": "11"}
    assert results(in_checkout)["ada"]["reason"] == WHY
    assert len(runs(in_checkout)) == ran
    # Another suite, and other code, are graded normally.
    suite = in_checkout.build / "bin/90_fake_suite"
    suite.write_text(suite.read_text() + "\n# newer\n")
    noise(in_checkout)
    assert grade(folder).exit_code == 5  # a lower grade needs a word
    assert points(in_checkout) == {"ada": "23", "grace": "11"}
    assert grade(folder, "--replace").exit_code == 0
    assert points(in_checkout) == {"ada": "11", "grace": "11"}
    assert results(in_checkout)["ada"]["reason"] == ""


def test_one_that_the_harness_fails_on_leaves_the_former_result(in_checkout: Layout, graded: Path) -> None:
    noisy = noise(in_checkout, "alpha_one")
    noisy.write_text("// unfinished\n")
    told = grade(graded, *AGAIN)
    assert told.exit_code == 3
    assert "Not graded again: ada (appeal: noisy GPU)" in " ".join(told.output.split())
    assert points(in_checkout)["ada"] == "23"
    assert "1 to be graded again, because a regrade was asked for" in grade(graded, "--dry-run").output
    noisy.write_text("// fail beta_two WRONG\n")
    assert grade(graded).exit_code == 0  # it is still asked for
    assert points(in_checkout)["ada"] == "11"
    assert [one["reason"] for one in documents(in_checkout)] == ["", WHY]


def test_a_dry_run_asks_for_nothing(in_checkout: Layout, graded: Path) -> None:
    ran = log(in_checkout)
    told = grade(graded, *AGAIN, "--dry-run")
    assert "1 to be graded again, because a regrade was asked for" in told.output
    assert "Nothing is to be done" in grade(graded, "--dry-run").output
    assert grade(graded).exit_code == 0
    assert log(in_checkout) == ran


@pytest.mark.daily
def test_killed_again_and_again_it_is_one_regrade(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="// slow 0.15", grace="")
    assert grade(folder).exit_code == 0
    command = [sys.executable, "-m", "grader", "grade", str(folder), "--no-sandbox", "--jobs", "1", *AGAIN]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    begun = len(log(in_checkout))
    done = 0
    for wanted in ("SELECT 1 FROM regrade", "SELECT 1 FROM test", "SELECT 1 FROM record WHERE key LIKE '%#1'"):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 30
        while not journal_rows(in_checkout, wanted) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        done += process.wait() == -signal.SIGKILL
    assert done == 3
    assert journal_rows(in_checkout, "SELECT number FROM regrade") == [(1,)]
    assert subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode == 0
    tests = [line for line in log(in_checkout)[begun:] if line.startswith("test ada")]
    assert len(set(tests)) == 6
    assert len(tests) <= 6 + 2  # a test that was running, or wasn't in the journal yet
    assert [one["regrade"] for one in documents(in_checkout)] == [0, 1]
    assert journal_rows(in_checkout, "SELECT number FROM regrade") == []


def test_a_resubmission_after_a_regrade(in_checkout: Layout, graded: Path) -> None:
    grade(graded, *AGAIN)
    (graded / "ada" / "ladder.cu").write_text("// who ada\n// fail beta_two WRONG\n")
    assert grade(graded).exit_code == 5
    assert points(in_checkout)["ada"] == "23"
    assert grade(graded, "--replace").exit_code == 0
    assert points(in_checkout)["ada"] == "11"
    assert [one["reason"] for one in documents(in_checkout)] == ["", WHY, ""]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--again"], "Add  --only NAME"),
        (["--again", "--only", "ada"], 'Add  --reason "appeal: noisy GPU"'),
        (["--again", "--only", "ada", "--reason", "  "], 'Add  --reason "appeal: noisy GPU"'),
        (["--again", "--only", "a", "--reason", WHY], '"a" fits 2: ada, grace.\nWrite the whole name'),
        (["--reason", WHY], "--reason belongs to a regrade"),
        (["--staff", "Hopper"], "--staff belongs to a regrade"),
        (["--again", "--only", "none", "--reason", WHY], "none handed in no file"),
    ],
)
def test_what_is_missing_is_said(
    graded: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    (graded / "none").mkdir()
    monkeypatch.setattr(sys, "argv", ["grader", "grade", str(graded), "--no-sandbox", *arguments])
    assert main() == 1
    assert says in capsys.readouterr().err


def test_an_inconclusive_time_leaves_the_former_result(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="// ratio beta.time 0.5", grace="")
    assert grade(folder, "--device", "cuda").exit_code == 0
    before = points(in_checkout)["ada"]
    noisy = noise(in_checkout)
    noisy.write_text("// noisy 9\n")
    told = grade(folder, "--device", "cuda", *AGAIN)
    assert told.exit_code == 3
    assert "Not graded again: ada" in " ".join(told.output.split())
    assert points(in_checkout)["ada"] == before
    noisy.write_text("// ratio beta.time 1.5\n")
    assert grade(folder, "--device", "cuda", *AGAIN).exit_code == 0
    assert points(in_checkout)["ada"] == points(in_checkout)["grace"] != before
    assert [one["regrade"] for one in documents(in_checkout)] == [0, 1]


def test_a_repaired_journal_keeps_it(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="", grace="")
    noisy = noise(in_checkout)
    grade(folder)
    noisy.unlink()
    grade(folder, *AGAIN)
    assert CliRunner().invoke(cli, ["repair"]).exit_code == 0
    ran = log(in_checkout)
    assert grade(folder).exit_code == 0
    assert log(in_checkout) == ran
    assert points(in_checkout) == {"ada": "23", "grace": "11"}
