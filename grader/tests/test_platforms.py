"""Each platform's download, as folder, zip and tar: every student once, with the right file, lateness and attempts."""

import csv
import io
import os
import shutil
import subprocess
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.base.counted import listed
from grader.base.layout import Layout
from grader.commands.cli import cli
from grader.intake.download import open_class
from grader.model.discovery import Submission, Wanted
from platforms.canvas import canvas_gradebook, make_canvas
from platforms.git_clones import make_git_clones
from platforms.gradescope import gradescope_roster, make_gradescope
from platforms.moodle import DEFAULT_TEAM, make_moodle, moodle_worksheet
from platforms.packing import tarred, zipped
from platforms.people import DUE, Person, Upload, person, write_roster
from platforms.plain import make_plain

WANTED = Wanted("90_fake", "ladder.cu", frozenset({"91_other", "other.cu"}))
FORMS = ["", ".zip", ".tar.gz", ".tgz", ".tar"]

NAMES = [
    "Ada Lovelace",
    "Péter, Rózsa",
    "Siobhán O'Brien",
    "Jean-Luc Dupré-Martin",
    "Müller, Jürgen",
    "van der Berg, Jan_12_",
    "李 小明",
    "María del Carmen García_Lorca",
    "Søren Łukasz",
    "Kim, Minji",
    "Kim, Minji",  # another student of the same name
    "Mallory",
]
PEOPLE = tuple(person(name, 4200 + 7 * index, email=f"p{index}@x.example") for index, name in enumerate(NAMES))


def source(who: Person, text: str = "") -> bytes:
    return f"// who {who.number}\n{text}\n".encode()


def usual() -> list[Upload]:
    """One upload of each kind; the last student handed in nothing."""
    uploads = [Upload((one,), {"ladder.cu": source(one)}) for one in PEOPLE[:-1]]
    uploads[1] = replace(uploads[1], late=True, at=DUE + timedelta(hours=3))
    uploads[2] = replace(
        uploads[2], files={"work.zip": zipped({"src/ladder.cu": source(PEOPLE[2]), "notes.txt": b"x"})}
    )
    uploads[3] = replace(uploads[3], files={"my ladder (final).cu": source(PEOPLE[3]), "README.md": b"x"})
    uploads[4] = replace(
        uploads[4], files={"all.tar.gz": tarred({"__MACOSX/._ladder.cu": b"", "a/ladder.cu": source(PEOPLE[4])})}
    )
    uploads[5] = replace(uploads[5], files={"ladder.cu": source(PEOPLE[5]), "helper.cu": b"// no"})
    return uploads


def take(path: Path, roster: Path | None = None) -> list[Submission]:
    with open_class(path, roster) as download:
        return download.submissions(WANTED)


