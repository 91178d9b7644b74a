"""Submissions as strangers leave them."""

import os
from pathlib import Path

import pytest

from grader.discovery import MOST_BYTES, Submission, Wanted, find_submissions
from grader.errors import GraderError
from grader.names import shown, slug
from grader.roster import Student, match, read_roster

WANTED = Wanted("90_fake", "ladder.cu", frozenset({"91_other", "other.cu"}))


def found(folder: Path) -> dict[str, Submission]:
    return {submission.folder: submission for submission in find_submissions(folder, WANTED)}


def put(path: Path, data: bytes = b"// code\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_shapes(tmp_path: Path) -> None:
    put(tmp_path / "folder" / "ladder.cu", b"a")
    put(tmp_path / "nested" / "90_fake" / "ladder.cu", b"b")
    put(tmp_path / "renamed" / "ladder (1).cu", b"c")
    put(tmp_path / "flat.cu", b"d")
    put(tmp_path / "two" / "x.cu")
    put(tmp_path / "two" / "y.cu")
    put(tmp_path / "readme.txt")
    put(tmp_path / ".git" / "ladder.cu")
    sources = {name: submission.source for name, submission in found(tmp_path).items()}
    assert sources == {"folder": b"a", "nested": b"b", "renamed": b"c", "flat": b"d", "two": None}


def test_files_of_several_assignments(tmp_path: Path) -> None:
    put(tmp_path / "prefixed" / "90_fake-ladder.cu", b"a")
    put(tmp_path / "prefixed" / "91_other-other.cu")
    put(tmp_path / "both" / "ladder.cu", b"b")
    put(tmp_path / "both" / "other.cu")
    put(tmp_path / "renamed" / "final.cu", b"c")
    put(tmp_path / "renamed" / "other.cu")
    put(tmp_path / "only_other" / "other.cu")
    put(tmp_path / "only_prefixed_other" / "91_other-final.cu")
    sources = {name: submission.source for name, submission in found(tmp_path).items()}
    assert sources == {"prefixed": b"a", "both": b"b", "renamed": b"c", "only_other": None, "only_prefixed_other": None}


def test_links_pipes_and_giants_are_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.cu"
    put(outside)
    inside = tmp_path / "class"
    put(inside / "giant" / "ladder.cu", b"x" * (MOST_BYTES + 1))
    (inside / "link").mkdir()
    (inside / "link" / "ladder.cu").symlink_to(outside)
    (inside / "dirlink").symlink_to(tmp_path)
    (inside / "flatlink.cu").symlink_to(outside)
    (inside / "nested").mkdir()
    (inside / "nested" / "90_fake").symlink_to(tmp_path)
    put(inside / "nested" / "other.txt")
    (inside / "pipe").mkdir()
    os.mkfifo(inside / "pipe" / "ladder.cu")
    (inside / "folder" / "ladder.cu").mkdir(parents=True)
    submissions = found(inside)
    refused = {name for name, submission in submissions.items() if submission.refused and submission.source is None}
    assert refused == {"giant", "link", "dirlink", "flatlink", "pipe", "folder"}
    assert submissions["nested"].source is None
    assert "links are not followed" in submissions["link"].problem
    assert "1,048,577 bytes" in submissions["giant"].problem


def test_hostile_names(tmp_path: Path) -> None:
    names = [
        b"\xff\xfe",
        b"\xff\xfd",
        b"<script>alert(1)</script>".replace(b"/", b"_"),
        b"=cmd|' _C calc'!A0",
        b"a\nb",
        "мир".encode(),
    ]
    for name in names:
        os.mkdir(os.path.join(os.fsencode(tmp_path), name))  # noqa: PTH102, PTH118
    submissions = find_submissions(tmp_path, WANTED)
    assert len({submission.folder for submission in submissions}) == len(names)
    assert len({submission.slug for submission in submissions}) == len(names)
    for submission in submissions:
        submission.folder.encode("utf-8")
        assert submission.slug.replace("-", "").isalnum()
        assert submission.slug.isascii()
        assert "\n" not in submission.student.name


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="Type:  grader grade PATH"):
        find_submissions(tmp_path / "nowhere", WANTED)


def test_shown_hides_nothing() -> None:
    assert shown("a\u202eb\x1b[31mc\ud800\n") == "a\ufffdb\ufffd[31mc\ufffd\ufffd"
    assert len(shown("x" * 1000)) == 120
    assert slug("Ada") != slug("ada")
    assert slug("../../etc/passwd").startswith("etc-passwd-")


def test_roster(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(
        'name,sid,email,alias\n"Church, Alonzo",1903,church@x,λ\nAda Lovelace,1815,ada.l@x,\nAda Lovelace,7,,\n'
    )
    roster = read_roster(path)
    assert roster[0] == Student("Church, Alonzo", "1903", "church@x", "λ")
    assert match("church, alonzo", roster) is roster[0]
    assert match("alonzo_church", roster) is roster[0]
    assert match("1903", roster) is roster[0]
    assert match("ada.l", roster) is roster[1]
    assert match("ada_lovelace", roster) is None  # two of that name
    assert match("", roster) is None
    assert roster[1].public_name != roster[2].public_name
    assert "Ada" not in roster[1].public_name


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_roster_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes("Name;ID\nRózsa Péter;1\n".encode(encoding))
    assert [student.name for student in read_roster(path)] == ["Rózsa Péter"]


def test_roster_without_names(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text("who,what\n1,2\n")
    with pytest.raises(GraderError, match="must name the columns"):
        read_roster(path)
