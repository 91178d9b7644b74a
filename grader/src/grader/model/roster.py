"""Who the students are: ``roster.csv``, or what a learning platform exports of a course.

A table is read by the titles of its columns, in the languages below: the grader's own roster, Canvas's gradebook,
Moodle's grading worksheet and list of participants, the rosters of Gradescope and GitHub Classroom.
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.base.errors import GraderError
from grader.base.files import FileError, read_regular
from grader.base.names import shown

ROSTER = "roster.csv"
CLASSROOM_ROSTER = "classroom_roster.csv"
_LIMIT = 16 << 20
_COLUMNS = {
    "name": ("name", "student", "full name", "student name", "vollständiger name", "nom complet", "nombre completo"),
    "first": ("first name", "given name", "vorname", "prénom", "nombre", "nombre(s)", "nome", "voornaam"),
    "last": ("last name", "surname", "family name", "nachname", "nom de famille", "nom", "apellido(s)", "apellidos",
             "cognome", "achternaam"),
    "sid": ("sid", "student id", "sis user id", "id number", "matriculation number", "id-nummer", "matrikelnummer",
            "numéro d'identification", "numéro d’identification", "número de id", "id"),
    "email": ("email", "e-mail", "mail", "email address", "e-mail address", "e-mail-adresse", "adresse de courriel",
              "courriel", "dirección de correo", "dirección email", "correo electrónico"),
    "alias": ("alias", "nickname"),
    "folder": ("folder", "submission"),
    "login": ("login", "username", "user name", "sis login id", "github_username", "github", "anmeldename",
              "nom d'utilisateur", "nom d’utilisateur", "nombre de usuario"),
    "section": ("section", "sections", "tutorial", "group", "groups", "gruppe", "gruppen", "groupe", "groupes", "grupo",
                "grupos"),
    "team": ("team",),
    "other_names": ("other names", "other name", "also known as", "preferred name"),
    "extension": ("extension", "extensions", "extended until", "verlängerung", "prolongation", "prórroga"),
    "participant": ("identifier", "identifikator", "identifiant", "identificador"),
    "role": ("role", "rolle", "rôle", "rol"),
    "identifier": ("identifier",),
}  # fmt: skip
# That nobody else has: Moodle's worksheet, in which a column called ID is the participant's number.
_WORKSHEET = (
    "last modified (grade)", "zuletzt geändert (bewertung)", "dernière modification (note)",
    "última modificación (calificación)", "grade can be changed", "bewertung kann geändert werden",
    "la note peut être modifiée", "la calificación puede ser cambiada",
)  # fmt: skip
_CANVAS = ("sis login id", "sis user id")
_STAFF = {"instructor", "ta", "reader", "teacher", "observer", "designer", "teaching assistant"}
_TEST_STUDENTS = {"student, test", "test student"}


@dataclass(frozen=True)
class Student:
    """A student as reports name them. `alias` is the name on the leaderboard, and never tells who it is by itself.

    `platform_id` is the learning platform's own number for the student, where its export tells it. `team` is the group
    that hands in together, `other_names` are separated by `|`, and `extension` is the roster's text on a later
    deadline, which the course's policy reads.
    """

    name: str
    sid: str = ""
    email: str = ""
    alias: str = ""
    folder: str = ""
    login: str = ""
    section: str = ""
    platform_id: str = ""
    team: str = ""
    other_names: str = ""
    extension: str = ""

    @property
    def public_name(self) -> str:
        """The alias. What a leaderboard shows has one: `course.aliases` makes it up with the secret."""
        return self.alias or "Anonymous"


def read_roster(path: Path) -> list[Student]:
    """Reads a roster with a header line; raises GraderError naming what is missing."""
    try:
        data = read_regular(path, _LIMIT)
    except FileNotFoundError:
        raise GraderError(f"{path}: no such file") from None
    except FileError as error:
        raise GraderError(str(error)) from error
    return roster_from(data, str(path))


def roster_from(data: bytes, path: str) -> list[Student]:
    """The roster in these bytes, which `path` names in messages."""
    table = _table(path, _decoded(data))
    header = [re.sub(r"\s+", " ", cell.strip().casefold()) for cell in table[0][1]] if table else []
    places = {
        column: next((header.index(title) for title in titles if title in header), None)
        for column, titles in _COLUMNS.items()
    }
    is_classroom = "github_username" in header
    is_canvas = "id" in header and any(title in header for title in _CANVAS)
    is_worksheet = any(title in header for title in _WORKSHEET)
    if is_canvas:
        places["sid"] = header.index("sis user id") if "sis user id" in header else None
        places["participant"] = header.index("id")
    elif is_worksheet and places["participant"] is None and "id" in header:
        places["participant"] = header.index("id")
        places["sid"] = next((header.index(title) for title in _COLUMNS["sid"][:-1] if title in header), None)
    elif not is_worksheet:
        places["participant"] = None
    has_name = places["name"] is not None or places["first"] is not None or places["last"] is not None
    if not has_name and not is_classroom:
        raise GraderError(
            f'{path}: the first line must name the columns, "name" among them (name,sid,email,alias), or be one that '
            "Canvas, Moodle, Gradescope or GitHub Classroom exports"
        )
    students = []
    for line, row in table[1:]:
        if len(row) > len(header) and any(text.strip() for text in row[len(header) :]):
            raise GraderError(
                f"{path}: line {line} has {len(row)} cells, and the first line names {len(header)} columns.\n"
                f'Put a cell that has a comma or a semicolon in it between quotes: "{shown(row[0], 40)}, …"'
            )
        cells = {
            column: shown(row[place]) if place is not None and place < len(row) else ""
            for column, place in places.items()
        }
        student = _student(cells, is_canvas=is_canvas, is_classroom=is_classroom)
        if student.name and not (is_canvas and not student.platform_id) and cells["role"].casefold() not in _STAFF:
            students.append(student)
    return [one for one in students if not (is_canvas and one.name.casefold() in _TEST_STUDENTS)]


def _student(cells: dict[str, str], *, is_canvas: bool, is_classroom: bool) -> Student:
    name = cells["name"] or f"{cells['first']} {cells['last']}".strip()
    number = cells["participant"] if is_canvas else "".join(re.findall(r"(\d+)\s*$", cells["participant"]))
    email, sid = cells["email"], cells["sid"]
    if is_classroom:  # the identifier is what the teacher chose: a name, an id, an address
        identifier = cells["identifier"]
        name = name or identifier
        email = email or (identifier if "@" in identifier else "")
        sid = sid or (identifier if identifier != name and not email else "")
    if is_canvas and not email and "@" in cells["login"]:
        email = cells["login"]
    own = {
        column: cells[column] for column in ("alias", "folder", "login", "section", "team", "other_names", "extension")
    }
    own["other_names"] = "|".join(part.strip() for part in re.split(r"[;|]", own["other_names"]) if part.strip())
    return Student(name=name, sid=sid, email=email, platform_id=number, **own)


def with_logins(students: Sequence[Student], classroom: Sequence[Student]) -> list[Student]:
    """The students with the logins that GitHub Classroom's roster has for them, by id, e-mail or name."""
    known: dict[str, set[str]] = {}
    for one in classroom:
        for key in _keys(one):
            known.setdefault(key, set()).update({one.login} - {""})

    def login(student: Student) -> str:
        found = [known[key] for key in _keys(student) if known.get(key)]
        return next(iter(found[0])) if found and len(found[0]) == 1 else student.login

    return [replace(one, login=login(one)) for one in students]