def table(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_canvas_without_names_or_accents(tmp_path: Path) -> None:
    roster = table(tmp_path / "gradebook.csv", canvas_gradebook(PEOPLE))
    by_number = take(make_canvas(tmp_path / "ascii.zip", usual(), ascii_only=True), roster)
    assert {one.student.sid for one in by_number if one.source} == {one.sid for one in PEOPLE[:-1]}
    with open_class(make_canvas(tmp_path / "anonymous.zip", usual(), anonymous=True), roster) as download:
        assert len(download.unmatched) == len(PEOPLE) - 1
        assert {one.student.name for one in download.owners} == {one.folder for one in download.owners}
        assert sum(one.handed.late for one in download.submissions(WANTED)) == 1
    # If the roster has no Canvas numbers, names decide, but not between two equal ones.
    plain = write_roster(tmp_path / "roster.csv", PEOPLE)
    for ascii_only in (False, True):
        with open_class(make_canvas(tmp_path / "named.zip", usual(), ascii_only=ascii_only), plain) as download:
            left = {owner.folder.partition("_")[0] for owner in download.unmatched}
            assert left == ({"kimminji", "4242"} if ascii_only else {"kimminji"})
            assert len(download.owners) == len(PEOPLE) - 1


@pytest.mark.parametrize("form", FORMS)
def test_canvas_attempts(tmp_path: Path, form: str) -> None:
    ada, emmy = PEOPLE[0], PEOPLE[1]
    uploads = [
        Upload((ada,), {"ladder.cu": b"3"}, earlier=({"ladder.cu": b"1"}, {"ladder.cu": b"2"})),
        Upload((emmy,), {"ladder.cu": b"2", "notes.txt": b"x"}, earlier=({"ladder.cu": b"1"},)),
    ]
    roster = table(tmp_path / "gradebook.csv", canvas_gradebook(PEOPLE[:2]))
    kept = take(make_canvas(tmp_path / f"all{form}", uploads, keep_earlier=True), roster)
    assert [(one.folder, one.handed.number, one.source) for one in kept] == [
        ("lovelaceada_4200", 1, b"3"),
        ("péterrózsa_4207", 1, b"2"),
    ]
    assert kept[0].handed.unused == (
        "ladder (earlier).cu: not used: ladder.cu is graded and does not include it",
        "ladder-1.cu: not used: ladder.cu is graded and does not include it",
    )
    with open_class(make_canvas(tmp_path / f"last{form}", uploads), roster) as download:
        last = download.submissions(WANTED)
        assert all(owner.is_resubmitted for owner in download.owners)
    assert [(one.folder, one.handed.number, one.source) for one in last] == [
        ("lovelaceada_4200", 1, b"3"),
        ("péterrózsa_4207", 1, b"2"),
    ]


def test_canvas_typed_submissions_are_missing_not_lost(tmp_path: Path) -> None:
    uploads = [
        Upload((PEOPLE[0],), {}, text="I could not upload"),
        Upload((PEOPLE[1],), {}, link="https://x.example"),
        Upload((PEOPLE[2],), {"ladder.cu": b"x"}, text="typed too"),
    ]
    roster = table(tmp_path / "gradebook.csv", canvas_gradebook(PEOPLE[:3]))
    submissions = take(make_canvas(tmp_path / "c.zip", uploads), roster)
    assert {one.student.sid: one.source for one in submissions} == {
        PEOPLE[0].sid: None, PEOPLE[1].sid: None, PEOPLE[2].sid: b"x",
    }  # fmt: skip


def test_gradescope_names_stay_and_history_is_told(tmp_path: Path) -> None:
    uploads = [Upload((one,), {"ladder.cu": source(one)}, earlier=({"ladder.cu": b"old"},)) for one in PEOPLE[:3]]
    first = take(make_gradescope(tmp_path / "one.zip", uploads))
    second = take(make_gradescope(tmp_path / "two.zip", uploads, first_id=300_000_000))
    assert [one.folder for one in first] == [one.folder for one in second]
    assert [one.handed.origin for one in first] != [one.handed.origin for one in second]
    with open_class(tmp_path / "one.zip") as download:
        assert all(owner.is_resubmitted for owner in download.owners)


def test_a_member_who_is_not_on_the_roster_leaves_the_group_to_a_person(tmp_path: Path) -> None:
    pair = Upload((PEOPLE[0], PEOPLE[1]), {"ladder.cu": b"x"})
    alone = Upload((PEOPLE[2],), {"ladder.cu": b"y"})
    made = make_gradescope(tmp_path / "g.zip", [pair, alone], emails=False)
    roster = table(tmp_path / "roster.csv", gradescope_roster([PEOPLE[0], PEOPLE[2]]))
    with open_class(made, roster) as download:
        (left,) = download.unmatched
        assert {one.sid for one in left.members} == {PEOPLE[0].sid, PEOPLE[1].sid}


def test_gradescope_with_a_broken_list(tmp_path: Path) -> None:
    uploads = [Upload((one,), {"ladder.cu": source(one)}) for one in PEOPLE[:3]]
    made = make_gradescope(tmp_path / "g", uploads)
    listing = made / "assignment_4711_export" / "submission_metadata.yml"
    text = listing.read_text()
    entries = text.split("submission_")
    entries[2] = entries[2].replace(":submitters:", ":submitters: [unclosed")
    listing.write_text("submission_".join(entries))
    roster = table(tmp_path / "roster.csv", gradescope_roster(PEOPLE[:3]))
    with open_class(made, roster) as download:
        assert len(download.owners) == 3
        assert [owner.folder for owner in download.unmatched] == ["submission_201500031"]
    listing.write_text(text.replace(":score: 0.0", ":score: !ruby/object:BigDecimal 18:0.0"))
    with open_class(made, roster) as download:
        assert download.unmatched == []
    listing.write_text(text.replace(":score: 0.0", ":score: !!python/object/apply:os.system ['touch /tmp/pwned']"))
    with open_class(made, roster) as download:
        assert len(download.owners) == 3  # the safe loader refuses every entry
    listing.unlink()
    with open_class(made, roster) as download:
        assert len(download.unmatched) == 3


@pytest.mark.parametrize("flat", [False, True])
def test_moodle_teams(tmp_path: Path, flat: bool) -> None:
    uploads = [
        Upload(PEOPLE[:2], {"ladder.cu": b"a"}, team="Team_A"),
        Upload(PEOPLE[2:4], {"ladder.cu": b"b"}, team="Les Cœurs"),
        Upload(PEOPLE[4:5], {"ladder.cu": b"c"}, team=DEFAULT_TEAM),
    ]
    people = PEOPLE[:5]
    groups = [replace(uploads[0], team="Team A"), uploads[1]]
    roster = table(tmp_path / "worksheet.csv", moodle_worksheet(people, uploads=groups))
    with open_class(make_moodle(tmp_path / "m.zip", uploads, flat=flat), roster) as download:
        found = {one.folder: one for one in download.submissions(WANTED)}
        assert [one.sid for one in download.without] == [PEOPLE[4].sid]
        assert [owner.folder for owner in download.unmatched] == [DEFAULT_TEAM]
    team = next(one for name, one in found.items() if name.startswith("Team A_"))
    assert {one.sid for one in team.handed.group} == {PEOPLE[0].sid, PEOPLE[1].sid}
    assert team.source == b"a"


def test_a_git_folder_can_start_nothing(tmp_path: Path) -> None:
    made = make_git_clones(tmp_path / "clones", [Upload((one,), {"ladder.cu": source(one)}) for one in PEOPLE[:4]])
    for own in sorted(made.iterdir()):
        trap = own / ".git" / "trap"
        trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        trap.chmod(0o755)
        with (own / ".git" / "config").open("a") as config:
            config.write(
                f"[core]\nfsmonitor={trap}\npager={trap}\nsshCommand={trap}\n[log]\nshowSignature=true\n"
                f'[gpg]\nprogram={trap}\n[extensions]\npartialClone=origin\n[remote "origin"]\nurl=ext::{trap}\n'
                "promisor=true\n"
            )
    first, second, third, fourth = sorted(made.iterdir())
    shutil.rmtree(second / ".git" / "objects")
    (second / ".git" / "objects").symlink_to("/")
    (third / ".git" / "HEAD").unlink()
    os.mkfifo(third / ".git" / "HEAD")
    (fourth / ".git" / "HEAD").write_text("ref: refs/heads/../../../../../../etc/passwd\n")
    submissions = {one.folder: one for one in take(made)}
    assert len(submissions) == 4
    assert all(one.source for one in submissions.values())
    has_time = [bool(submissions[own.name].handed.at) for own in (first, second, third, fourth)]
    assert has_time == [True, False, False, False]
    assert not (tmp_path / "ran").exists()


def test_a_packed_clone_has_its_time(tmp_path: Path) -> None:
    made = make_git_clones(tmp_path / "clones", [Upload((PEOPLE[0],), {"ladder.cu": b"x"})])
    (own,) = made.iterdir()
    for words in (("gc", "-q"), ("pack-refs", "--all")):
        subprocess.run(["git", *words], cwd=own, check=True, capture_output=True)  # noqa: S607
    assert not (own / ".git/refs/heads/main").exists()
    (submission,) = take(made)
    assert submission.handed.at == "2026-11-20T23:00:00+00:00"


def test_what_is_no_form_of_the_platform_is_not_lost(tmp_path: Path) -> None:
    made = make_canvas(tmp_path / "c", usual())
    (made / "emailed_me.cu").write_bytes(b"late")
    (made / "readme.txt").write_bytes(b"no submission")
    (made / "Nachzügler").mkdir()
    (made / "Nachzügler" / "ladder.cu").write_bytes(b"later")
    roster = table(tmp_path / "gradebook.csv", canvas_gradebook(PEOPLE))
    with open_class(made, roster) as download:
        assert {owner.folder for owner in download.unmatched} == {"emailed_me", "Nachzügler"}
        assert len(download.owners) == len(PEOPLE) + 1


def grade(*words: str) -> tuple[int, str, list[dict[str, str]]]:
    result = CliRunner().invoke(cli, ["grade", *words, "--no-sandbox"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    text = Path("out/gradebook.csv").read_text("utf-8-sig")
    return result.exit_code, result.output, list(csv.DictReader(io.StringIO(text, newline="")))


def test_matches_csv_settles_who_is_left(in_checkout: Layout, tmp_path: Path) -> None:
    people = PEOPLE[:4]
    strangers = [replace(person("Ada Lovelacce", 900), email=""), replace(person("=cmd|' /C calc'!A0", 901), email="")]
    uploads = [Upload((one,), {"ladder.cu": source(one)}) for one in (*people[1:], *strangers)]
    made = make_canvas(tmp_path / "week4.zip", uploads)
    write_roster(tmp_path / "roster.csv", people)
    status, said, rows = grade(str(made))
    assert status == 4
    assert "2 submissions match no student, 1 student without a submission" in said
    assert f"nearest: Ada Lovelace ({people[0].sid})" in said
    assert len(rows) == 6
    path = tmp_path / "matches.csv"
    proposed = list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))))
    assert [(row["submission"], row["student"]) for row in proposed] == [
        ("calca0cmdc_901", ""),
        ("lovelacceada_900", ""),
    ]
    assert grade(str(made))[0] == 4
    assert path.read_text("utf-8-sig").count("\n") == 3  # nothing is proposed twice

    path.write_text("submission,student,nearest\ncalca0cmdc_901,-,\nlovelacceada_900,Ada Lovelace (100000),\n")
    path.write_text(path.read_text().replace("100000", people[0].sid))
    status, said, rows = grade(str(made))
    assert (status, len(rows)) == (0, 4), said
    assert "leaves out calca0cmdc_901" in said
    assert {row["sid"]: row["90_fake"] for row in rows} == {one.sid: "23" for one in people}
    path.write_text("submission,student\nlovelacceada_900,Nobody At All\n")
    result = CliRunner().invoke(cli, ["grade", str(made), "--no-sandbox"])
    assert 'line 2: "Nobody At All" is nobody on the roster' in str(result.exception)


