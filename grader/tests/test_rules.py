"""Matching rules, times.csv, and the precedence of rules: an unknown platform works on the first day."""

from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.base.errors import GraderError
from grader.commands.cli import cli
from grader.intake.download import open_class
from grader.intake.rules import rule
from grader.model.discovery import Submission, Wanted
from platforms.canvas import canvas_gradebook, make_canvas
from platforms.classes import random_class
from platforms.packing import pack
from platforms.people import person, write_roster

WANTED = Wanted("90_fake", "ladder.cu")
ADA, ALAN, GRACE = (
    person(name, 4200 + place) for place, name in enumerate(("Ada Lovelace", "Alan Turing", "Grace Hopper"))
)


def class_of(tmp_path: Path, course: str, paths: dict[str, bytes]) -> Path:
    write_roster(tmp_path / "roster.csv", [ADA, ALAN, GRACE])
    (tmp_path / "course.toml").write_text(course)
    return pack(tmp_path / "week4.zip", paths)


def take(path: Path) -> dict[str, Submission]:
    with open_class(path) as download:
        return {one.student.sid or one.folder: one for one in download.submissions(WANTED)}


@pytest.mark.parametrize(
    ("text", "paths", "field"),
    [
        ("{login}/{attempt}/", "{login}/1/ladder.cu", "login"),
        ("{login}@{*}-v{attempt}-{file}", "{login}@u.example-v3-ladder.cu", "login"),
        ("Kurs 7/{id} {name}/{file}", "Kurs 7/{sid} {name}/ladder.cu", "id"),
        ("{address}[_{late}]_{file}", "{email}_ladder.cu", "address"),
        ("{time}_{name}.{file}", "20261120-225801_{name}.ladder.cu", "name"),
        ("{*}/{id}/", "Group B/{sid}/ladder.cu", "id"),
    ],
)
@pytest.mark.parametrize("form", ["", ".zip"])
def test_a_rule_finds_whose_a_file_is(tmp_path: Path, text: str, paths: str, field: str, form: str) -> None:
    (tmp_path / "course.toml").write_text(f'[matching]\nrule = "{text}"\n')
    write_roster(tmp_path / "roster.csv", [ADA, ALAN, GRACE])
    files = {paths.format(**vars(one), login=one.login, name=one.name): one.name.encode() for one in (ADA, ALAN)}
    found = take(pack(tmp_path / f"week4{form}", files))
    assert {sid: one.source for sid, one in found.items()} == {
        ADA.sid: b"Ada Lovelace",
        ALAN.sid: b"Alan Turing",
        GRACE.sid: None,
    }
    assert {one.handed.matched for one in found.values() if one.source} == {field}
    if "{time}" in text:
        assert found[ADA.sid].handed.at == "2026-11-20T22:58:01+00:00"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{student}/", "{student} is no field"), ("{file}", "whose is it?"), ("week4/*/", "whose is it?"),
        ("{login}/{login}/", "{login} is in it twice"),
        ("{file}_{login}", "{file} is the end"), ("{login", "not closed"),
        ("[{login}/", "a [ without its ]"), ("]{login}[/", "a ] without its ["), ("{name}_{name}/", "in it twice"),
        ("{login}//{file}", "an empty part"),
    ],
)  # fmt: skip
def test_a_rule_that_can_not_be_used_says_why(text: str, why: str) -> None:
    with pytest.raises(GraderError, match="can't be used") as raised:
        rule(text)
    assert why in str(raised.value)
    assert "grader match" in str(raised.value)


def test_a_rule_that_fits_nothing_names_what_is_there(tmp_path: Path) -> None:
    made = class_of(tmp_path, '[matching]\nrule = "{login}/{attempt}/"', {"a.cu": b"", "b.cu": b""})
    with pytest.raises(GraderError, match=r"fits nothing in [\s\S]*a\.cu"):
        take(made)
    with pytest.raises(GraderError, match="no rule"):
        take(class_of(tmp_path, "[matching]\n", {"a.cu": b""}))
    with pytest.raises(GraderError, match="unknown key"):
        take(class_of(tmp_path, '[matching]\nrule = "{login}/"\nrules = 1', {"a.cu": b""}))


def test_a_dry_run_shows_how_each_was_matched(tmp_path: Path) -> None:
    course = 'time_zone = "UTC"\n[matching]\nrule = ["{login}_{attempt}_{time}.zip", "{login}_{attempt}_{time}_{file}"]'
    paths = {
        f"{ADA.login}_1_20261120-120000_ladder.cu": b"old", f"{ADA.login}_2_20261120-130000_ladder.cu": b"new",
        f"{ALAN.login}_1_20261120-140000_ladder.cu": b"x", "nobody_1_20261120-140000_ladder.cu": b"y",
    }  # fmt: skip
    said = CliRunner().invoke(cli, ["match", str(class_of(tmp_path, course, paths))])
    assert said.exit_code == 4
    for part in (
        "By rule: 3 submissions",
        "Lateness is known from: file names\n  Ada Lovelace has",  # the time zone is known, and not spoken of
        f"{ADA.login}  →  Ada Lovelace  by login, 2026-11-20 13:00:00 UTC, attempt 2: "
        f"{ADA.login}_2_20261120-130000_ladder.cu",
        "nobody  →  nobody",
        "1 submission matches no student",
    ):
        assert part in said.output, part


def test_times_csv_tells_what_nothing_else_does(tmp_path: Path) -> None:
    paths = {f"{one.login}/ladder.cu": b"x" for one in (ADA, ALAN, GRACE)}
    made = class_of(tmp_path, 'time_zone = "Europe/Berlin"\n', paths)
    assert {one.handed.source for one in take(made).values()} == {""}
    (tmp_path / "times.csv").write_text(
        f"submission;student;time;extended\n{ADA.login};;2026-11-20 23:59;\n;{ALAN.sid};20.11.26;\n".replace(
            "20.11.26", "2026-11-21T00:10:00Z"
        )
        + ";Grace Hopper;;2026-11-27\n"
    )
    found = take(made)
    assert [(found[one.sid].handed.at, found[one.sid].handed.extended) for one in (ADA, ALAN, GRACE)] == [
        ("2026-11-20T22:59:00+00:00", ""), ("2026-11-21T00:10:00+00:00", ""), ("", "2026-11-26T23:00:00+00:00"),
    ]  # fmt: skip
    assert {one.handed.source for one in found.values()} == {"times.csv"}
    for line, why in (
        (f"{ADA.sid},yesterday", 'line 2: "yesterday" is no time'),
        ("Nobody,2026-11-20", "nobody on the"),
    ):
        (tmp_path / "times.csv").write_text(f"student,time\n{line}\n")
        with pytest.raises(GraderError, match=why):
            take(made)


def test_two_rules_that_find_two_students_are_for_a_person(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text(
        f"name,sid,email,login\nAda Lovelace,1815,a@x,{ALAN.sid}x\nAlan Turing,1912,b@x,kim\nKim,7,c@x,ada\n"
    )
    made = pack(
        tmp_path / "week4.zip", {"kim/ladder.cu": b"1", "Ada Lovelace_1912/ladder.cu": b"2", "1815/ladder.cu": b"3"}
    )
    with open_class(made) as download:
        doubts = {owner.folder: (owner.doubt, owner.nearest) for owner in download.unmatched}
    assert doubts == {
        "kim": (
            "the rules find different students: by login Alan Turing (1912); by name Kim (7)",
            ("Alan Turing (1912)", "Kim (7)"),
        ),
        "Ada Lovelace_1912": (
            "the rules find different students: by id Alan Turing (1912); by name Ada Lovelace (1815)",
            ("Alan Turing (1912)", "Ada Lovelace (1815)"),
        ),
    }


def test_canvas_list_of_submissions_tells_the_times(tmp_path: Path) -> None:
    made = random_class(3, 6)
    download = make_canvas(tmp_path / "week4.zip", made.uploads)
    (tmp_path / "students.csv").write_text(canvas_gradebook(made.people), encoding="utf-8", newline="")
    rows = [
        f"{upload.person.number},{upload.at - timedelta(hours=back):%Y-%m-%dT%H:%M:%SZ},{str(upload.late).lower()}\n"
        for upload in made.uploads
        for back in (0, 3)
    ]
    (tmp_path / "times.csv").write_text("user_id,submitted_at,late\n" + "".join(rows) + "999,,false\n")
    with open_class(download, tmp_path / "students.csv") as opened:
        found = {one.student.sid: one.handed for one in opened.submissions(WANTED)}
    for upload in made.uploads:
        handed = found[upload.person.sid]
        assert (handed.at, handed.late, handed.source) == (upload.at.isoformat(), upload.late, "times.csv")
