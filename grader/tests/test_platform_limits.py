"""Extreme contents of platforms' own files, and unusual forms of each."""

import csv
import io
import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from grader.base.errors import GraderError
from grader.intake.download import ClassDownload, open_class
from grader.model.discovery import Submission, Wanted
from platforms import others
from platforms.canvas import canvas_gradebook, canvas_groups, make_canvas
from platforms.gradescope import gradescope_roster, make_gradescope
from platforms.moodle import make_moodle, moodle_participants, moodle_worksheet
from platforms.packing import pack
from platforms.people import DUE, Person, Upload, person

WANTED = Wanted("90_fake", "ladder.cu")
ADA, ALAN, GRACE = PEOPLE = tuple(
    person(name, 4200 + place) for place, name in enumerate(("Ada Lovelace", "Alan Turing", "Grace Hopper"))
)


def uploads(**more: object) -> list[Upload]:
    return [Upload((one,), {"ladder.cu": one.name.encode()}, **more) for one in PEOPLE]  # type: ignore[arg-type]


def table(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def of(download: ClassDownload) -> dict[str, Submission]:
    return {student.sid: one for one in download.submissions(WANTED) for student in one.handed.group or (one.student,)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (":sid: '104200'", f":sid: {'9' * 5000}"),
        (":sid: '104200'", f":sid: {'9' * 500}"),
        (":sid: '104200'", ":sid: 0x" + "f" * 5000),
        ("2026-11-20 23:00:00.000000000 Z", "99999-01-01 00:00:00 Z"),
        ("2026-11-20 23:00:00.000000000 Z", "0001-01-01 00:00:00 +14:00"),
        ("2026-11-20 23:00:00.000000000 Z", "9999-12-31 23:59:59 -12:00"),
        (":score: 0.0", f":score: {'1' * 9000}"),
        (":history: []", f":history: {'[' * 5000}"),
        (":status: processed", ":status: &a [*a]"),
    ],
)
def test_one_entry_of_a_gradescope_list_costs_itself_at_most(tmp_path: Path, old: str, new: str) -> None:
    made = make_gradescope(tmp_path / "g", uploads())
    listing = made / "assignment_4711_export" / "submission_metadata.yml"
    listing.write_text(listing.read_text().replace(old, new, 1))
    with open_class(made, table(tmp_path / "r.csv", gradescope_roster(PEOPLE))) as download:
        found = of(download)
        assert [found[one.sid].source for one in (ALAN, GRACE)] == [b"Alan Turing", b"Grace Hopper"]
        assert len(download.owners) == 3


def test_a_long_gradescope_list_is_read(tmp_path: Path) -> None:
    made = make_gradescope(tmp_path / "g", uploads())
    listing = made / "assignment_4711_export" / "submission_metadata.yml"
    noise = (
        "  :results:\n    :tests:\n" + "    - :output: |\n        submission_1:\n          :submitters: x\n" * 700_000
    )
    listing.write_text(listing.read_text().replace("  :results:\n", noise, 1))
    assert listing.stat().st_size > 40 << 20
    roster = table(tmp_path / "r.csv", gradescope_roster(PEOPLE))
    with open_class(made, roster) as download:
        assert download.unmatched == []
        assert [of(download)[one.sid].source for one in PEOPLE] == [one.name.encode() for one in PEOPLE]
    listing.unlink()
    listing.mkdir()
    with pytest.raises(GraderError, match="nobody can be matched"), open_class(made, roster):
        pass


def test_two_who_call_themselves_the_same_at_gradescope(tmp_path: Path) -> None:
    twin = Person(ADA.first, ADA.last, ADA.sid, "other@x.example", 9)
    made = make_gradescope(tmp_path / "g.zip", [*uploads(), Upload((twin,), {"ladder.cu": b"mallory"})])
    for emails, left in ((True, 1), (False, 2)):
        made = make_gradescope(
            tmp_path / "g.zip", [*uploads(), Upload((twin,), {"ladder.cu": b"mallory"})], emails=emails
        )
        with open_class(made, table(tmp_path / "r.csv", gradescope_roster(PEOPLE))) as download:
            assert len(download.unmatched) == left
            sources = {
                one.source
                for one in download.submissions(WANTED)
                if one.student.sid == ADA.sid and one.handed.is_matched
            }
            assert b"mallory" not in sources


