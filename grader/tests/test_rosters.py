"""Tables of students as written by platforms and spreadsheets, including rows that are not students."""

from pathlib import Path

import pytest

from grader.base.errors import GraderError
from grader.intake.download import open_class
from grader.model.discovery import Wanted
from grader.model.roster import Student, read_table, table_from
from platforms import others
from platforms.canvas import make_canvas
from platforms.classes import random_class
from platforms.packing import pack
from platforms.people import Upload, person

WANTED = Wanted("90_fake", "ladder.cu")


def students(text: str, encoding: str = "utf-8") -> list[tuple[str, ...]]:
    table = table_from(text.encode(encoding), "r.csv")
    return [(one.name, one.sid, one.email, one.login, one.section, one.team, one.platform_id) for one in table.students]


ADA = ("Ada Lovelace", "007", "a@x", "ada", "", "", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Canvas with split names: canvas-lms gradebook_exporter.rb.
        ("LastName,FirstName,ID,SIS Login ID,SIS User ID,Week 4 (1)\n    Points Possible,,,,,100\n"
         "Lovelace,Ada,4201,ada,007,\n",
         [("Ada Lovelace", "007", "", "ada", "", "", "4201")]),
        # Ids as Excel keeps them, and a semicolon in a title: PrairieLearn#11896, canvas-lms#1394.
        ('name,sid,email,login,"Week 4; part 2; more"\nAda Lovelace,"=""007""",a@x,ada,1\n', [ADA]),
        ("name;sid;email;login;points, max\nAda Lovelace;007;a@x;ada;1\n", [ADA]),
        ("name\tsid\temail\tlogin\nAda Lovelace\t007\ta@x\tada\n", [ADA]),
        # Brightspace keeps numbers as they are with a #.
        ("OrgDefinedId,Username,Last Name,First Name,Email\n#007,#ada,Lovelace,Ada,a@x\n", [ADA]),
        ("name,sid,email,login\n#Ada,#1,,\nAlan,2,,\n",
         [("#Ada", "#1", "", "", "", "", ""), ("Alan", "2", "", "", "", "", "")]),
        # A line for each section or group: the same student once.
        ("name,sid,section,team\nAda Lovelace,007,A,Red\nAda Lovelace,007,B,Red\n",
         [("Ada Lovelace", "007", "", "", "A, B", "Red", "")]),
        # Two of one name are two.
        ("name,sid\nKim,1\nKim,2\n", [("Kim", "1", "", "", "", "", ""), ("Kim", "2", "", "", "", "", "")]),
        # Moodle in Italian and Dutch, with names hidden.
        ("Identificatore,Cognome,Nome,Indirizzo email,Stato,Valutazione,Ultima modifica (valutazione)\n"
         "Partecipante 4201,Lovelace,Ada,a@x,,,-\n", [("Ada Lovelace", "", "a@x", "", "", "", "4201")]),
        ("Identifier,Status,Grade,Last modified (grade)\nParticipant 4201,,,-\n",
         [("Participant 4201", "", "", "", "", "", "4201")]),
        # Classroom 50, the whole and the smallest: classroom50#611.
        ("username,first_name,last_name,email,section,github_id\nada,Ada,Lovelace,a@x,1,9\n",
         [("Ada Lovelace", "", "a@x", "ada", "1", "", "")]),
        ("username\nada\n", [("ada", "", "", "ada", "", "", "")]),
        # Teams with their members: classroom#1350.
        ("Group Name,Member Identifier,Member Github Username,Member Name\nRed,007,ada,Ada Lovelace\n",
         [("Ada Lovelace", "007", "", "ada", "Red", "Red", "")]),
        # A group set of Canvas.
        ("name,canvas_user_id,user_id,login_id,sections,group_name\nAda Lovelace,4201,007,ada,S1,Red\n",
         [("Ada Lovelace", "007", "", "ada", "S1", "Red", "4201")]),
        ("Semester,Email,Last Name,First Name,Lecture,Section\nf26,a@x,Lovelace,Ada,1,A\n",
         [("Ada Lovelace", "", "a@x", "", "A", "", "")]),
        # As spreadsheets write them.
        *((text, [('Lovelace, "Ada"', "1", "", "", "", "", "")]) for text in (
            'name,sid\n"Lovelace, ""Ada""",1\n', 'name,sid,,\n"Lovelace, ""Ada""",1,,,\n',
            'name;sid\r\n"Lovelace, ""Ada""";1\r\n\r\n', 'name,sid\r"Lovelace, ""Ada""",1\r')),
        ("Name;ID\nRózsa Péter;1\n", [("Rózsa Péter", "1", "", "", "", "", "")]),
        # A registrar's lists: titles of no platform. A column of marks is nobody's login.
        ("NetID,Preferred First Name,Legal Last Name,Student Number,Class\nada,Ada,Lovelace,007,SR\n",
         [("Ada Lovelace", "007", "", "ada", "", "", "")]),
        ("Student,ID,SIS User ID,GitHub account (77)\nAda Lovelace,4201,007,9\n",
         [("Ada Lovelace", "007", "", "", "", "", "4201")]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_tables_of_students(text: str, expected: list[tuple[str, ...]], encoding: str) -> None:
    assert students(text, encoding) == expected


def test_a_table_without_anybody_says_what_it_needs() -> None:
    with pytest.raises(GraderError, match="the first line must name the columns"):
        students("points,week\n1,2\n")


def test_staff_and_the_test_student_hand_in_nothing(tmp_path: Path) -> None:
    people = [person("Ada Lovelace", 4200), person("Student, Test", 99999), person("Alan Turing", 4207)]
    made = make_canvas(tmp_path / "c.zip", [Upload((one,), {"ladder.cu": b"x"}) for one in people])
    from platforms.canvas import canvas_gradebook  # noqa: PLC0415 - beside what it is about

    (tmp_path / "g.csv").write_text(canvas_gradebook([people[0], people[2]]))
    with open_class(made, tmp_path / "g.csv") as download:
        assert [one.student.name for one in download.submissions(WANTED)] == ["Lovelace, Ada", "Turing, Alan"]
    (tmp_path / "own.csv").write_text("name\nAda Lovelace\nAlan Turing\n")
    with open_class(made, tmp_path / "own.csv") as download:
        assert download.unmatched == []


def test_leading_zeros_that_a_spreadsheet_lost_are_found(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text('[matching]\nrule = "{id}/"\n')
    (tmp_path / "roster.csv").write_text("name,sid\nAda,7\nAlan,0012\n")
    made = pack(tmp_path / "w.zip", {"0007/ladder.cu": b"1", "12/ladder.cu": b"2"})
    with open_class(made) as download:
        assert {one.student.name: one.source for one in download.submissions(WANTED)} == {"Ada": b"1", "Alan": b"2"}


def test_the_roster_is_no_folder_of_that_name(tmp_path: Path) -> None:
    made = pack(
        tmp_path / "w.zip", {"roster.csv/ladder.cu": b"1", "ada/ladder.cu": b"2", "course.toml/ladder.cu": b"3"}
    )
    with open_class(made) as download:
        assert download.roster == []
        assert {one.folder for one in download.submissions(WANTED)} == {"ada", "course.toml", "roster.csv"}


def test_several_files_of_one_platform_agree() -> None:
    made = random_class(7, 10)
    for table in (others.blackboard_gradebook, others.brightspace_grades, others.logins_roster):
        found = table_from(table(made.people).encode("utf-16"), "x").students
        assert [(one.name, one.sid, one.login) for one in found] == [
            (one.name, one.sid, one.login) for one in made.people
        ]
    assert read_table.__doc__
    assert Student("x").groups == []