@pytest.mark.parametrize("folder", ["smithjohn_40049", "Smith, John", "john smith", "smithjohn"])
def test_two_students_whom_a_name_fits_are_the_nearest(tmp_path: Path, folder: str) -> None:
    people = [person("John Smith", 1), person("John Smith", 2), person("Johns Smitha", 3), person("Ada Lovelace", 4)]
    (tmp_path / "class" / folder).mkdir(parents=True)
    (tmp_path / "class" / folder / "ladder.cu").write_text("// who\n")
    write_roster(tmp_path / "class" / "roster.csv", people)
    result = CliRunner().invoke(cli, ["match", str(tmp_path / "class")])
    assert result.exit_code == 4
    nearest = f"John Smith ({people[0].sid}); John Smith ({people[1].sid})"
    assert f"nearest: {nearest}\n" in result.output
    row = next(csv.DictReader(io.StringIO((tmp_path / "class/matches.csv").read_text("utf-8-sig"))))
    assert row == {"submission": folder, "student": "", "nearest": nearest}


def test_names_with_commas_are_told_apart() -> None:
    assert listed(["Ada Lovelace", "Alan Turing"]) == "Ada Lovelace, Alan Turing"
    assert listed(["Lovelace, Ada", "Turing, Alan", "Zuse, Konrad"], 2) == "Lovelace, Ada; Turing, Alan and 1 more"