def test_a_canvas_group_gives_each_member_the_grade(tmp_path: Path) -> None:
    teams = {ADA: "Project Groups 1", ALAN: "Project Groups 1", GRACE: "Project Groups 11"}
    groups = [
        Upload((ADA, ALAN), {"ladder.cu": b"one"}, team="Project Groups 1"),
        Upload((GRACE,), {"ladder.cu": b"eleven"}, team="Project Groups 11"),
    ]
    made = make_canvas(tmp_path / "c.zip", groups)
    with open_class(made, table(tmp_path / "g.csv", canvas_groups(PEOPLE, teams))) as download:
        found = of(download)
        assert [found[one.sid].source for one in PEOPLE] == [b"one", b"one", b"eleven"]
        assert [found[one.sid].handed.matched for one in PEOPLE] == ["group", "group", "number"]
    # Without the group set the other members are unknown, and the number alone is not trusted.
    with open_class(made, table(tmp_path / "b.csv", canvas_gradebook(PEOPLE))) as download:
        assert {one.student.name for one in download.submissions(WANTED) if one.source} == {
            "Lovelace, Ada",
            "Hopper, Grace",
        }
        assert [one.name for one in download.without] == ["Turing, Alan"]


@pytest.mark.parametrize("is_group_work", [True, False])
def test_a_student_called_like_a_group(tmp_path: Path, is_group_work: bool) -> None:
    red = Person("", "Red", "666", "red@x.example", 4300)
    people = (*PEOPLE, red)
    own = Upload((red,), {"ladder.cu": b"red's own"})
    made = make_canvas(tmp_path / "c.zip", [own, *([] if is_group_work else uploads())])
    with open_class(made, table(tmp_path / "g.csv", canvas_groups(people, {ADA: "Red", ALAN: "Red"}))) as download:
        found = of(download)
        assert found["666"].source == b"red's own"
        assert [found[one.sid].source for one in PEOPLE] == (
            [None] * 3 if is_group_work else [one.name.encode() for one in PEOPLE]
        )
    with open_class(made, table(tmp_path / "g.csv", canvas_groups(people, {ADA: "Red", red: "Red"}))) as download:
        (left,) = download.unmatched
        assert left.doubt == "red is a group, and a student in it too"


def test_moodles_worksheet_tells_lateness_and_extensions(tmp_path: Path) -> None:
    late = [replace(uploads()[0], late=True, at=DUE + timedelta(hours=26)), *uploads()[1:]]
    said = "Submitted for grading - 1 day 2 hours late"
    until = "Extension granted until: Monday, 23 November 2026, 11:00 PM"
    sheet = moodle_worksheet(PEOPLE, uploads=late).replace(said, f'"{said} - {until}"')
    with open_class(make_moodle(tmp_path / "m.zip", late), table(tmp_path / "w.csv", sheet)) as download:
        found = of(download)
    ada, alan = found[ADA.sid].handed, found[ALAN.sid].handed
    assert (ada.late, ada.at, ada.extended, ada.source) == (
        True, "2026-11-22T01:00:00+00:00", "2026-11-23T23:00:00+00:00", "worksheet",
    )  # fmt: skip
    assert (alan.late, alan.at, alan.extended) == (False, "2026-11-20T23:00:00+00:00", "")


def test_moodle_with_the_login_before_the_name(tmp_path: Path) -> None:
    files = {
        f"{one.login}_{one.name}_{one.number}_assignsubmission_file/ladder.cu": one.name.encode() for one in PEOPLE
    }
    with open_class(
        pack(tmp_path / "m.zip", files), table(tmp_path / "r.csv", others.logins_roster(PEOPLE))
    ) as download:
        assert {sid: one.handed.matched for sid, one in of(download).items()} == {one.sid: "login" for one in PEOPLE}


