"""Grades written into any CSV: all else stays as it was. Titles that Canvas drops; feedback where platforms look."""

import csv
import io
import random
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.base.csv_files import parse_csv
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.commands.cli import cli
from grader.course.grades import StudentGrades, compute_grades
from grader.exports.canvas import canvas_like, canvas_new
from grader.exports.feedback import BLACKBOARD, BRIGHTSPACE, CANVAS, MOODLE, SAKAI, feedback_zip
from grader.exports.into import grades_into, read_table
from grader.exports.moodle import moodle_like, participants
from grader.exports.platform import Report
from made_class import ADA, ALAN, GRACE, course, handed_in, made_assignment, one_class
from platforms.canvas import canvas_gradebook
from platforms.moodle import moodle_worksheet
from platforms.others import blackboard_gradebook, brightspace_grades
from platforms.people import Person
from test_grade import grade

ASSIGNMENT = {"04_reduction": made_assignment()}
TITLES = {"04_reduction": ["Lab 4", "04_reduction"]}
CODECS = ("utf-8", "utf-8-sig", "utf-16", "cp1252")


def grades(*points: float) -> list[StudentGrades]:
    people = (ADA, ALAN, GRACE)
    return compute_grades(one_class(*(handed_in(one, own) for one, own in zip(people, points, strict=False))), course())


def into(data: bytes, *, id_title: str = "") -> tuple[bytes, Report]:
    return grades_into(read_table(data, "x.csv"), ASSIGNMENT, TITLES, grades(90, 81.5, 70), id_title=id_title)


@pytest.mark.parametrize("seed", range(60))
def test_only_the_cells_of_the_grades_are_others(seed: int) -> None:
    """Random files in any dialect: with our numbers removed, the result equals the file."""
    chance = random.Random(seed)
    delimiter, newline = chance.choice(",;\t"), chance.choice(("\n", "\r\n"))
    codec = chance.choice(CODECS)
    width = chance.randrange(2, 7)
    key, place = chance.sample(range(width), 2)
    kind = chance.choice(("sid", "email", "login"))

    def cell(text: str) -> str:
        quote = any(sign in text for sign in f'{delimiter}"\r\n') or chance.random() < 0.3
        return '"' + text.replace('"', '""') + '"' if quote else text

    def line(cells: list[str]) -> str:
        return delimiter.join(map(cell, cells))

    rows = [
        [chance.choice(("", "x y", 'say "hi"', "a\nb", "é", "=1+1", " 7 ")) for _ in range(width)] for _ in range(5)
    ]
    head = [f"T{number}" for number in range(width)]
    head[key], head[place] = "Who", "Lab 4"
    people = [ADA, ALAN, GRACE]
    chance.shuffle(people)
    for row, student in zip(rows, people, strict=False):
        row[key] = getattr(student, kind)
        row[place] = chance.choice(("", "12", "-"))
    for row in rows[3:]:
        row[key], row[place] = "", ""
    data = (newline.join(map(line, [head, *rows])) + chance.choice(("", newline))).encode(codec)
    made, report = into(data, id_title=chance.choice(("", "Who")))
    assert report.filled == 3
    points = {ADA: "90", ALAN: "81.5", GRACE: "70"}
    table, again = read_table(data, "x.csv"), read_table(made, "x.csv")
    for number, (before, after) in enumerate(zip(table.rows, again.rows, strict=True)):
        expected = [one.value for one in before]
        if 1 <= number <= 3:
            expected[place] = points[people[number - 1]]
        assert [one.value for one in after] == expected
    back = again.text
    for number in (3, 2, 1):
        old, new = table.rows[number][place], again.rows[number][place]
        back = back[: new.start] + table.text[old.start : old.end] + back[new.end :]
    assert (again.mark + back.encode(again.codec)) == data