def test_match_lists_without_grading(tmp_path: Path) -> None:
    made = make_canvas(tmp_path / "week4.zip", [replace(upload, files={"x.cu": b"x"}) for upload in usual()])
    table(tmp_path / "gradebook.csv", canvas_gradebook(PEOPLE))
    shown = CliRunner().invoke(cli, ["match", str(made), "--roster", str(tmp_path / "gradebook.csv")])
    assert shown.exit_code == 0
    assert "Canvas download: 11 submissions, 1 late; 11 of 11 match the roster" in shown.output
    assert "1 student without a submission: Mallory" in shown.output
    assert "lovelaceada_4200  →  Lovelace, Ada" in shown.output
    assert not (tmp_path / "matches.csv").exists()
    write_roster(tmp_path / "roster.csv", PEOPLE[:3])
    assert CliRunner().invoke(cli, ["match", str(made)]).exit_code == 4
    assert (tmp_path / "matches.csv").exists()


def test_a_class_of_two_thousand_is_matched_at_once(tmp_path: Path) -> None:
    people = [person(f"Name{index % 50}x Family{index}", 10_000 + index) for index in range(2000)]
    roster = write_roster(tmp_path / "roster.csv", people)
    uploads = [Upload((one,), {"ladder.cu": b"x"}) for one in people]
    strangers = [Upload((person(f"Nobody{index} Else", index),), {"ladder.cu": b"x"}) for index in range(20)]
    made = make_plain(tmp_path / "week4.zip", [*uploads, *strangers])
    start = time.process_time()
    with open_class(made, roster) as download:
        assert len(download.owners) == 2020
        assert len(download.unmatched) == 20
    assert time.process_time() - start < 10  # twenty times what it takes
