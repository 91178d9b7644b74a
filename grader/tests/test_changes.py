"""What a run repeats after a change, its message about that, and its use of an earlier run."""

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.base.layout import Layout
from test_grade import grade, gradebook, log, results

pytestmark = pytest.mark.in_turn

Submissions = Callable[..., Path]
CODE = "__global__ void k() {}\n"


def runs(layout: Layout) -> list[str]:
    return [line for line in log(layout) if line.startswith("run ")]


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture
def graded(in_checkout: Layout, submissions: Submissions) -> Path:
    folder = submissions(ada="", grace="// fail alpha_one RACE", linus="#error no")
    assert grade(folder).exit_code == 0
    return folder


def test_what_changed_is_told_and_nothing_else_runs(in_checkout: Layout, graded: Path) -> None:
    (graded / "ada" / "ladder.cu").write_text("// who ada\n// again\n")
    told = grade(graded)
    assert "90_fake: 1 to be graded again, because ladder.cu of 1 student changed" in told.output
    assert runs(in_checkout)[2:] == ["run ada"]
    suite = in_checkout.build / "bin/90_fake_suite"
    suite.write_text(suite.read_text() + "\n# newer\n")
    (graded / "ada" / "ladder.cu").write_text("// who ada\n// and again\n")
    told = grade(graded)
    words = " ".join(told.output.split())
    assert "3 to be graded again, because ladder.cu of 1 student and the suite changed" in words
    assert sorted(runs(in_checkout)[3:]) == ["run ada", "run grace"]
    assert "again" not in grade(graded).output


def test_a_dry_run_tells_and_runs_nothing(in_checkout: Layout, graded: Path) -> None:
    before = log(in_checkout)
    gradebook_before = (in_checkout.root / "out/gradebook.csv").read_bytes()
    header = in_checkout.assignment("90_fake") / "ladder.h"
    header.write_text(header.read_text() + "// newer\n")
    (graded / "new").mkdir()
    (graded / "new" / "ladder.cu").write_text("// who new\n")
    told = grade(graded, "--dry-run")
    assert told.exit_code == 0
    words = " ".join(told.output.split())
    assert "3 to be graded again, because the assignment changed" in words
    assert "1 submission not graded before" in words
    for name in ("ada", "grace", "linus", "new"):
        assert name in told.output
    assert log(in_checkout) == before
    assert (in_checkout.root / "out/gradebook.csv").read_bytes() == gradebook_before
    assert grade(graded).exit_code == 0
    assert "Nothing is to be done" in grade(graded, "--dry-run").output


@pytest.mark.parametrize(
    ("old", "new", "ada", "linus"),
    [
        ('points = 8\ntitle = "Right"\ntests = ["*LadderTest.*/alpha_one"]',
         'points = 9\ntitle = "Right"\ntests = ["*LadderTest.*/alpha_one"]', "24", "0"),
        ('title = "First"', 'title = "The first"', "23", "0"),
        ('title = "A ladder & more"', 'title = "Another"', "23", "0"),
        ('tests = ["*LadderTest.*/alpha_one"]', 'tests = ["*LadderTest.SumsAll/alpha_one"]', "23", "0"),
    ],
)  # fmt: skip
def test_points_and_titles_need_no_run(
    in_checkout: Layout, graded: Path, old: str, new: str, ada: str, linus: str
) -> None:
    before = log(in_checkout)
    edit(in_checkout.assignment("90_fake") / "assignment.toml", old, new)
    told = grade(graded)
    assert told.exit_code == 0, told.output
    assert "to be scored again without a run, because points or titles in assignment.toml changed" in " ".join(
        told.output.split()
    )
    assert log(in_checkout) == before
    points = {row["name"]: row["90_fake"] for row in gradebook(in_checkout)}
    assert (points["ada"], points["linus"]) == (ada, linus)
    assert results(in_checkout)["linus"]["message"] == "ladder.cu(1): error: #error says so"


@pytest.mark.parametrize(
    ("old", "new"),
    [("call_seconds = 1", "call_seconds = 2"), ("full = 2", "full = 1"), ('title = "Fast"', 'title = "Faster"')],
)
def test_what_the_judge_reads_needs_a_run(in_checkout: Layout, graded: Path, old: str, new: str) -> None:
    edit(in_checkout.assignment("90_fake") / "assignment.toml", old, new)
    assert grade(graded).exit_code == 0
    assert sorted(runs(in_checkout)) == ["run ada", "run ada", "run grace", "run grace"]


