"""One class, several assignments: who handed in what, in one gradebook, one index, one leaderboard."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import add_assignment
from grader.base.layout import Layout
from grader.commands.cli import cli


@pytest.fixture
def two(in_checkout: Layout) -> Layout:
    """A checkout with a second assignment."""
    add_assignment(in_checkout, "91_other", "other.cu")
    toml = in_checkout.assignment("91_other") / "assignment.toml"
    toml.write_text(toml.read_text().replace("A ladder & more", "Another one"))
    return in_checkout


def test_a_class_of_two_assignments(two: Layout, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    for name, source in {
        "ada/90_fake-ladder.cu": "// time beta_two 5",
        "ada/91_other-other.cu": "// fail beta_two WRONG",
        "grace/ladder.cu": "// fail alpha_one RACE",
        "grace/other.cu": "// time beta_two 7",
        "alan/other.cu": "// todo beta_two\n// todo gamma_bonus",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"// who {name.partition('/')[0]}\n{source}\n")
    result = CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox"])
    assert result.exit_code == 0, result.output
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(Path("out/gradebook.csv").read_text("utf-8-sig")))}
    points = {name: (row["90_fake"], row["91_other"]) for name, row in rows.items()}
    assert points == {"ada": ("23", "11"), "grace": ("15", "23"), "alan": ("0", "8")}
    assert (rows["alan"]["total"], rows["alan"]["possible"], rows["alan"]["status"]) == ("8", "40", "90_fake missing")
    criteria = list(csv.DictReader(io.StringIO(Path("out/criteria.csv").read_text("utf-8-sig"))))
    rows = {row["name"]: row for row in criteria}
    assert rows["alan"]["90_fake.verdict"] == "MISSING"
    assert rows["ada"]["91_other.beta.sum"] == "0"
    index = Path("out/index.html").read_text()
    assert index.rindex("A ladder &amp; more") < index.rindex("Another one")
    assert len(set(re.findall('href="(staff/cards/[^"]*)', index))) == 6
    card = next(Path("out/cards/91_other").glob("alan-*.html")).read_text()
    assert "NOT BEGUN" in card
    assert "What to look at" not in card
    assert "The next rung to write is" in card
    boards = json.loads(Path("out/leaderboard.json").read_text())["boards"]
    assert [(board["assignment"], len(board["entries"])) for board in boards] == [("90_fake", 1), ("91_other", 1)]
