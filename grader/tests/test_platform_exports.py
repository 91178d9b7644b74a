"""How Canvas and Moodle import our exports: parsed here by rules written from theirs, not by the grader's code."""

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.base.csv_files import parse_csv
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.commands.cli import cli
from grader.course.grades import compute_grades
from grader.exports.canvas import canvas_like, canvas_new
from grader.exports.documents import grades_json
from grader.exports.moodle import moodle_like
from grader.exports.platform import Report
from grader.model.roster import Student
from made_class import ADA, ALAN, GRACE, Classes, absent, course, handed_in, made_assignment, one_class
from platforms.canvas import canvas_gradebook
from platforms.moodle import moodle_worksheet
from platforms.people import Person
from test_exports import HOSTILE

ASSIGNMENT = {"04_reduction": made_assignment()}


@dataclass
class Imported:
    """The result of an import by Canvas."""

    points: dict[str, str] = field(default_factory=dict)
    grades: dict[str, dict[str, str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


def canvas_import(text: str) -> Imported:
    """Canvas's importer: the separator is the one that gives more cells, the same number in each of the first lines;
    numbers may have a decimal comma; the columns before assignments are fixed; students are found by ID."""
    text = text.removeprefix("\ufeff")
    first = text.split("\n")[:3]
    semicolons, commas = _width(first, ";"), _width(first, ",")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=";" if semicolons > commas else ","))
    header = rows[0]
    two_names = header[0] == "LastName"
    assert len(header) > 3
    assert two_names or ("Student" in header[0] and "ID" in header[1])
    start = 4 if two_names else 3
    if "SIS User ID" in header:
        start += 2 + ("Integration ID" in header) + ("Root Account" in header)
    assert "Section" in header[start - 1]
    titles = {place: title for place, title in enumerate(header) if place >= start and "Final Score" not in title}
    found = Imported()
    for row in rows[1:]:
        if all(re.fullmatch(r"\s*(Muted|Manual Posting.*)?\s*", cell, re.I) for cell in row):
            continue
        if "Points Possible" in row[0]:
            found.points = {title: row[place] for place, title in titles.items()}
            continue
        number = row[2 if two_names else 1]
        assert number.isdecimal(), row
        assert number not in found.grades
        found.names[number] = row[0]
        found.grades[number] = {title: _normal(row[place].strip()) for place, title in titles.items()}
    return found


def _width(lines: list[str], mark: str) -> int:
    try:
        widths = {len(next(csv.reader([line.rstrip("\r")], delimiter=mark, strict=True), [])) for line in lines}
    except csv.Error:
        return 0
    return max(widths) if len(widths) == 1 else 0


def _normal(cell: str) -> str:
    if not re.fullmatch(r"-?[0-9.,]+%?", cell):
        return cell
    *whole, last = re.split(r"[,.]", cell)
    return f"{''.join(whole)}.{last}" if whole else last


def person(student: Student) -> Person:
    first, last = student.name.split(" ", 1) if " " in student.name else (student.name, "")
    return Person(first, last, student.sid, student.email, int(student.platform_id))


def like(classes: Classes, text: str, toml: str = "", **more: bool) -> tuple[Imported, Report, list[list[str]]]:
    grades = compute_grades(classes, course(toml))
    table = parse_csv(text, "canvas.csv")
    made, report = canvas_like(table, {n: a for n, (a, _) in classes.items()}, COLUMNS, grades, **more)
    again = parse_csv(made, "again.csv")
    return canvas_import(made), report, [again.header, *(row for _, row in again.rows)]


COLUMNS = {name: [title, name] for name, title in (("04_reduction", "Reduction"), ("05_scan", "Scan"))}


def test_canvas_gets_its_own_file_back_with_one_column_filled() -> None:
    text = canvas_gradebook([person(ADA), person(GRACE)]).replace("CS 101 Section 1,,", "CS 101 Section 1,12.5,", 1)
    classes = one_class(handed_in(ADA, 95.25), handed_in(GRACE, 110))
    found, report, rows = like(classes, text)
    assert found.grades["11"]["Reduction (2231)"] == "95.25"
    assert found.grades["13"]["Reduction (2231)"] == "110"
    assert found.grades["99999"]["Reduction (2231)"] == ""  # the test student
    assert (report.filled, report.without, report.left_over) == (2, [], [])
    before = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    changed = [(y, x) for y, row in enumerate(before) for x, cell in enumerate(row) if rows[y][x] != cell]
    assert changed == [(2, 5), (3, 5)]