def test_a_decimal_comma_an_id_with_zeros_and_a_short_row() -> None:
    some = [replace(one, student=replace(one.student, sid=f"00{one.student.sid}")) for one in grades(90, 81.5, 70)]
    data = b'Report of spring\n\nNr;Mark;Lab 4\n="001815";1,5\n"001912";2;\n001906;3;N/A\n'
    made, report = grades_into(read_table(data, "x.csv"), ASSIGNMENT, TITLES, some)
    assert made.decode() == 'Report of spring\n\nNr;Mark;Lab 4\n="001815";1,5;90\n"001912";2;81,5\n001906;3;N/A\n'
    assert report.kept == ["Grace Hopper: 04_reduction stays N/A"]
    assert (report.filled, report.without, report.left_over) == (2, [], [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Who,Lab 5\n1815,\n", "no column for 04_reduction. Its columns are:\n  Who\n  Lab 5\nType:  --column"),
        ("Who,Lab 4\nnobody,\n", "Type:  --id HEADER"),
        ("A,B,Lab 4\n1815,1912,\n", 'the columns "A" and "B" name different students in line 2'),
        ("Lab 4,Lab 4,Who\n,,1815\n", "is the title of 2 columns"),
        ('Who,Lab 4\n"1815,\n', "line 2: a quote is opened and not closed"),
        ("", "is empty"),
    ],
)
def test_what_can_not_be_told_is_asked_for(text: str, said: str) -> None:
    with pytest.raises(GraderError, match=r"\S") as raised:
        into(text.encode())
    assert said in str(raised.value)


def test_rows_of_one_student_and_of_strangers_are_named() -> None:
    made, report = into(b"Who,Lab 4\n1815,\n1815,\n1912,\n99,\n")
    assert made == b"Who,Lab 4\n1815,\n1815,\n1912,81.5\n99,\n"
    assert report.without == [
        "99: no graded student has this id",
        "Ada Lovelace: 2 rows of the file are this student's",
    ]
    assert report.left_over == ["Ada Lovelace", "Grace Hopper"]


PEOPLE = [Person("Ada", "Lovelace", "1815", "ada@class.example", 11), Person("Alan", "Turing", "1912", "a@x", 12)]


@pytest.mark.parametrize("word", ["N/A", "EX", "ex", "see me", "90 (late)", "B+"])
def test_words_of_staff_stay_in_platforms_files(word: str) -> None:
    text = canvas_gradebook(PEOPLE, "Lab 4 (7)")
    rows = list(csv.reader(io.StringIO(text)))
    rows[2][5] = word
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    made, report = canvas_like(parse_csv(out.getvalue(), "c.csv"), ASSIGNMENT, TITLES, grades(90, 80))
    assert [row[5] for row in csv.reader(io.StringIO(made))][2:4] == [word, "80"]
    assert (report.filled, report.kept) == (1, [f"Ada Lovelace: 04_reduction stays {word}"])
    rows = list(csv.reader(io.StringIO(moodle_worksheet(PEOPLE))))
    rows[1][6] = word
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    made, report = moodle_like(parse_csv(out.getvalue(), "m.csv"), ASSIGNMENT["04_reduction"], [], grades(90, 80))
    assert [row[6] for row in csv.reader(io.StringIO(made))][1:3] == [word, "80"]
    assert report.kept == [f"Ada Lovelace stays {word}"]


@pytest.mark.parametrize("sum_of", ["Final Grade", "Current Score", "Unposted Final Points", "Override Status"])
def test_a_title_that_canvas_drops_is_refused(sum_of: str) -> None:
    title = f"Lab 4 {sum_of}"
    titles = {"04_reduction": [title]}
    with pytest.raises(GraderError, match="Canvas drops a column with"):
        canvas_like(parse_csv(canvas_gradebook(PEOPLE, f"{title} (7)"), "c.csv"), ASSIGNMENT, titles, grades(90, 80))
    with pytest.raises(GraderError, match="Canvas drops a column with"):
        canvas_new(ASSIGNMENT, titles, grades(90, 80))


