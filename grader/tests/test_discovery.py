"""Submissions as found in practice."""

import os
from pathlib import Path

import pytest

from grader.base.errors import GraderError
from grader.base.names import shown, slug
from grader.intake.download import open_class
from grader.intake.handin import Who
from grader.intake.matching import Matcher
from grader.model.discovery import MOST_BYTES, Submission, Wanted
from grader.model.roster import Student, read_roster

WANTED = Wanted("90_fake", "ladder.cu", frozenset({"91_other", "other.cu"}))


def find_submissions(path: Path, wanted: Wanted) -> list[Submission]:
    with open_class(path) as download:
        return download.submissions(wanted)


def match(folder: str, roster: list[Student]) -> Student | None:
    return Matcher(roster).find(Who(text=folder))


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
    assert refused == {"giant", "link", "dirlink", "flatlink", "nested", "pipe", "folder"}
    assert "links are not followed" in submissions["link"].problem
    assert "1,048,577 bytes" in submissions["giant"].problem


HOSTILE = {
    "a title for the terminal": b"\x1b]0;owned\x07", "colours": b"\x1b[31mred\x1b[0m",
    "one-byte control sequence": "\u009b31mred".encode(), "line feed": b"a\nPASS  b", "carriage return": b"a\rb",
    "backspaces": b"a\x08\x08b", "right to left": "a\u202ecod.exe".encode(), "isolates": "\u2066a\u2069".encode(),
    "no width": "a\u200bb\ufeff".encode(), "tags": "a\U000e0041".encode(), "line separator": "a\u2028b".encode(),
    "no UTF-8": b"\xff\xfe", "blank": "\u3164".encode(), "spaces": b"   ", "ideographic spaces": "\u3000".encode(),
    "long": b"x" * 255, "marks": ("a" + "\u0301" * 60).encode(), "markup": b"[red]x[-red][link=file:---etc]y",
    "markup's end": b"x\\", "formula": "＝cmd|' -C calc'!A0".encode(), "page": b"<script>alert(1)<script>",
    "dots": b"x..-..-etc", "option": b"--out=x", "quote": b"'; rm -rf ~; '",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("shape", ["folder", "file"])
def test_a_name_is_clean_everywhere(tmp_path: Path, name: bytes, shape: str) -> None:
    path = os.path.join(os.fsencode(tmp_path), name)  # noqa: PTH118
    if shape == "folder":
        os.mkdir(path)  # noqa: PTH102
    else:
        if len(name) > 252:
            path = path[:-3]
        Path(os.fsdecode(path + b".cu")).write_bytes(b"// code\n")
    (submission,) = find_submissions(tmp_path, WANTED)
    for text in (submission.folder, submission.student.name, submission.problem):
        assert shown(text, 300) == text
        assert not {"\x1b", "\n", "\r", "\x9b", "\u202e"} & set(text)
    assert submission.folder
    assert submission.student.name
    assert submission.slug.replace("-", "").isalnum()
    assert len(submission.folder) < 160


def test_names_that_look_alike_stay_apart(tmp_path: Path) -> None:
    names = [
        "a\u200bb", "a\u200cb", "x" * 150, "x" * 151, "é", "e\u0301", "Ada", "ada", " ada", "ada ", "\u3164", "\u2800",
        os.fsdecode(b"\xff\xfe"), os.fsdecode(b"\xff\xfd"),
    ]  # fmt: skip
    for name in names:
        put(tmp_path / name / "ladder.cu", os.fsencode(name))
    submissions = found(tmp_path)
    assert sorted(submission.source or b"" for submission in submissions.values()) == sorted(
        os.fsencode(n) for n in names
    )
    assert len({submission.slug for submission in submissions.values()}) == len(names)


@pytest.mark.parametrize(
    "entries",
    [
        {"plain": ["plain/ladder.cu", "plain.cu"]},
        {"plain": ["plain/ladder.cu", "plain.cu/ladder.cu"]},
        {"plain": ["plain/ladder.cu", "plain.cu/ladder.cu"], "plain.cu": ["plain.cu.cu"]},
    ],
)
def test_a_file_and_a_folder_of_one_name_are_both_taken(tmp_path: Path, entries: dict[str, list[str]]) -> None:
    for path in (path for paths in entries.values() for path in paths):
        put(tmp_path / path, path.encode())
    attempts: dict[str, list[str]] = {}
    for submission in find_submissions(tmp_path, WANTED):
        own = attempts.setdefault(submission.folder, [])
        own.append((submission.source or b"").decode())
        assert submission.handed.number == len(own)
    assert attempts == entries


def test_several_hand_ins_of_one_student_are_attempts(tmp_path: Path) -> None:
    put(tmp_path / "ada" / "ladder.cu", b"2")
    put(tmp_path / "ada.cu", b"3")
    put(tmp_path / "1815" / "ladder.cu", b"1")
    put(tmp_path / "lovelace" / "other.cu")  # nothing for this assignment: no attempt that would count as missing
    put(tmp_path / "grace" / "ladder.cu")
    roster = b"name,sid,email,folder\nAda Lovelace,1815,ada@x,lovelace\nGrace Hopper,1906,grace@x,\n"
    put(tmp_path / "roster.csv", roster)
    submissions = find_submissions(tmp_path, WANTED)
    own = [one for one in submissions if one.student.name == "Ada Lovelace"]
    assert [(one.folder, one.handed.number, one.source) for one in own] == [
        ("1815", 1, b"1"),
        ("1815", 2, b"2"),
        ("1815", 3, b"3"),
    ]
    assert len(submissions) == 4
    (tmp_path / "roster.csv").unlink()
    assert sorted((one.folder, one.handed.number) for one in find_submissions(tmp_path, WANTED)) == [
        ("1815", 1),
        ("ada", 1),
        ("ada", 2),
        ("grace", 1),
        ("lovelace", 1),
    ]


def test_a_folder_that_can_not_be_read_costs_itself(tmp_path: Path) -> None:
    put(tmp_path / "ada" / "ladder.cu")
    put(tmp_path / "shut" / "ladder.cu")
    (tmp_path / "shut").chmod(0)
    (tmp_path / "sealed").mkdir()
    put(tmp_path / "sealed" / "ladder.cu")
    (tmp_path / "sealed" / "ladder.cu").chmod(0)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe.cu")
    (tmp_path / "device.cu").symlink_to("/dev/zero")
    put(tmp_path / "wide" / "x\n.cu", b"newline")
    try:
        submissions = found(tmp_path)
    finally:
        (tmp_path / "shut").chmod(0o700)
    assert submissions["ada"].source == b"// code\n"
    assert submissions["wide"].source == b"newline"
    refused = {"loop", "pipe", "device"} | (set() if os.geteuid() == 0 else {"shut", "sealed"})
    assert {name for name, submission in submissions.items() if submission.refused} == refused


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
    assert roster[1].public_name == roster[2].public_name == "Anonymous"  # boards give aliases that need the secret


ROSTER = [Student("Ada Lovelace", "1", "ada@x"), Student("Alan Turing", "1912", ""), Student("!!!", "", "")]


@pytest.mark.parametrize(
    "folder",
    ["+1", "-1", "1.5", "01", "1e0", "①", "１", "homework_1", "1 1", "(1)", "+1912", "1912.0", "-1912", "***", ""],
)
def test_a_folder_that_only_resembles_an_id_is_nobodys(folder: str) -> None:
    assert match(folder, ROSTER) is None


@pytest.mark.parametrize(("folder", "index"), [("1", 0), ("turing_1912", 1), ("1912 (turing)", 1), ("aturing", 1)])
def test_an_id_is_matched_as_text(folder: str, index: int) -> None:
    assert match(folder, ROSTER) is ROSTER[index]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('name,sid\nAda,1\n"Grace,2\nAlan,3\n', "line 3 opens a quote"),
        ('name,sid\n"Ada,1\n"Grace",2\n', "line 2 opens a quote"),
        ('name,sid\n"Ada,1\nGrace",2\n', "line 2 opens a quote"),
        ('"name,sid\nAda,1\n', "line 1 opens a quote"),
        ('name,note\nAda,"late\nGrace,"ill"\n', "line 2 opens a quote"),
        ('name,sid\nAda,1\n\n"' + "x" * 200_000, "line 4: field larger"),
        ('name,sid\n"Ada" L,1\n', "line 2: "),
        ("name,sid\nLovelace, Ada,1815\n", "line 2 has 3 cells"),
        ("name,sid\n" + "x" * 200_000 + ",1\n", "line 2: field larger"),
    ],
)
def test_a_roster_that_would_lose_lines_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(text)
    with pytest.raises(GraderError) as error:
        read_roster(path)
    assert says in str(error.value)
    assert "uot" in str(error.value).partition("\n")[2]  # what to do about it


def test_students_without_a_folder_are_all_listed(tmp_path: Path) -> None:
    put(tmp_path / "roster.csv", b"name,sid\nAda,\nAda,7\nAda,7\nBob,7\n7,\n")
    absent = find_submissions(tmp_path, WANTED)
    assert len({submission.folder for submission in absent}) == len(absent) == 4