def test_folders_of_weeks_are_not_taken_for_each_other(tmp_path: Path) -> None:
    roster = table(tmp_path / "r.csv", others.logins_roster(PEOPLE))
    for names, sources in ((("90_fake", "91_other"), [b"90_fake"] * 3), (("week1", "week2"), [None] * 3)):
        files = {f"{week}/{one.login}/main.cu": week.encode() for week in names for one in PEOPLE}
        with open_class(pack(tmp_path / f"{names[0]}.zip", files), roster) as download:
            found = download.submissions(Wanted("90_fake", "ladder.cu", frozenset({"91_other", "other.cu"})))
        assert [one.source for one in found if not one.handed.is_matched or one.source or one.problem] == sources
        assert all("week1, week2" in one.problem for one in found if one.source is None)


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_moodles_lists_in_other_languages(tmp_path: Path, language: str) -> None:
    made = make_moodle(tmp_path / "m.zip", uploads())
    sheet = moodle_worksheet(PEOPLE, uploads=uploads(), language=language)
    for text, at in ((sheet, "2026-11-20T23:00:00+00:00"), (moodle_participants(PEOPLE, language=language), "")):
        with open_class(made, table(tmp_path / "w.csv", text)) as download:
            assert {(one.name, one.sid, one.email) for one in download.roster} == {
                (one.name, one.sid, one.email) for one in PEOPLE
            }
            assert {one.handed.at for one in download.submissions(WANTED)} == {at}


def test_canvas_marks_lateness_only_where_there_is_a_deadline(tmp_path: Path) -> None:
    roster = table(tmp_path / "g.csv", canvas_gradebook(PEOPLE))
    for marked, sources in (([False] * 3, {""}), ([True, False, False], {"file names"})):
        some = [replace(one, late=late) for one, late in zip(uploads(), marked, strict=True)]
        with open_class(make_canvas(tmp_path / "c.zip", some), roster) as download:
            found = [of(download)[one.sid].handed for one in PEOPLE]
            assert [one.late for one in found] == marked
            assert {one.source for one in found} == sources


def test_submittys_active_version_counts(tmp_path: Path) -> None:
    some = [replace(one, earlier=({"ladder.cu": b"first"},)) for one in uploads()]
    roster = table(tmp_path / "r.csv", others.logins_roster(PEOPLE))
    with open_class(others.make_submitty(tmp_path / "s.zip", some, active=1), roster) as download:
        ada = of(download)[ADA.sid]
    assert (ada.source, ada.handed.unused) == (b"first", (f"{ADA.login}/2: version 1 is the active one",))


def test_numbers_of_another_table_are_not_believed_against_a_name(tmp_path: Path) -> None:
    rows = list(csv.reader(io.StringIO(canvas_gradebook(PEOPLE).lstrip("\ufeff"))))
    rows[2][1], rows[3][1] = rows[3][1], rows[2][1]
    text = "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)
    with open_class(make_canvas(tmp_path / "c.zip", uploads()), table(tmp_path / "g.csv", text)) as download:
        assert {one.folder for one in download.unmatched} == {"lovelaceada_4200", "turingalan_4201"}
        assert "by number Turing, Alan (104201); by name Lovelace, Ada (104200)" in download.unmatched[0].doubt


@pytest.mark.parametrize("wrapper", ["", "Week 4/", "a/b/"])
def test_a_folder_around_everything(tmp_path: Path, wrapper: str) -> None:
    for name, make in (("m", make_moodle), ("b", others.make_blackboard), ("s", others.make_sakai)):
        plain = make(tmp_path / name, uploads())
        files = {
            f"{wrapper}{path.relative_to(plain)}": path.read_bytes() for path in plain.rglob("*") if path.is_file()
        }
        with open_class(
            pack(tmp_path / f"{name}.zip", files), table(tmp_path / "r.csv", others.logins_roster(PEOPLE))
        ) as download:
            assert download.unmatched == []
            assert {one.source for one in download.submissions(WANTED)} == {one.name.encode() for one in PEOPLE}