def test_canvas_says_who_is_left_out_and_touches_nothing_else() -> None:
    people = [person(ADA), person(GRACE), person(ALAN), Person("Nobody", "Known", "7", "7@x", 70)]
    text = canvas_gradebook(people).replace("CS 101 Section 1,,\r\n", "CS 101 Section 1,55,\r\n")
    classes = one_class(
        handed_in(ADA, None), absent(GRACE), absent(ALAN), handed_in(Student("New", "9", "new@x"), 40),
        handed_in(Student("Ada Lovelace"), 99, is_matched=False, folder="x"),
    )  # fmt: skip
    found, report, _ = like(classes, text, "[excused]\n'1912' = 'all'\n")
    grades = {number: own["Reduction (2231)"] for number, own in found.grades.items()}
    assert grades == {"11": "55", "13": "0", "12": "EX", "70": "55", "99999": "55"}
    assert report.without == [
        "Known, Nobody: no graded student has the row's ids",
        "Ada Lovelace: 04_reduction not graded",
    ]
    assert report.left_over == ["New", "Ada Lovelace: not on the roster, never exported"]
    assert not report.is_complete


CANVAS_FORMS = {
    "semicolons": ("Student;ID;SIS User ID;SIS Login ID;Section;Reduction (77)\r\n"
                   "    Points Possible;;;;;100,0\r\n", ";"),
    "short": ("Student,ID,Section,Reduction (77)\nPoints Possible,,,100\n", ","),
    "two names": ("LastName,FirstName,ID,SIS User ID,SIS Login ID,Section,Reduction (77)\n"
                  " Points Possible,,,,,,100\n", ","),
    "posting": ("Student,ID,SIS User ID,SIS Login ID,Integration ID,Root Account,Section,Reduction (77)\n"
                ",,,,,,,Manual Posting\n    Points Possible,,,,,,,100\n", ","),
}  # fmt: skip


@pytest.mark.parametrize("form", CANVAS_FORMS)
def test_canvas_forms(form: str) -> None:
    head, mark = CANVAS_FORMS[form]
    titles = head.splitlines()[0].split(mark)
    cells = {
        "Student": "x",
        "LastName": "x",
        "FirstName": "y",
        "ID": "11",
        "SIS User ID": "1815",
        "SIS Login ID": "ada@class.example",
    }
    text = head + mark.join(cells.get(title, "") for title in titles) + ("\r\n" if "\r" in head else "\n")
    found, report, _ = like(one_class(handed_in(ADA, 92.5)), text)
    assert found.grades == {"11": {"Reduction (77)": "92.5"}}
    assert report.is_complete


@pytest.mark.parametrize("name", HOSTILE)
def test_names_come_back_to_canvas_as_they_were(name: str) -> None:
    if "Points Possible" in name:
        return  # Canvas itself takes such a student for the row of points
    text = "Student,ID,Section,Reduction (1)\n"
    cells = io.StringIO(newline="")
    csv.writer(cells).writerow([name, "11", name, ""])
    found, report, rows = like(one_class(handed_in(replace(ADA, name=name), 50)), text + cells.getvalue())
    assert rows[1] == [name, "11", name, "50"]
    assert found.names == {"11": name}
    assert report.is_complete


