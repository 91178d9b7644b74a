"""With --anonymous, neither results nor the terminal reveal names."""

import csv
import io
import json
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.base.layout import Layout
from grader.base.secret import Secret
from grader.commands.cli import cli, main
from grader.course.aliases import salt_of, with_alias
from grader.course.anonymous import Anonymous, remember_view
from grader.model.handed import Handed
from grader.model.roster import Student
from grader.running.store import Journal
from made_class import ADA, ALAN, handed_in
from platforms.canvas import canvas_gradebook, make_canvas
from platforms.git_clones import classroom_roster, make_git_clones
from platforms.gradescope import gradescope_roster, make_gradescope
from platforms.moodle import make_moodle, moodle_worksheet
from platforms.people import Upload, person
from test_grade import grade, gradebook, log

pytestmark = pytest.mark.in_turn

Submissions = Callable[..., Path]
SOURCES = {
    "zuzanna_lovelace": "// fail beta_two WRONG", "aaron_quetzal": "", "noether_emmy": "// fail alpha_one RACE",
    "broken_yasmin": "#error no", "hopper_xaver": "// time beta_two 5", "vladimir_unknown": "",
}  # fmt: skip
ROSTER = """name,sid,email,login,alias,section
Zuzanna Lovelace,181512,zlove@class.example,zlo77,,Mondays
Aaron Quetzal,190712,quetz@class.example,quz88,Swift Fox,Mondays
Emmy Noether,188203,emmy@class.example,noe66,emmy the great,Fridays
Yasmin Broken,177777,yas@class.example,yas11,,Fridays
Xaver Hopper,190600,xaver@class.example,xho22,,Fridays
Ottokar Absent,166666,otto@class.example,otto1,,Fridays
"""
TELLING = (
    "zuzanna", "lovelace", "181512", "zlove", "zlo77", "aaron", "quetzal", "190712", "quetz", "quz88", "emmy",
    "noether", "188203", "noe66", "yasmin", "177777", "yas11", "xaver", "hopper", "190600", "xho22", "ottokar",
    "absent", "166666", "otto1", "vladimir",
)  # fmt: skip


def told(text: str, words: Iterable[str] = TELLING) -> set[str]:
    """The words of the list in a text. A number must stand alone: four digits occur in some hash."""
    text = text.casefold()
    return {
        word
        for word in words
        if word in text and (not word.isdigit() or re.search(rf"(?<![0-9a-z]){word}(?![0-9a-z])", text))
    }


def files_of(out: Path) -> Iterator[Path]:
    for path in sorted(out.rglob("*")):
        if path.is_file() and not path.name.startswith("journal.sqlite") and path.name != "names.csv":
            yield path


def nothing_is_told(layout: Layout, *outputs: str) -> None:
    out = layout.root / "out"
    found = {path.relative_to(out): told(path.read_text() + str(path.relative_to(out))) for path in files_of(out)}
    assert len(found) > 15
    assert {path: words for path, words in found.items() if words} == {}
    assert [told(output) for output in outputs] == [set()] * len(outputs)


