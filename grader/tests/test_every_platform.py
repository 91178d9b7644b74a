"""The same class through every platform: each student gets the right file, attempt and time."""

import csv
import io
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import ONCE_A_DAY
from grader.base.layout import Layout
from grader.commands.cli import cli
from grader.intake.download import ClassDownload, open_class
from grader.model.discovery import Submission, Wanted
from platforms.classes import ALL, WAYS, in_teams, lay_out, random_class
from platforms.people import Class

pytestmark = pytest.mark.in_turn

WANTED = Wanted("90_fake", "ladder.cu")
TEAMS = [name for name, way in WAYS.items() if way.teams]


def taken(download: ClassDownload) -> dict[str, Submission]:
    """Each student's newest submission, by whatever the platform knows: id, address, login or name."""
    found: dict[str, Submission] = {}
    for one in download.submissions(WANTED):
        for student in one.handed.group or (one.student,):
            for key in {student.sid, student.email, student.login, student.name} - {""}:
                found[key] = one
    return found


def check(name: str, made: Class, download: ClassDownload) -> None:
    """Everybody has what they handed in, and nothing else."""
    way = WAYS[name]
    assert download.title in (way.title, "Archive of plain folders" if way.title == "Plain folder" else "")
    assert [(one.folder, one.doubt, one.nearest) for one in download.unmatched] == []
    found = taken(download)
    handed = {one: upload for upload in made.uploads for one in upload.people}
    for one in made.people:
        keys = (one.sid, one.email, one.login, f"{one.last[:1].lower()}-coder{one.number}", one.name)
        submission = next(found[key] for key in keys if key in found)
        upload = handed.get(one)
        assert submission.source == (upload.files["ladder.cu"] if upload else None), one
        if upload is None:
            continue
        assert bool(submission.handed.matched), one
        assert len(submission.handed.group or "x") == len(upload.people)
        is_marked = name.startswith("canvas") or ("moodle" in name and way.times)
        assert submission.handed.late == (upload.late and is_marked), one
        if way.keeps == ALL:
            assert submission.handed.number == len(upload.earlier) + 1
        if way.times:
            # Platforms write minutes or seconds.
            assert submission.handed.at[:16] == upload.at.isoformat()[:16], one
            assert submission.handed.source


@pytest.mark.parametrize("form", ["", ".zip"])
@pytest.mark.parametrize("name", WAYS)
def test_every_platform_gives_each_student_their_own(tmp_path: Path, name: str, form: str) -> None:
    for seed in range(3):
        made = random_class(seed, 10, same_names=seed == 2 and not WAYS[name].names_alone and name != "plain")
        download, roster = lay_out(name, tmp_path / str(seed), made, form)
        with open_class(download, roster) as opened:
            check(name, made, opened)


@pytest.mark.parametrize("name", TEAMS)
def test_a_team_has_one_grade_on_every_platform(tmp_path: Path, name: str) -> None:
    for seed in range(3):
        made = in_teams(random_class(seed, 12), seed)
        download, roster = lay_out(name, tmp_path / str(seed), made, ".zip")
        with open_class(download, roster) as opened:
            check(name, made, opened)


def test_the_same_class_gives_the_same_gradebook(in_checkout: Layout, tmp_path: Path) -> None:
    """One download after another, each with separate results, judged by the fake suite.

    For a commit every fifth platform: the tests above read the files of all.
    """
    ways = list(WAYS) if ONCE_A_DAY else ["canvas", *list(WAYS)[::5]]
    made = random_class(11, 7)
    for upload in made.uploads:
        for number, files in enumerate((*upload.earlier, upload.files)):
            fails = "" if (upload.person.number + number) % 3 else "// fail alpha_one WRONG\n"
            files["ladder.cu"] += fails.encode()  # type: ignore[index]
    points: dict[str, dict[str, str]] = {}
    for name in dict.fromkeys(ways):
        download, roster = lay_out(name, tmp_path / name, made, ".zip")
        words = ["grade", str(download), "--roster", str(roster), "--no-sandbox", "--out", f"out/{name}", "--quiet"]
        result = CliRunner().invoke(cli, words)
        assert result.exit_code == 0, (name, result.output)
        rows = list(csv.DictReader(io.StringIO(Path(f"out/{name}/gradebook.csv").read_text("utf-8-sig"))))
        points[name] = {_who(row, made): row["90_fake"] for row in rows}
        assert len(rows) == len(made.people), name
    assert set(points["canvas"]) == {one.sid for one in made.people}
    assert {name: one for name, one in points.items() if one != points["canvas"]} == {}
    assert {"15", "23", "0"} <= set(points["canvas"].values())


def _who(row: dict[str, str], made: Class) -> str:
    """The sid of a gradebook's row, also for platforms that have no sids."""
    return next(
        one.sid
        for one in made.people
        if one.sid == row["sid"] or one.email == row["email"] or row["name"] in (one.name, one.sortable)
    )
