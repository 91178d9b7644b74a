"""`grader history`, and the same on the cards: each result of a submission, and its cause."""

import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conftest import make_checkout
from grader.base.layout import Layout
from grader.commands.cli import cli, main
from test_changes import edit
from test_grade import grade
from test_regrades import AGAIN, WHY

pytestmark = pytest.mark.in_turn

Submissions = Callable[..., Path]
ROSTER = "name,sid,email\nAda Lovelace,1815,ada@class.example\nAda Yonath,1939,yonath@class.example\n"


def history(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["history", *arguments])


@pytest.fixture(scope="module")
def graded_once(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """Ada's submission was graded, handed in twice more, scored anew, regraded, and graded by another suite."""
    layout = make_checkout(tmp_path_factory.mktemp("history"))
    folder = layout.root.parent / "submissions"
    for name, line in (("lovelace_ada", "// fail beta_two WRONG"), ("yonath_ada", "")):
        (folder / name).mkdir(parents=True)
        (folder / name / "ladder.cu").write_text(f"// who {name}\n{line}\n")
    with contextlib.chdir(layout.root):
        grade_six_times(layout, folder)
    return layout


@pytest.fixture
def graded(graded_once: Layout, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """That class, for tests that only read, as the current folder."""
    monkeypatch.chdir(graded_once.root)
    return graded_once


def grade_six_times(layout: Layout, folder: Path) -> None:
    (folder / "roster.csv").write_text(ROSTER)
    assert grade(folder).exit_code == 0
    source = "__device__ int a;\n// who lovelace_ada\n"
    (folder / "lovelace_ada" / "ladder.cu").write_text(source)
    grade(folder)
    (folder / "lovelace_ada" / "ladder.cu").write_text(f"{source}// a remark\n")
    grade(folder)
    edit(layout.assignment("90_fake") / "assignment.toml", 'title = "First"', 'title = "The first"')
    grade(folder)
    again = ("lovelace_ada", *AGAIN[2:], "--staff", "Hopper")
    assert grade(folder, "--only", *again).exit_code == 0
    suite = layout.build / "bin/90_fake_suite"
    suite.write_text(suite.read_text() + "\n# newer\n")
    (folder / "adjustments.csv").write_text(
        "student,assignment,points,reason,staff\n1815,90_fake,-2,late,Hopper\n1815,90_fake,0,well done,Hopper\n"
    )
    assert grade(folder).exit_code == 0


def test_all_that_changed_is_told(graded: Layout) -> None:
    told = history("lovelace_ada")
    assert told.exit_code == 0, told.output
    assert max(map(len, told.output.splitlines())) <= 80
    document = json.loads(history("1815", "--json").output)
    (assignment,) = document["assignments"]
    (submission,) = assignment["submissions"]
    results = submission["results"]
    assert [(one["earned"], one["verdict"], one["why"], one["is_in_force"]) for one in results] == [
        (11, "WRONG", ["first graded"], False),
        (23, "PASS", ["handed in again"], False),
        (23, "PASS", ["handed in again, with the same code"], False),
        (23, "PASS", ["points or titles in assignment.toml changed"], False),
        (23, "PASS", [f"graded again: {WHY} (Hopper)"], False),
        (23, "PASS", ["the suite changed"], True),
    ]
    assert assignment["points"] == 21
    assert assignment["steps"][-1].endswith("late (Hopper)")
    said = " ".join(told.output.split())
    for words in (
        "graded again: appeal: noisy",
        "the suite changed",
        "late (Hopper)",
        "well done",
        "20 + 1 bonus of 20 points count",
    ):
        assert words in said
    assert told.output.count("*") == 1
    # The leaderboard's sparkline has one point per file and run.
    board = json.loads((graded.root / "out/leaderboard.json").read_text())["boards"][0]
    assert sorted(len(entry["history"]) for entry in board["entries"]) == [1, 1]


def test_both_cards_show_it(graded: Layout) -> None:
    for folder in ("cards", "staff/cards"):
        cards = {path.name: path.read_text() for path in (graded.root / "out" / folder).glob("*/*.html")}
        (ada,) = (text for name, text in cards.items() if name.startswith("lovelace-ada"))
        assert "Results over time" in ada
        assert f"graded again: {WHY} (Hopper)" in ada
        assert "handed in again" in ada


def test_one_result_is_no_history(in_checkout: Layout, submissions: Submissions) -> None:
    assert grade(submissions(ada="")).exit_code == 0
    (card,) = (in_checkout.root / "out/cards").glob("*/*.html")
    assert "Results over time" not in card.read_text()
    assert "first graded" in history("ada").output


def test_a_harness_failure_is_in_it(in_checkout: Layout, submissions: Submissions) -> None:
    assert grade(submissions(ada="// unfinished")).exit_code == 3
    assert "the harness failed" in history("ada").output


@pytest.mark.usefixtures("graded")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["lovlace"], 'no student is "lovlace"; nearest: Ada Lovelace (1815)'),
        (["lovelace_adda"], "nearest: Ada Lovelace (1815)"),
        (["ada"], '"ada" fits 2 students: Ada Lovelace (1815); Ada Yonath (1939)'),
        (["1815", "--assignment", "91"], 'no results of "91".\nThere are: 90_fake'),
        (["1815", "--out", "nowhere"], "Type:  grader grade SUBMISSIONS --out nowhere"),
    ],
)
def test_whom_it_does_not_know(
    arguments: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["grader", "history", *arguments])
    assert main() == 1
    assert says in capsys.readouterr().err


@pytest.mark.usefixtures("graded")
@pytest.mark.parametrize("name", ["lovelace_ada", "1815", "ada@class.example", "Lovelace, Ada", "lovela"])
def test_ways_to_name_a_student(name: str) -> None:
    assert "Ada Lovelace" in history(name).output


def test_attempts_of_a_download(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="// fail beta_two WRONG")
    (folder / "ada.cu").write_text("// who ada\n")
    assert grade(folder).exit_code == 0
    document = json.loads(history("ada", "--json").output)
    results = document["assignments"][0]["submissions"][0]["results"]
    assert sorted((one["attempt"], one["why"][0]) for one in results) == [(1, "first graded"), (2, "handed in again")]
    assert all(one["is_in_force"] for one in results)
    assert in_checkout.root.is_dir()