def test_nobody_is_matched_by_guess() -> None:
    head = "Student,ID,SIS User ID,SIS Login ID,Section,Reduction (1)\n"
    classes = one_class(handed_in(ADA, 50), handed_in(GRACE, 60))

    def grades_of(line: str, **more: bool) -> tuple[list[str], Report]:
        found, report, _ = like(classes, head + line, **more)
        return [own["Reduction (1)"] for own in found.grades.values()], report

    assert grades_of('"Lovelace, Ada",99,,,s,\n')[0] == [""]
    assert grades_of('"Lovelace, Ada",99,,,s,\n', by_name=True)[0] == ["50"]
    # Two of one name, in the file: nobody's.
    assert grades_of('"Lovelace, Ada",99,,,s,\n"Ada Lovelace",98,,,s,\n', by_name=True)[0] == ["", ""]
    filled, report = grades_of("x,11,1906,,s,\n")
    assert filled == [""]
    assert report.without == ["x: the row has keys of several students (Ada Lovelace, Grace Hopper)"]
    filled, report = grades_of("x,11,,,s,\ny,98,1815,,t,\n")
    assert filled == ["", ""]
    assert "2 rows of the file are this student's" in report.without[0]
    assert grades_of("x,98,1815,,s,\n")[0] == ["50"]
    assert grades_of("x,98,,ADA@class.example,s,\n")[0] == ["50"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "is no gradebook from Canvas"),
        ("Student,ID,Section,Other (1)\nx,11,s,\n", 'has no column for 04_reduction. Its columns are:\n  Student'),
        ("Student,ID,Section,Reduction (1),Reduction (2)\nx,11,s,,\n", '"Reduction" is several columns'),
        ("Student,ID,Section,Reduction (1)\nPoints Possible,,,10\nx,11,s,\n", "the platform gives 10 points"),
        ("Student,ID,Section,Reduction (1)\nPoints Possible,,,(read only)\nx,11,s,\n", "is read only"),
        ("", "is empty"),
    ],
)  # fmt: skip
def test_canvas_files_that_are_refused(text: str, said: str) -> None:
    with pytest.raises(GraderError) as caught:
        like(one_class(handed_in(ADA, 50)), text)
    assert said in str(caught.value)


def test_points_are_converted_where_one_asks_for_it() -> None:
    text = "Student,ID,Section,Reduction (1)\nPoints Possible,,,15\nx,11,s,\n"
    found, _, _ = like(one_class(handed_in(ADA, 95)), text, scale=True)
    assert found.grades["11"] == {"Reduction (1)": "14.25"}


def test_several_assignments_of_one_gradebook() -> None:
    text = "Student,ID,Section,Scan,Reduction (1)\nx,11,s,,\n"
    classes = one_class(handed_in(ADA, 50), handed_in(ADA, 70, name="05_scan"))
    found, report, _ = like(classes, text)
    assert found.grades["11"] == {"Scan": "70", "Reduction (1)": "50"}
    found, report, _ = like(classes, text.replace("Scan", "Other"))
    assert found.grades["11"] == {"Other": "", "Reduction (1)": "50"}
    assert report.notes == ["05_scan has no column in the file"]


@pytest.mark.parametrize("name", HOSTILE)
def test_canvas_without_a_model(name: str) -> None:
    classes = one_class(
        handed_in(replace(ADA, name=name), 95), handed_in(Student("Without number", "5"), 40), absent(ALAN)
    )
    grades = compute_grades(classes, course("[excused]\n'1912' = 'all'\n"))
    text, report = canvas_new({"04_reduction": classes["04_reduction"][0]}, {"04_reduction": ["Reduction"]}, grades)
    found = canvas_import(text)
    assert found.points == {"Reduction": "100"}
    assert found.grades == {"11": {"Reduction": "95"}, "12": {"Reduction": "EX"}}
    assert report.left_over == ["Without number: the roster has no Canvas ID for this student"]
    for row in csv.reader(io.StringIO(text, newline="")):
        assert not row[0].lstrip().startswith(("=", "+", "-", "@"))


TITLES = {  # of the columns that Moodle reads, and of the prefix that it cuts off, in its language packs
    "en": ("Identifier", "Grade", "Last modified (grade)", "Participant "),
    "de": ("ID", "Bewertung", "Zuletzt geändert (Bewertung)", "Teilnehmer/in"),
    "fr": ("Identifiant", "Note", "Dernière modification (note)", "Participant"),
    "es": ("Identificador", "Calificación", "Última modificación (calificación)", "Participante "),
}
POINTS = {"en": ".", "de": ",", "fr": ",", "es": ","}


def moodle_import(text: str, language: str, delimiter: str = ",", maximum: float = 100) -> dict[str, float]:
    """Moodle's importer: columns by their title in the teacher's language, the participant's number after the word for
    it, the language's decimal sign; what is empty, below 0 or above the maximum is skipped."""
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter))
    identifier, grade, modified, prefix = TITLES[language]
    assert modified in rows[0]
    places = rows[0].index(identifier), rows[0].index(grade)
    found = {}
    for row in rows[1:]:
        number, cell = row[places[0]][len(prefix) :], row[places[1]].strip().replace(" ", "")
        value = float(cell.replace(POINTS[language], ".")) if cell else None
        if value is not None and 0 <= value <= maximum:
            found[number] = value
    return found