def test_comments_in_the_assignment_need_nothing(in_checkout: Layout, graded: Path) -> None:
    path = in_checkout.assignment("90_fake") / "assignment.toml"
    path.write_text(f"# newer\n{path.read_text()}")
    assert "3 of 3 were graded before" in grade(graded).output


def test_the_same_code_is_run_once_and_each_card_names_its_own_lines(
    in_checkout: Layout, submissions: Submissions
) -> None:
    folder = submissions(ada="", bob="", cleo="")
    # The fake suite reports a finding on line 2, and counts line 1.
    source = f"__device__ int a;\n{CODE}// who ada\n// fail alpha_one RACE\n// print x\n"
    (folder / "ada/ladder.cu").write_text(source)
    (folder / "bob/ladder.cu").write_text(f"// bob's own head\n\n\n{source}")
    (folder / "cleo/ladder.cu").write_text(source.replace("{}", "{ }").replace("void k", "void  k"))
    assert grade(folder, "--jobs", "3").exit_code == 0
    assert len(runs(in_checkout)) == 1
    found = results(in_checkout)
    for name, line in (("ada", 2), ("bob", 5), ("cleo", 2)):
        first = found[name]["result"]["tests"][0]
        assert (first["verdict"], first["findings"][0]["places"][0]["line"]) == ("RACE", line)
        assert found[name]["result"]["profiles"][0]["lines"][0]["line"] == line - 1
        assert found[name]["provenance"]["command"].endswith(f"--only {name}")
    assert len({json.dumps(found[name]["score"]) for name in found}) == 1
    # A later comment changes neither inputs nor result, and nothing runs.
    (folder / "ada/ladder.cu").write_text(f"// better now\n{source}")
    grade(folder)
    assert len(runs(in_checkout)) == 1
    assert results(in_checkout)["ada"]["result"]["tests"][0]["findings"][0]["places"][0]["line"] == 3


def test_a_line_that_is_not_known_is_run(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="", bob="")
    source = f"// who ada\n\n{CODE}// fail alpha_one RACE\n"  # the fake's finding is on line 2, where no code is
    (folder / "ada/ladder.cu").write_text(source)
    (folder / "bob/ladder.cu").write_text(f"// bob\n{source}")
    assert grade(folder, "--jobs", "1").exit_code == 0
    assert len(runs(in_checkout)) == 2
    assert results(in_checkout)["bob"]["result"]["tests"][0]["findings"][0]["places"][0]["line"] == 2


def test_errors_of_the_compiler_are_each_ones_own(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="", bob="")
    (folder / "ada/ladder.cu").write_text(f"{CODE}#error no\n")
    (folder / "bob/ladder.cu").write_text(f"// bob\n{CODE}#error no\n")
    assert grade(folder).exit_code == 0
    assert {r["verdict"] for r in results(in_checkout).values()} == {"COMPILE"}


def test_the_same_code_has_the_same_seed(in_checkout: Layout, submissions: Submissions) -> None:
    """Whoever is graded first: both have the same seed, even in separate runs."""
    folder = submissions(ada="", bob="")
    (folder / "ada/ladder.cu").write_text(f"// who ada\n{CODE}")
    (folder / "bob/ladder.cu").write_text(f"// who bob\n\n{CODE}")
    for name in ("bob", "ada"):
        assert grade(folder, "--only", name, "--out", f"out-{name}", "--secret", secret(in_checkout)).exit_code == 0
    assert sorted(runs(in_checkout)) == ["run ada", "run bob"]
    seeds = {
        json.loads(row[0])["provenance"]["seed"]
        for name in ("bob", "ada")
        for row in rows(in_checkout.root / f"out-{name}/journal.sqlite", "SELECT document FROM record")
    }
    assert len(seeds) == 1


def secret(layout: Layout) -> str:
    path = layout.root / "secret"
    path.write_text("f" * 64)
    path.chmod(0o600)
    return str(path)


def rows(path: Path, query: str) -> list[tuple[str, ...]]:
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()