def test_more_than_twenty_attempts_are_not_all_graded(tmp_path: Path) -> None:
    many = [replace(uploads()[0], earlier=tuple({"ladder.cu": b"%d" % number} for number in range(40)))]
    with open_class(others.make_blackboard(tmp_path / "b.zip", many)) as download:
        found = download.submissions(WANTED)
    assert len(found) == 20
    assert found[-1].source == b"Ada Lovelace"
    assert "21 older attempts: the newest 20 are graded" in found[-1].handed.unused


PIECES = [
    "Ada Lovelace", "4200", "_", "-", " - ", "/", "/", "(", ")", "LATE", "assignsubmission_file", "attempt",
    "@x.example", "2026-11-20-10-00-00", "Nov 20, 2026 900 PM", "99999999999999999", "Version 1",
    "Submitted files", "Abgaben", "Team ", "submission_1", "submission_metadata.yml",
    "user_assignment_settings.json", "timestamp.txt",
    ".git", "HEAD", "objects", "ladder.cu", "ladder.cu.txt", "x.ipynb", "x.zip", "x.tar.gz",
    "Submission attachment(s)", "anon", "\u202e", "\ufffd",
    "é", "李", ".", "..", "roster.csv", "{login}", "[", "week4", "a" * 120,
]  # fmt: skip
CONTENTS = [
    b"", b"x", b"{", b'{"cells": 1}', b'{"active_version": 9e999, "history": [1, {"version": "x"}]}',
    b"---\nsubmission_1: [",
    b":submitters: 1", b"ref: refs/heads/main", b"name,sid\nAda Lovelace,1", b"\xff\xfe\x00", b'#include "ladder.cu"\n',
]  # fmt: skip


@pytest.mark.parametrize("form", ["", ".zip"])
def test_every_import_ends_with_a_class_or_a_sentence(tmp_path: Path, form: str) -> None:
    chance = random.Random(f"imports{form}")
    rosters = [
        table(tmp_path / "r1.csv", others.logins_roster(PEOPLE)),
        table(tmp_path / "r2.csv", canvas_gradebook(PEOPLE)),
        None,
    ]
    ended = {"class": 0, "sentence": 0}
    for number in range(150):
        files: dict[str, bytes] = {}
        start = "".join(chance.choices(PIECES, k=2)) if chance.random() < 0.5 else ""
        for _ in range(chance.randrange(1, 9)):
            path = start + "".join(chance.choices(PIECES, k=chance.randrange(1, 7)))
            parts = [part[:200] for part in path.split("/") if part not in ("", ".", "..")]
            if parts and not any(
                "/".join(parts).startswith(f"{one}/") or one.startswith("/".join(parts)) for one in files
            ):
                files["/".join(parts)] = chance.choice(CONTENTS)
        if chance.random() < 0.3:
            rule = "".join(
                chance.choices(["{login}", "{name}", "{number}", "{file}", "{*}", "_", "/", "[", "]", "{"], k=4)
            )
            files |= {"course.toml": f'[matching]\nrule = "{rule}"\n'.encode()} if form == "" else {}
        made = pack(tmp_path / f"{number}{form}", files)
        made.mkdir(exist_ok=True) if form == "" else None
        try:
            with open_class(made, chance.choice(rosters)) as download:
                download.moments = lambda *_: [DUE]
                submissions = download.submissions(WANTED)
                assert len({one.folder for one in submissions}) <= len(submissions)
                assert all(one.source is not None or one.problem for one in submissions)
            ended["class"] += 1
        except GraderError as error:
            ended["sentence"] += len(str(error)) > 20
    assert ended["class"] > 80
    assert sum(ended.values()) == 150
