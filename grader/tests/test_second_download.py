"""`grader grade` a second time: what is kept, what is reported before anything is written, and what needs --replace."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.base.layout import Layout
from test_grade import grade, gradebook, results

pytestmark = pytest.mark.in_turn

Submissions = Callable[..., Path]


def points(layout: Layout) -> dict[str, str]:
    return {row["name"]: row["90_fake"] for row in gradebook(layout)}


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def second(in_checkout: Layout, submissions: Submissions, tmp_path: Path) -> Path:
    """A graded class of three, and an empty folder for the next download."""
    assert grade(submissions(ada="", grace="// fail beta_two WRONG", linus="")).exit_code == 0
    folder = tmp_path / "next"
    folder.mkdir()
    return folder


def hand_in(folder: Path, **sources: str) -> Path:
    for name, lines in sources.items():
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "ladder.cu").write_text(f"// who {name}\n{lines}\n")
    return folder


def test_only_the_new_ones(in_checkout: Layout, second: Path) -> None:
    told = grade(hand_in(second, dora="", grace=""))
    assert told.exit_code == 0, told.output
    said = words(told.output)
    assert "90_fake: 3 graded before New: 1: dora Handed in again: 1: grace" in said
    assert "Not in this download, grades kept: 2: ada, linus. --replace would drop them" in said
    assert "Changed: 1 grade grace 90_fake 11 → 23: handed in again" in said
    assert points(in_checkout) == {"ada": "23", "dora": "23", "grace": "23", "linus": "23"}
    assert set(results(in_checkout)) == {"ada", "dora", "grace", "linus"}


def test_what_is_named_comes_before_anything_is_written(in_checkout: Layout, second: Path) -> None:
    before = {path: path.read_bytes() for path in (in_checkout.root / "out").rglob("*.*") if path.is_file()}
    told = grade(hand_in(second, dora=""), "--dry-run")
    assert "Not in this download, grades kept: 3: ada, grace, linus" in words(told.output)
    after = {path: path.read_bytes() for path in (in_checkout.root / "out").rglob("*.*") if path.is_file()}
    assert after == before


def test_a_lower_grade_needs_a_word(in_checkout: Layout, second: Path) -> None:
    folder = hand_in(second, ada="// fail alpha_one RACE", grace="#error no")
    told = grade(folder)
    assert told.exit_code == 5
    said = words(told.output)
    assert "Kept as they were: 2 grades that would be lower, or gone" in said
    assert "ada 90_fake 23 → 15: handed in again grace 90_fake 11 → 0: handed in again" in said
    assert "type the same command with --replace" in said
    assert points(in_checkout) == {"ada": "23", "grace": "11", "linus": "23"}
    index = in_checkout.root / "out/index.html"
    assert "2 grades would be lower, and wait for --replace: ada, grace" in index.read_text()
    assert grade(folder).exit_code == 5  # until somebody decides
    one = grade(folder, "--only", "ada", "--replace")
    assert one.exit_code == 0, one.output
    assert points(in_checkout) == {"ada": "15", "grace": "11", "linus": "23"}
    assert "1 grade would be lower, and wait for --replace: grace" in index.read_text()
    said = words(grade(folder, "--replace").output)
    assert "wait for --replace" not in index.read_text()
    assert "Not in this download, dropped: 1: linus" in said
    assert points(in_checkout) == {"ada": "15", "grace": "0"}


def test_two_with_one_file_are_told_once(in_checkout: Layout, second: Path) -> None:
    for name in ("ada", "linus"):
        hand_in(second, **{name: ""})
        (second / name / "ladder.cu").write_text("// who both\n// fail alpha_one RACE\n")
    told = words(grade(second).output)
    assert "Kept as they were: 2 grades" in told
    assert told.count("ada 90_fake 23 → 15") == told.count("linus 90_fake 23 → 15") == 1


def test_what_is_kept_is_graded_by_a_new_suite(in_checkout: Layout, second: Path) -> None:
    suite = in_checkout.build / "bin/90_fake_suite"
    suite.write_text(suite.read_text().replace('"alpha_one", "beta_two", "gamma_bonus"', '"alpha_one", "beta_two"', 1))
    told = grade(hand_in(second, dora=""))
    assert told.exit_code == 5, told.output  # nobody has the bonus by this suite
    assert "because the suite changed" in words(told.output)
    assert "ada 90_fake 23 → 20: the suite changed" in words(told.output)
    assert points(in_checkout) == {"ada": "23", "dora": "20", "grace": "11", "linus": "23"}


def test_a_roster_that_comes_later_finds_who_was_graded_without(in_checkout: Layout, second: Path) -> None:
    hand_in(second, dora="")
    (second / "roster.csv").write_text("name,sid,email\nAda,1,ada@x.example\nDora,2,dora@x.example\nEve,3,\n")
    assert grade(second).exit_code == 0
    rows = {row["name"]: (row["sid"], row["90_fake"]) for row in gradebook(in_checkout)}
    assert (rows["Ada"], rows["Dora"], rows["Eve"]) == (("1", "23"), ("2", "23"), ("3", "0"))
    assert rows["grace"] == ("", "11")


def test_points_in_the_assignment_need_no_word(in_checkout: Layout, second: Path) -> None:
    toml = in_checkout.assignment("90_fake") / "assignment.toml"
    toml.write_text(toml.read_text().replace("points = 3\nbonus", "points = 1\nbonus"))
    told = grade(hand_in(second, dora=""))
    assert told.exit_code == 0, told.output
    assert points(in_checkout) == {"ada": "21", "dora": "21", "grace": "9", "linus": "21"}
    assert "ada 90_fake 23 → 21: points or titles in assignment.toml changed" in words(told.output)


def test_the_best_of_all_downloads_counts_where_the_course_says_so(in_checkout: Layout, second: Path) -> None:
    (second / "course.toml").write_text('counts = "best"\n')
    hand_in(second, ada="// fail alpha_one RACE")
    assert grade(second).exit_code == 0
    assert points(in_checkout)["ada"] == "23"
    table = io.StringIO((in_checkout.root / "out/criteria.csv").read_text("utf-8-sig"))
    row = next(row for row in csv.DictReader(table) if row["name"] == "ada")
    assert (row["attempt"], row["attempts"]) == ("1", "2")


def test_a_failure_of_the_harness_takes_no_grade_away(in_checkout: Layout, second: Path) -> None:
    told = grade(hand_in(second, ada="// harness 9"))
    assert told.exit_code == 3
    assert "ada 90_fake 23 → –: the harness failed" in words(told.output)
    assert points(in_checkout)["ada"] == "23"


def test_the_document_has_the_status(in_checkout: Layout, second: Path) -> None:
    told = grade(hand_in(second, ada="#error no"), "--json")
    assert json.loads(told.stdout)["status"] == 5


def test_no_times_are_said_first(in_checkout: Layout, second: Path) -> None:
    (second / "course.toml").write_text(
        'time_zone = "Europe/Berlin"\n[late]\npenalty = "10 % per day"\n'
        '[assignment.90_fake]\ndeadline = "2026-11-02 12:00"\n'
    )
    hand_in(second, ada="")
    told = grade(second).output
    first = next(line for line in told.splitlines() if "Hand-in times are not known" in line)
    assert "3 of 3 in 90_fake" in first
    assert told.index(first) < told.index("Verdict")
    index = (in_checkout.root / "out/index.html").read_text()
    assert index.index("Hand-in times are not known") < index.index('id="students"')
    (second / "times.csv").write_text(
        "student,assignment,time\nada,90_fake,2026-11-03 11:00\ngrace,90_fake,2026-11-02 11:59\n"
        "linus,90_fake,2026-11-02T12:00:00+01:00\n"
    )
    told = grade(second)
    assert "Hand-in times" not in told.output
    assert points(in_checkout) == {"ada": "21", "grace": "11", "linus": "23"}
    (second / "times.csv").write_text("student,assignment,time\nada,90_fake,3.11.2026\n")
    assert "times.csv: line 2: expected a date and a time" in str(grade(second).exception)
    shutil.rmtree(second)


def test_under_aliases_neither_a_name_nor_an_order_is_told(in_checkout: Layout, second: Path) -> None:
    told = grade(hand_in(second, dora="", eve="", ada="#error no", grace="#error no"), "--anonymous")
    assert told.exit_code == 5
    said = told.output[told.output.index("90_fake: 3 graded before") :]
    assert not [name for name in ("ada", "dora", "eve", "grace", "linus") if name in said.partition("Student")[0]]
    new = next(line for line in said.splitlines() if "New: 2" in line).partition(": 2: ")[2].split(", ")
    assert new == sorted(new)
    held = [line.split("  ")[1] for line in said.splitlines() if "→" in line and "90_fake" in line]
    assert held == sorted(held)
    assert len(held) == 2


def test_a_result_whose_file_is_not_utf_8_stays_and_is_named(in_checkout: Layout, second: Path) -> None:
    (second / "dora").mkdir()
    (second / "dora/ladder.cu").write_bytes(b"#error no\n// \xff\n")
    assert grade(second).exit_code == 0
    (second / "dora/ladder.cu").unlink()
    (second / "dora").rmdir()
    told = grade(hand_in(second, eve=""))
    assert "Results kept, but without their files, so they can't be graded again: 1: dora" in words(told.output)
    assert results(in_checkout)["dora"]["verdict"] == "COMPILE"