def worksheet(
    classes: Classes, text: str, toml: str = "", adjustments: str = "", titles: tuple[str, ...] = (), **more: bool
) -> tuple[str, Report]:
    grades = compute_grades(classes, course(toml, adjustments))
    return moodle_like(parse_csv(text, "worksheet.csv"), classes["04_reduction"][0], titles, grades, **more)


@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize("language", TITLES)
def test_moodle_in_four_languages(language: str, delimiter: str) -> None:
    text = moodle_worksheet([person(ADA), person(GRACE)], language=language)
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    if language != "en":
        rows = [[cell.replace("100.00", "100,00") for cell in row] for row in rows]
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter).writerows(rows)
    made, report = worksheet(one_class(handed_in(ADA, 92.25), handed_in(GRACE, 40)), "\ufeff" + stream.getvalue())
    assert moodle_import(made, language, delimiter) == {"11": 92.25, "13": 40}
    assert report.is_complete
    assert bool(report.notes) == (delimiter == ";")
    again = list(csv.reader(io.StringIO(made.removeprefix("\ufeff"), newline=""), delimiter=delimiter))
    place = again[0].index(TITLES[language][1])
    assert [[cell for at, cell in enumerate(row) if at != place] for row in again] == [
        [cell for at, cell in enumerate(row) if at != place] for row in rows
    ]
    assert made.startswith("\ufeff")
    assert "\r\n" in made


def test_moodle_skips_nothing_silently() -> None:
    text = moodle_worksheet([person(ADA), person(GRACE), person(ALAN), Person("No", "Body", "7", "7@x", 70)])
    classes = one_class(handed_in(ADA, 112), handed_in(GRACE, 10), absent(ALAN))
    made, report = worksheet(classes, text, "[excused]\n'1912' = 'all'\n", "1906,04_reduction,-30,copied,me\n")
    assert moodle_import(made, "en") == {"11": 100, "13": 0}
    assert len(report.notes) == 3
    assert any("112 is written as 100" in note for note in report.notes)
    assert any("Alan is excused" in note for note in report.notes)
    assert report.without == ["No Body: no graded student has the row's ids"]


def test_a_participants_number_belongs_to_one_assignment() -> None:
    """The roster's numbers are those of the worksheet it was made from, and belong to another student here."""
    head = "Identifier,Full name,Grade,Maximum grade,Last modified (grade)\n"
    handed = handed_in(ADA, 80, platform_id="501")
    made, report = worksheet(one_class(handed, absent(GRACE)), head + "Participant 501,Ada Lovelace,,100,-\n")
    assert moodle_import(made, "en") == {"501": 80}
    made, report = worksheet(one_class(handed, absent(GRACE)), head + "Participant 13,Somebody Else,,100,-\n")
    assert moodle_import(made, "en") == {}
    assert len(report.without) == 1
    made, report = worksheet(one_class(handed, absent(GRACE)), head + "Participant 13,Grace Hopper,,100,-\n")
    assert moodle_import(made, "en") == {"13": 0}


def test_moodle_with_hidden_names_and_teams() -> None:
    head = "Identifier,Status,Grade,Maximum grade,Last modified (grade)\n"
    made, _ = worksheet(one_class(handed_in(ADA, 80, platform_id="501")), head + "Participant 501,s,,100,-\n")
    assert moodle_import(made, "en") == {"501": 80}
    team = handed_in(Student("Team 7"), 90, platform_id="501", group=(GRACE, ALAN))
    made, report = worksheet(one_class(team), moodle_worksheet([person(GRACE), person(ALAN)]))
    assert moodle_import(made, "en") == {"13": 90, "12": 90}
    # The team's number is nobody's row.
    made, report = worksheet(one_class(team), head + "Participant 501,s,,100,-\n")
    assert moodle_import(made, "en") == {}
    assert sorted(report.left_over) == ["Grace Hopper", "Turing, Alan"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Name,Grade\nAda,\n", "is no grading worksheet"),
        ("Identifier,Full name,Punkte\nParticipant 1,x,\n", "has no column for 04_reduction"),
        ("Identifier,Full name,Grade,Maximum grade\nParticipant 1,x,,10\n", "the platform gives 10 points"),
    ],
)
def test_worksheets_that_are_refused(text: str, said: str) -> None:
    with pytest.raises(GraderError) as caught:
        worksheet(one_class(handed_in(ADA, 50)), text)
    assert said in str(caught.value)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_come_back_to_moodle_as_they_were(name: str) -> None:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(["Identifier", "Full name", "Email address", "Grade", "Last modified (grade)", "Feedback comments"])
    writer.writerow(["Participant 11", name, "ada@class.example", "", "-", f"<p>{name}</p>\n<p>=1+1</p>"])
    made, report = worksheet(one_class(handed_in(replace(ADA, name=name), 50)), stream.getvalue())
    row = list(csv.reader(io.StringIO(made, newline="")))[1]
    assert (row[1], row[5]) == (name, f"<p>{name}</p>\n<p>=1+1</p>")
    assert moodle_import(made, "en") == {"11": 50}
    assert "doesn't say the assignment's maximum" in report.notes[0]