def _keys(student: Student) -> list[str]:
    keys = (student.sid, student.email, student.email.partition("@")[0], student.name)
    return [key.casefold() for key in keys if key]


def _table(path: str, text: str) -> list[tuple[int, list[str]]]:
    """All rows that aren't empty, each with the number of its line; raises GraderError naming the line."""
    first = text.partition("\n")[0]
    delimiter = ";" if ";" in first else "\t" if "\t" in first and "," not in first else ","
    is_export = any(title in first.casefold() for title in (*_WORKSHEET, *_CANVAS))  # comments in it may have lines
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    table: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for row in rows:
            # An open quote takes the lines that follow into its cell, up to the next quote or the end of the file.
            if rows.line_num > line and not (is_export and len(row) == len(table[0][1] if table else row)):
                raise GraderError(_open_quote(path, line))
            if any(text.strip() for text in row):
                table.append((line, row))
            line = rows.line_num + 1
    except csv.Error as error:
        if rows.line_num > line or "unexpected end" in str(error):
            raise GraderError(_open_quote(path, line)) from error
        raise GraderError(
            f"{path}: line {line}: {error}.\nPut the whole cell between quotes, and write a quote inside it twice"
        ) from error
    return table


def _open_quote(path: str, line: int) -> str:
    return (
        f"{path}: line {line} opens a quote that is not closed on the same line, so the lines after it would be lost.\n"
        "Close the quote, or take it away; a cell of a roster is one line"
    )


def _decoded(data: bytes) -> str:
    for encoding in ("utf-8-sig", "utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("cp1252", "replace")  # what spreadsheets write where they don't write UTF-8


def titles_of(column: str) -> tuple[str, ...]:
    """How the platforms title a column, in lower case and in several languages."""
    return _COLUMNS[column]