def names_in(data: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.namelist()


def test_feedback_is_where_each_platform_looks(tmp_path: Path) -> None:
    card = tmp_path / "card.html"
    card.write_text("<p>card</p>")

    def made(platform: str, origin: str, **more: object) -> tuple[list[str], tuple[str, ...]]:
        classes = one_class(handed_in(ADA, 90, origin=origin, **more))
        numbers = participants(parse_csv(moodle_worksheet(PEOPLE), "w.csv")) if more.get("group") else {}
        found = feedback_zip(
            platform, "04_reduction", compute_grades(classes, course()), {"Ada Lovelace": card}, numbers
        )
        return names_in(found.data), found.without

    # Moodle's importer: a part of the path is fullname_number_plugintype_plugin, and the rest is the file's name.
    moodle = "Ada Lovelace_11_assignsubmission_file/04_reduction report card.html"
    assert made(MOODLE, "Ada Lovelace_11_assignsubmission_file/reduction.cu") == ([moodle], ())
    assert made(MOODLE, "Team_301_assignsubmission_file/reduction.cu", group=(ADA,)) == ([moodle], ())
    assert made(MOODLE, "x/reduction.cu")[1] == (
        "Ada Lovelace: the participant's number is not known: add  --like WORKSHEET.csv",
    )
    # Canvas: among the words between underscores, the first two numbers are those of user and attachment.
    for late in ("", "LATE_"):
        (name,), _ = made(CANVAS, f"lovelaceada_{late}4211_880013_reduction.cu")
        assert [word for word in name.split("_") if word.isdecimal()][:2] == ["4211", "880013"]
        assert name.endswith("_reduction.html")
    assert made(CANVAS, "ada/reduction.cu")[1] == ("Ada Lovelace: the hand-in has no name that Canvas gave it",)
    assert made(BLACKBOARD, "Lab 4_alovelace_attempt_2026-11-20-15-00-00_reduction.cu")[0] == [
        "Lab 4_alovelace_attempt_2026-11-20-15-00-00_reduction.html"
    ]
    folder = "12-34 - Ada Lovelace - Nov 20, 2026 300 PM"
    assert made(BRIGHTSPACE, f"{folder}/reduction.cu")[0] == [f"{folder}/04_reduction report card.html"]
    sakai = "Lab 4/Lovelace, Ada(alovelace)/"
    assert made(SAKAI, f"{sakai}Submission attachment(s)/reduction.cu")[0] == [
        f"{sakai}Feedback Attachment(s)/04_reduction report card.html"
    ]


def test_the_commands(in_checkout: Layout, submissions: Callable[..., Path], tmp_path: Path) -> None:
    folder = submissions(ada="", grace="// fail beta_two WRONG")
    (folder / "roster.csv").write_text("name,sid,folder\nAda,7,ada\nGrace,8,grace\n")
    assert grade(folder).exit_code == 0
    file = tmp_path / "registrar.csv"
    file.write_bytes(b"No;Lab;Note\r\n7;;fine\r\n8;;\r\n")
    run = CliRunner().invoke
    asked = run(cli, ["export", "--into", str(file)])
    assert isinstance(asked.exception, GraderError)
    assert 'Type:  --column 90_fake="HEADER"' in str(asked.exception)
    told = run(cli, ["export", "--into", str(file), "--column", "90_fake=Lab"])
    assert told.exit_code == 0, told.output
    assert "2 grades: out/exports/registrar.csv" in told.output
    assert (in_checkout.root / "out/exports/registrar.csv").read_bytes() == b"No;Lab;Note\r\n7;23;fine\r\n8;11;\r\n"
    assert file.read_bytes() == b"No;Lab;Note\r\n7;;fine\r\n8;;\r\n"
    assert "Usage" in run(cli, ["export"]).output
    told = run(cli, ["export", "feedback", "brightspace"])
    assert told.exit_code == 0, told.output
    with zipfile.ZipFile(in_checkout.root / "out/exports/brightspace-feedback-90_fake.zip") as archive:
        assert archive.namelist() == ["ada/90_fake report card.html", "grace/90_fake report card.html"]
        assert archive.read("ada/90_fake report card.html") == (
            next((in_checkout.root / "out/cards/90_fake").glob("ada*.html")).read_bytes()
        )
    assert run(cli, ["export", "feedback", "canvas"]).exit_code == 4


GRADEBOOKS = {
    "canvas": (canvas_gradebook(PEOPLE, "Week 4 (7)").encode(), ","),
    "blackboard": (blackboard_gradebook(PEOPLE).encode("utf-16"), "\t"),
    "brightspace": (brightspace_grades(PEOPLE).encode(), ","),
}


@pytest.mark.parametrize("platform", GRADEBOOKS)
def test_gradebooks_of_platforms_take_grades_by_the_assignments_title(platform: str) -> None:
    data, delimiter = GRADEBOOKS[platform]
    table = read_table(data, "x.csv")
    assert table.delimiter == delimiter
    graded = [replace(one, student=replace(one.student, login=one.student.sid)) for one in grades(90, 80)]
    made, report = grades_into(table, ASSIGNMENT, {"04_reduction": ["Week 4"]}, graded)
    assert report.filled == 2
    again = read_table(made, "x.csv")
    places = [place for place, title in enumerate(again.titles(0)) if title.startswith("Week 4")]
    values = [[again.value(row, place) for place in places] for row in range(1, len(again.rows))]
    assert [one for one in values if one[0] in ("90", "80")] == [["90"], ["80"]]