def names(layout: Layout) -> dict[str, dict[str, str]]:
    path = layout.root / "out/staff/names.csv"
    return {row["folder"]: row for row in csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")))}


def report(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["report", *arguments])


@pytest.fixture
def students(submissions: Submissions) -> Path:
    folder = submissions(**SOURCES)
    (folder / "roster.csv").write_text(ROSTER)
    (folder / "zuzanna_lovelace.cu").write_text("// who 1\n/* Zuzanna Lovelace,\n 181512 */\n// fail beta_two WRONG\n")
    (folder / "hopper_xaver/ladder.cu").write_text("// who 2\n// time beta_two 5\n// print Xaver Hopper was here\n")
    (folder / "course.toml").write_text('[excused]\n"Yasmin Broken" = "all"\n')
    (folder / "adjustments.csv").write_text(
        "student,assignment,points,reason,staff\n181512,90_fake,2,Zuzanna explained it,Curie\n"
    )
    return folder


def test_nobody_is_told_anywhere(in_checkout: Layout, students: Path) -> None:
    graded = grade(students, "--anonymous")
    assert graded.exit_code == 4, graded.output
    assert "1 submission matches no student, 1 student has none" in " ".join(graded.output.split())
    nothing_is_told(in_checkout, graded.output)
    assert not (students / "matches.csv").exists()
    dry = grade(students, "--dry-run", "--anonymous", "--json", "--seed", "7")
    done = grade(students, "--json")
    assert len(json.loads(dry.stdout)["assignments"]["90_fake"]["to_do"]) >= len(SOURCES)
    assert len(json.loads(done.stdout)["students"]) == len(SOURCES) + 1
    assert told(dry.output + done.output) == set()
    # The next run and report remember it, and so do the commands that show results.
    again, written = grade(students), report()
    nothing_is_told(in_checkout, again.output, written.output)
    path = in_checkout.root / "out/staff/names.csv"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    joined = names(in_checkout)
    assert set(joined) == {*SOURCES, "166666"}
    assert (joined["aaron_quetzal"]["alias"], joined["aaron_quetzal"]["name"]) == ("Swift Fox", "Aaron Quetzal")
    alias = joined["zuzanna_lovelace"]["alias"]
    for command in (["history", alias], ["history", alias, "--json"], ["seed", alias], ["leaderboard"]):
        shown = CliRunner().invoke(cli, command)
        assert shown.exit_code == 0, shown.output
        assert told(shown.output) == set()
    assert "--only FOLDER --seed" in CliRunner().invoke(cli, ["seed", alias]).output
    assert "+2 points: … explained it" in CliRunner().invoke(cli, ["history", alias]).output
    dry = grade(students, "--only", alias, "--again", "--reason", "noise", "--dry-run")
    assert alias in dry.output
    assert told(dry.output) == set()


def test_the_grades_are_the_same_and_no_order_tells_a_name(in_checkout: Layout, students: Path) -> None:
    grade(students, "--anonymous")
    aliases = {row["name"]: row["alias"] for row in names(in_checkout).values()}
    hidden = {row["name"]: row["90_fake"] for row in gradebook(in_checkout)}
    listed = [row["name"] for row in gradebook(in_checkout)]
    assert listed[:-1] == sorted(listed[:-1])
    documents = [json.loads(path.read_text()) for path in (in_checkout.root / "out/staff/results").glob("*/*.json")]
    assert {one["folder"] for one in documents} == {row["alias"] for row in names(in_checkout).values()}
    assert all(one["handed"]["origin"] == "" and one["student"]["section"] == "" for one in documents)
    assert report("--names").exit_code == 0
    shown = {row["name"]: row["90_fake"] for row in gradebook(in_checkout)}
    assert {aliases[name]: points for name, points in shown.items()} == hidden
    assert told((in_checkout.root / "out/index.html").read_text()) > {"zuzanna", "lovelace"}
    folder = in_checkout.root / "out/staff/cards/90_fake"
    assert any(told(path.name) for path in folder.glob("*.html"))
    assert report("--anonymous").exit_code == 0
    nothing_is_told(in_checkout)
    assert {row["name"]: row["alias"] for row in names(in_checkout).values()} == aliases


def test_the_order_of_grading_is_that_of_the_aliases(in_checkout: Layout, students: Path) -> None:
    (students / "zuzanna_lovelace.cu").unlink()
    assert grade(students, "--anonymous", "--jobs", "1").exit_code == 4
    folders = [row["alias"] for row in names(in_checkout).values()]
    assert folders == sorted(folders)
    ran = [line.removeprefix("run ") for line in log(in_checkout) if line.startswith("run ")]
    assert [names(in_checkout).get(name, {}).get("alias", "") for name in ran if name in SOURCES] == sorted(
        names(in_checkout)[name]["alias"] for name in ran if name in SOURCES
    )
    assert len([name for name in ran if name in SOURCES]) >= 4


def test_a_regrade_by_alias(in_checkout: Layout, students: Path) -> None:
    grade(students, "--anonymous")
    alias = names(in_checkout)["aaron_quetzal"]["alias"]
    again = grade(students, "--only", alias, "--again", "--reason", "Aaron Quetzal asked")
    nothing_is_told(in_checkout, again.output)
    document = json.loads(CliRunner().invoke(cli, ["history", alias, "--json"]).output)
    (submission,) = document["assignments"][0]["submissions"]
    assert [one["why"] for one in submission["results"]] == [["first graded"], ["graded again: … asked"]]


def test_a_name_that_does_not_exist(
    students: Path, in_checkout: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_checkout.root.is_dir()
    monkeypatch.setattr(sys, "argv", ["grader", "grade", str(students), "--no-sandbox", "--anonymous", "--only", "zz"])
    assert main() == 1
    said = capsys.readouterr()
    assert "There are: Anonymous" in said.err
    assert told(said.out + said.err) == set()


def test_exports_have_names_and_say_so(in_checkout: Layout, students: Path) -> None:
    grade(students, "--anonymous")
    exported = CliRunner().invoke(cli, ["export", "json"])
    assert "files for platforms have the real names" in exported.output
    document = json.loads((in_checkout.root / "out/exports/grades.json").read_text())
    assert "Zuzanna Lovelace" in {one["name"] for one in document["students"]}


PEOPLE = tuple(
    person(name, 73100 + index, email=f"{name.split()[0].casefold()}.mail@x.example")
    for index, name in enumerate(
        (
            "Xanthippe Quillfeather",
            "Zebedee Örnsköld",
            "Thaddeus O'Wolfram",
            "Ignatius van der Klopp",
            "Basil Nithercott",
        )
    )
)


PLATFORMS = {
    "canvas": (make_canvas, canvas_gradebook),
    "moodle": (make_moodle, moodle_worksheet),
    "gradescope": (make_gradescope, gradescope_roster),
    "git": (make_git_clones, classroom_roster),
}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_platform(in_checkout: Layout, tmp_path: Path, platform: str) -> None:
    make, export = PLATFORMS[platform]
    names = [one.name.split()[0].casefold() for one in PEOPLE]
    files = [
        {f"{names[0]}s work.zip": b"PK\3\4 cut off"},
        {f"{names[1]} a.cu": b"// who b\n", f"{names[1]} b.cu": b"// who c\n"},
        {f"{names[2]}/ladder.cu" if platform == "git" else "ladder.cu": b"// who d\n#error no\n"},
        {f"{names[3]}.txt": b"sorry"},
    ]
    uploads = [Upload((one,), own, late=one is PEOPLE[2]) for one, own in zip(PEOPLE, files, strict=False)]
    uploads.append(
        Upload((person("Quirinus Stranger", 73199, email="quirinus@x.example"),), {"ladder.cu": b"// who q\n"})
    )
    folder = tmp_path / "class"
    folder.mkdir()
    roster = folder / "export.csv"
    roster.write_text(export(PEOPLE), encoding="utf-8", newline="")
    graded = grade(make(folder / "week4.zip", uploads), "--roster", str(roster), "--anonymous")
    assert graded.exit_code in (0, 4), graded.output
    parts = {
        word for one in PEOPLE for word in (*one.name.split(), *one.sortable.split(), one.login, one.email, one.sid)
    }
    parts |= {"quirinus", "Stranger", "xanthippe", "Ornskold", "owolfram", "7310"}
    parts -= {"van", "der", "van,", "der,"}
    telling = {part.strip(",").casefold() for part in parts}
    out = in_checkout.root / "out"
    texts = {str(path): str(path.relative_to(out)) + path.read_text() for path in files_of(out)}
    assert len(list(out.glob("cards/*/*.html"))) >= len(uploads)
    texts["the terminal"] = graded.output
    found = {path: told(text, telling) for path, text in texts.items()}
    assert {path: parts for path, parts in found.items() if parts} == {}


def owner(folder: str, name: str, alias: str = "", *, sid: str = "", group: tuple[Student, ...] = ()) -> tuple:  # type: ignore[type-arg]
    return folder, Student(name, sid, alias=alias), Handed(group=group)


def test_which_aliases_are_taken() -> None:
    view = Anonymous(
        [
            owner("a", "Ada Lovelace", "Countess"),
            owner("b", "Alan Turing", "turing7"),
            owner("c", "Grace Hopper", "twin"),
            owner("d", "Emmy Noether", "Twin"),
            owner("e1", "Kurt Gödel", sid="5"),
            owner("e2", "Kurt Gödel", sid="5"),
            owner("t", "Team 7", group=(Student("Ivan Petrov", "8"), Student("Olga Petrova", "9", alias="Blue"))),
        ],
        "salt",
    )
    called = {folder: view.folder(folder) for folder in ("a", "b", "c", "d", "e1", "e2", "t")}
    assert called.pop("a") == "Countess"
    assert all(name.startswith("Anonymous ") for name in called.values())
    assert len(set(called.values())) == len(called)
    assert [view.real(name) for name in called.values()] == list(called)
    rows = {(name, folder): alias for alias, name, _, _, folder in view.names()}
    assert rows["Olga Petrova", ""] == "Blue"
    assert len({alias for alias, name, *_ in view.names() if name == "Kurt Gödel"}) == 3
    other = Anonymous([owner("b", "Alan Turing")], "another salt")
    assert other.folder("b") != called["b"]


HIDDEN = {
    "a line that goes on": "// by \\\nZuzanna Lovelace\nint a;\n",
    "with a blank behind": "// by \\ \t\nZuzanna Lovelace\nint a;\n",
    "with a carriage return": "// by \\\r\nZuzanna Lovelace\r\nint a;\r\n",
    "twice": "// \\\n\\\n Zuzanna Lovelace\nint a;\n",
    "behind a text": 'const char* a = "//"; // Zuzanna Lovelace\nint b;\n',
    "a text": 'const char* a = "Zuzanna Lovelace";\nint b;\n',
    "never closed": "int a; /* Zuzanna\nLovelace",
    "Python": "import numba\n# Zuzanna Lovelace\na = 1\n",
    "Python's docstring": 'def f():\n    """By\n    Zuzanna Lovelace"""\n',
    "Python that is wrong": "import numba\ndef f(:\n    pass  # Zuzanna Lovelace\n",
    "Python with a directive": "import numba\n# include Zuzanna Lovelace\na = 1\n",
}


@pytest.mark.parametrize("case", HIDDEN)
def test_no_comment_or_text_tells_the_name(case: str) -> None:
    who = Student("Zuzanna Lovelace", "181512")
    view = Anonymous([("folder", who, Handed())], "salt")
    shown = view.record(replace(handed_in(who, 90, folder="folder"), source=HIDDEN[case])).source
    assert told(shown) == set()
    assert shown.count("\n") == HIDDEN[case].count("\n")


def test_code_stays_code() -> None:
    who = Student("Int Max", "181512")
    code = "#include <max.h>\nint max(int a) { return a; }  // max of int\n"
    shown = Anonymous([("folder", who, Handed())], "s").record(replace(handed_in(who, 9, folder="folder"), source=code))
    assert shown.source == "#include <max.h>\nint max(int a) { return a; }  // … of …\n"


def test_an_alias_needs_the_secret(tmp_path: Path) -> None:
    one, other = Secret(b"a secret of 16 bytes"), Secret(b"another one, of more")
    salts = []
    for number, secret in enumerate((one, one, other, None)):
        journal = Journal(tmp_path / str(number) / "journal.sqlite")
        remember_view(journal, None, secret)
        salts.append(salt_of(journal))
        journal.close()
    assert salts[0] == salts[1]
    assert len(set(salts)) == 3
    aliases = [with_alias(salt, handed_in(ADA, 90)).student.public_name for salt in salts]
    assert aliases[0] == aliases[1]
    assert len(set(aliases)) == 3
    assert with_alias(salts[0], handed_in(replace(ADA, alias="Fox"), 90)).student.public_name == "Fox"
    team = with_alias(salts[0], handed_in(ADA, 90, group=(ADA, ALAN))).handed.group
    assert team[0].public_name == aliases[0]
    assert team[1].public_name not in aliases