@pytest.mark.parametrize("name", HOSTILE)
def test_json_has_every_attempt_and_step(name: str) -> None:
    student = replace(ADA, name=name)
    classes = one_class(handed_in(student, 80, "01T10:00"), handed_in(student, 90, "02T10:00", number=2), absent(ALAN))
    grades = compute_grades(classes, course("", "1815,04_reduction,-5,why,me\n"))
    text = grades_json({"04_reduction": classes["04_reduction"][0]}, grades)
    assert text.isprintable() or not re.search(r"[\u202a-\u202e\x00-\x09\x0b-\x1f]", text)
    document = json.loads(text)
    own = next(one for one in document["students"] if one["sid"] == "1815")
    assert (own["name"], own["total"], own["possible"]) == (name, 85, 100)
    grade = own["assignments"]["04_reduction"]
    assert [one["earned"] for one in grade["attempts"]] == [80, 90]
    assert grade["steps"] == ["Attempt 2 of 2 counts, the last", "−5 points: why (me)"]
    assert grade["adjustments"] == [{"assignment": "04_reduction", "points": -5, "reason": "why", "staff": "me"}]


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def test_from_a_gradebook_to_a_gradebook(in_checkout: Layout, submissions: Callable[..., Path], tmp_path: Path) -> None:
    people = [Person("Ada", "Lovelace", "1815", "ada@x", 11), Person("Grace", "Hopper", "1906", "grace@x", 13)]
    exported = tmp_path / "export.csv"
    exported.write_text(canvas_gradebook(people, "A ladder & more (5)").replace("100.0", "20.0"))
    folder = submissions(ada="", grace="// fail alpha_one RACE")
    assert run("grade", str(folder), "--no-sandbox", "--roster", str(exported)).exit_code == 0
    result = run("export", "canvas", "--like", str(exported))
    assert result.exit_code == 0, result.output
    grades = canvas_import(Path("out/exports/canvas.csv").read_text()).grades
    assert {number: own["A ladder & more (5)"] for number, own in grades.items()} == {
        "11": "23",
        "13": "15",
        "99999": "",
    }

    result = run("export", "canvas", "--to", "own.csv")
    assert result.exit_code == 0, result.output
    assert canvas_import(Path("own.csv").read_text()).grades == {
        n: {"A ladder & more": p} for n, p in (("11", "23"), ("13", "15"))
    }

    sheet = tmp_path / "worksheet.csv"
    sheet.write_text(
        moodle_worksheet([*people, Person("No", "Body", "7", "7@x", 70)], language="de").replace(
            "100.00", "20,00".join('""')
        )
    )
    result = run("export", "moodle", "--like", str(sheet))
    assert result.exit_code == 4, result.output
    assert "No Body: no graded student has the row's ids" in result.output
    assert moodle_import(Path("out/exports/moodle-90_fake.csv").read_text(), "de", maximum=20) == {"11": 20, "13": 15}
    result = run("export", "moodle", "--like", str(sheet), "--column", "90_fake=Feedback als Kommentar")
    assert result.exit_code == 4, result.output

    assert run("export", "json").exit_code == 0
    assert len(json.loads(Path("out/exports/grades.json").read_text())["students"]) == 2
    result = run("export", "canvas", "--like", str(exported), "--column", "90_fake=Nowhere")
    assert "has no column for 90_fake" in str(result.exception)
    result = run("export", "canvas", "--assignment", "91_other")
    assert '"91_other" was not graded in out' in str(result.exception)
