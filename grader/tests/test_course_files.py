"""course.toml and adjustments.csv on the command line: found, remembered, used again."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.base.layout import Layout
from grader.commands.cli import cli

Submissions = Callable[..., Path]


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def points(out: Path = Path("out")) -> dict[str, str]:
    text = (out / "gradebook.csv").read_text("utf-8-sig")
    return {row["name"]: row["90_fake"] for row in csv.DictReader(io.StringIO(text))}


def runs(layout: Layout) -> int:
    return (layout.root / "build/bin/runs.log").read_text().count("run ")


def test_a_report_computes_grades_again_and_runs_nothing(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="", grace="// fail alpha_one RACE")
    (folder / "course.toml").write_text("bonus = false\n")
    result = run("grade", str(folder), "--no-sandbox")
    assert result.exit_code == 0, result.output
    assert str(folder / "course.toml") in result.output
    assert points() == {"ada": "20", "grace": "12"}
    before = runs(in_checkout)

    # Editing the files is enough, and a new file there counts too.
    (folder / "course.toml").write_text("cap = '15 points'\n")
    (folder / "adjustments.csv").write_text(
        "student,assignment,points,reason,staff\ngrace,90_fake,3,explained it,hopper\n"
    )
    result = run("report")
    assert result.exit_code == 0, result.output
    assert "course.toml" in result.output
    assert "adjustments.csv" in result.output
    assert points() == {"ada": "15", "grace": "18"}

    # A deleted one counts with its last contents.
    (folder / "course.toml").unlink()
    result = run("report")
    assert "no longer there" in result.output
    assert points() == {"ada": "15", "grace": "18"}

    # Other files, by name.
    other = in_checkout.root / "spring"
    other.mkdir()
    (other / "rules.toml").write_text("cap = '7 points'\n")
    assert run("report", "--course", "spring/rules.toml").exit_code == 0
    assert points() == {"ada": "7", "grace": "7"}
    assert run("report").exit_code == 0
    assert points() == {"ada": "7", "grace": "7"}
    assert runs(in_checkout) == before

    documents = [json.loads(path.read_text()) for path in Path("out/staff/results/90_fake").glob("*.json")]
    steps = {one["folder"]: one["grades"][0]["steps"] for one in documents}
    assert steps["ada"] == ["At most 7 points: 23 becomes 7"]


def test_a_mistake_is_told_before_anything_is_graded(
    in_checkout: Layout, submissions: Submissions, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = submissions(ada="")
    (folder / "adjustments.csv").write_text("student,assignment,points,reason,staff\nadda,90_fake,3,why,me\n")
    result = run("grade", str(folder), "--no-sandbox")
    assert 'adjustments.csv: line 2: no student is "adda"; nearest: ada' in str(result.exception)
    assert not (in_checkout.root / "build/bin/runs.log").exists()
    (folder / "adjustments.csv").unlink()
    (folder / "course.toml").write_text("[assignment.90_fakes]\n")
    result = run("grade", str(folder), "--no-sandbox")
    assert 'did you mean "90_fake"?' in str(result.exception)
    result = run("grade", str(folder), "--no-sandbox", "--course", "nowhere")
    assert "no such file or folder" in str(result.exception)
    result = run("grade", str(folder), "--no-sandbox", "--course", str(in_checkout.root))
    assert "neither a course.toml nor an adjustments.csv" in str(result.exception)


def test_course_files_beside_an_archive_or_folder_are_found(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="")
    (folder.parent / "course.toml").write_text("bonus = false\n")
    assert run("grade", str(folder), "--no-sandbox").exit_code == 0
    assert points() == {"ada": "20"}
