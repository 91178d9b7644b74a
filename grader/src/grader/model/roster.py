"""The students: ``roster.csv``, or a learning platform's export of a course.

Columns are recognised by their titles, in the languages below: the grader's own roster, Canvas's gradebook and group
sets, Moodle's grading worksheet and list of participants, and exports of Gradescope, Blackboard, Brightspace, Autolab,
GitHub Classroom and Classroom 50.
"""

import csv
import io
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.base.csv_files import BOM, decoded, read_table_bytes
from grader.base.errors import GraderError
from grader.base.names import shown

ROSTER = "roster.csv"
CLASSROOM_ROSTER = "classroom_roster.csv"
_LIMIT = 16 << 20
_COLUMNS = {
    "name": ("name", "student", "schüler/in", "estudiante", "étudiant", "full name", "student name", "member name",
             "display name", "vollständiger name",
             "nom complet", "nombre completo", "nome completo", "cognome e nome", "volledige naam", "fullständigt namn",
             "imię i nazwisko"),
    "first": ("first name", "firstname", "given name", "vorname", "prénom", "nombre", "nombre(s)", "nome", "voornaam",
              "förnamn", "fornavn", "imię", "primeiro nome"),
    "last": ("last name", "lastname", "surname", "family name", "nachname", "familienname", "nom de famille", "nom",
             "apellido(s)", "apellidos", "cognome", "achternaam", "efternamn", "etternavn", "efternavn", "nazwisko",
             "sobrenome", "apelido"),
    "sid": ("sid", "student id", "sis user id", "sis-benutzer-id", "user id", "id number", "orgdefinedid",
            "matriculation number", "member identifier", "id-nummer", "idnummer", "matrikelnummer", "matrikel-nr.",
            "matricola", "numéro d'identification", "numéro d’identification", "numéro étudiant",
            "número de id", "numero id",
            "número de identificação", "studentnummer", "display id", "id"),
    "email": ("email", "e-mail", "mail", "email address", "e-mail address", "e-mail-adresse", "adresse de courriel",
              "courriel", "adresse e-mail", "dirección de correo", "dirección email", "correo electrónico",
              "e-mailadres", "indirizzo email", "endereço de email", "e-postadress", "e-post"),
    "alias": ("alias", "nickname"),
    "folder": ("folder", "submission"),
    "login": ("login", "username", "user name", "login id", "sis login id", "sis-login-id", "github username",
              "member github username", "github", "anmeldename", "benutzername", "nom d'utilisateur",
              "nom d’utilisateur", "nombre de usuario", "gebruikersnaam", "nome utente", "nome de utilizador",
              "användarnamn"),
    "section": ("section", "sections", "tutorial"),
    "team": ("team", "teams", "group name", "group", "groups", "gruppe", "gruppen", "gruppenname", "groupe", "groupes",
             "grupo", "grupos", "gruppo", "gruppi", "groep", "groepen", "grupp", "grupper"),
    "other_names": ("other names", "other name", "also known as", "preferred name"),
    "extension": ("extension", "extensions", "extended until", "verlängerung", "prolongation", "prórroga"),
    "participant": ("identifier", "identifikator", "identifiant", "identificador", "identificatore", "canvas user id"),
    "role": ("role", "rolle", "rôle", "rol", "roles", "ruolo"),
    "identifier": ("identifier",),
    "status": ("status", "statut", "estado", "stato"),
    "modified": ("last modified (submission)", "zuletzt geändert (abgabe)", "dernière modification (travail remis)",
                 "última modificación (entrega)", "ultima modifica (consegna)", "laatst gewijzigd (inzending)",
                 "última modificação (trabalho)", "última modificação (envio)"),
}  # fmt: skip
# Words in titles of other origin, used if no column has one of the titles above.
_LIKE = {
    "first": r"\bfirst ?name\b|\bvorname\b", "last": r"\b(?:last|sur|family) ?name\b|\bnachname\b",
    "login": r"\b(?:user ?name|login|net ?id|handle|account|uniqname|git(?:hub|lab|ea))\b|kennung\b",
    "sid": r"\b(?:matr|student|roll|regist|index|enrol|candidate|campus)\w*\W+(?:no|nr|num|id|card)|^mtknr|^neptun",
    "email": r"\be-?mail\b",
}  # fmt: skip
# Titles unique to Moodle's worksheet, whose column ID is the participant's number.
_WORKSHEET = (
    "last modified (grade)", "zuletzt geändert (bewertung)", "dernière modification (note)",
    "última modificación (calificación)", "grade can be changed", "bewertung kann geändert werden",
    "la note peut être modifiée", "la calificación puede ser cambiada", "ultima modifica (valutazione)",
    "laatst gewijzigd (cijfer)", "última modificação (nota)",
)  # fmt: skip
_CANVAS = ("sis login id", "sis user id", "integration id", "sis-login-id", "sis-benutzer-id")
_GITHUB = ("github username", "member github username")
_STAFF = {
    "instructor", "ta", "reader", "teacher", "observer", "designer", "teaching assistant", "staff", "owner", "manager",
    "non-editing teacher", "dozent/in", "trainer/in", "lehrende", "enseignant", "profesor",
}  # fmt: skip
TEST_STUDENTS = {"student, test", "test student", "test, student"}  # Canvas's preview student
_EXCEL = re.compile(r'="(.*)"')  # how spreadsheets preserve an id such as 007


_MARKS = ",;\t"
_MOST_ABOVE = 10  # lines before the titles: a heading, a spreadsheet's sep=
_WHO = ("name", "first", "last", "login")
_TITLES = {title for titles in _COLUMNS.values() for title in titles} | set(_WORKSHEET) | set(_CANVAS)


@dataclass(frozen=True)
class Student:
    """A student as named in reports. `alias` is the name on the leaderboard, which must not reveal the student.

    `platform_id` is the learning platform's own number for the student, if its export has one. `team` is the group that
    hands in together, `other_names` are separated by `|`, and `extension` is the roster's text on a later deadline,
    which the course's policy reads.
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
    def groups(self) -> list[str]:
        """The student's groups: the cell may list several."""
        return [name for part in re.split(r"[,;|]", self.team) if (name := part.strip())]

    @property
    def public_name(self) -> str:
        """The alias. On a leaderboard everybody has one: `course.aliases` derives missing ones from the secret."""
        return self.alias or "Anonymous"


@dataclass(frozen=True)
class Told:
    """Hand-in data in a table of students, such as Moodle's worksheet: texts in the platform's language."""

    status: str = ""
    modified: str = ""


@dataclass(frozen=True)
class Roster:
    """A table of students. `strangers` are the platform's numbers of people in it who are not students."""

    students: list[Student]
    told: dict[Student, Told] = field(default_factory=dict)
    strangers: frozenset[str] = frozenset()


def read_roster(path: Path) -> list[Student]:
    """Reads a roster with a header line; raises GraderError naming what is missing."""
    return read_table(path).students


def read_table(path: Path) -> Roster:
    """Like `read_roster`, but with the table's other columns."""
    return table_from(read_table_bytes(path, _LIMIT), str(path))


def table_from(data: bytes, path: str) -> Roster:
    """The roster in these bytes, which `path` names in messages."""
    table = _table(path, decoded(data).removeprefix(BOM))
    header = [_title(cell) for cell in table[0][1]] if table else []
    places = {
        column: next((header.index(title) for title in titles if title in header), None)
        for column, titles in _COLUMNS.items()
    }
    for column, like in _LIKE.items():
        rest = [
            place
            for place, title in enumerate(header)
            if place not in places.values() and not re.search(r"[\d(|]", title)
        ]
        free = [place for place in rest if re.search(like, header[place])]
        places[column] = free[0] if places[column] is None and free else places[column]
    is_classroom = any(title in header for title in _GITHUB)
    is_canvas = "id" in header and any(title in header for title in _CANVAS)
    is_group_set = "canvas user id" in header
    is_worksheet = any(title in header for title in _WORKSHEET)
    if is_canvas:
        places["sid"] = next((header.index(one) for one in ("sis user id", "sis-benutzer-id") if one in header), None)
        places["participant"] = header.index("id")
    elif is_worksheet and places["participant"] is None and "id" in header:
        places["participant"] = header.index("id")
        places["sid"] = next((header.index(title) for title in _COLUMNS["sid"][:-1] if title in header), None)
    elif not is_worksheet and not is_group_set:
        places["participant"] = None
    rows = table[1:]
    if not any(places[column] is not None for column in _WHO) and not is_worksheet:
        by_content = _by_content([row for _, row in rows])
        places |= by_content
        is_worksheet = "participant" in by_content
        # Without any titles, the first line is a student too.
        rows = table if any("@" in cell for cell in header) else rows
    if not any(places[column] is not None for column in _WHO) and not is_worksheet:
        raise GraderError(
            f'{path}: the first line must name the columns, "name" among them (name,sid,email,alias), or be one that '
            "a learning platform exports: docs/reference/submissions.md#rosters lists the titles"
        )
    shows_groups = places["team"] is not None and not header[places["team"]].startswith("team")
    numbered = _numbered(table, len(header))
    people: list[tuple[Student, Told]] = []
    strangers: set[str] = set()
    for line, row in rows:
        if len(row) > len(header) and any(text.strip() for text in row[len(header) :]):
            raise GraderError(
                f"{path}: line {line} has {len(row)} cells, and the first line names {len(header)} columns.\n"
                f'Put a cell that has a comma or a semicolon in it between quotes: "{shown(row[0], 40)}, …"'
            )
        cells = {
            column: _cell(row[place], is_numbered=place in numbered) if place is not None and place < len(row) else ""
            for column, place in places.items()
        }
        cells["section"] = cells["section"] or (cells["team"] if shows_groups else "")
        student = _student(cells, is_canvas=is_canvas or is_group_set, is_classroom=is_classroom)
        if not student.name or (is_canvas and not student.platform_id):
            continue
        if cells["role"].casefold() in _STAFF or (is_canvas and student.name.casefold() in TEST_STUDENTS):
            strangers.add(student.platform_id)
        else:
            people.append((student, Told(cells["status"], cells["modified"] if is_worksheet else "")))
    merged = _merged(people)
    return Roster(list(merged), merged if is_worksheet else {}, frozenset(strangers - {""}))


def _by_content(rows: Sequence[Sequence[str]]) -> dict[str, int | None]:
    """Guesses columns from their cells if no title is known: an address, names, an id, Moodle's columns.

    Each pattern can match at only one position, so that time is linear in the length of a cell.
    """
    found: dict[str, int | None] = {}
    names: list[int] = []
    for place in range(max(map(len, rows), default=0)):
        cells = [text for row in rows if place < len(row) and (text := row[place].strip())]
        start = os.path.commonprefix(cells)  # noqa: RUF071 - of texts

        def most(pattern: str, cells: Sequence[str] = cells) -> bool:
            return 5 * sum(bool(re.fullmatch(pattern, cell)) for cell in cells) >= 4 * len(rows) > 0

        is_own = len(set(cells)) == len(cells) > 1  # all different
        if most(r"\S[^\s@]*@\S+\.\w+"):
            found.setdefault("email", place)
        elif is_own and re.search(r"[^\W\d]{3}|[^\W\d_a-z]{2}", start, re.I) and most(r"[^\d@]+\d+"):
            found.setdefault("participant", place)
        elif is_own and most(r"(?:[^\W\d]|[.-])*\d[\w.-]*"):
            found.setdefault("sid" if most(r"[\d.-]+\w?") else "login", place)
        elif most(r"[^\w@]*[^\W\d_][^\d@_]*") and 2 * len(set(cells)) > len(cells):
            names.append(place)
        elif any(
            (year := re.search(r"\d{4}", cell)) and re.search(r"\d[:.h]\d\d", cell[year.end() :]) for cell in cells
        ):
            found.setdefault("modified", place)
    whole = [
        place for place in names if sum(" " in row[place].strip() for row in rows if place < len(row)) * 2 > len(rows)
    ]
    if whole or len(names) == 1:
        found["name"] = (whole or names)[0]
    elif names:
        found |= {"first": names[0], "last": names[1]}
    return found if any(column in found for column in _WHO) and len(found) > 1 else {}


def _title(cell: str) -> str:
    return re.sub(r"[\s_]+", " ", cell.strip().casefold())


def _numbered(table: list[tuple[int, list[str]]], width: int) -> set[int]:
    """The columns in which every cell begins with #, which Brightspace adds so that spreadsheets don't make numbers."""
    cells = [[row[place].strip() for _, row in table[1:] if place < len(row)] for place in range(width)]
    return {place for place, column in enumerate(cells) if any(column) and all(c.startswith("#") for c in column if c)}


def _cell(text: str, *, is_numbered: bool) -> str:
    found = _EXCEL.fullmatch(text.strip())
    text = found[1].replace('""', '"') if found else text
    return shown(text.strip().removeprefix("#") if is_numbered else text)


def _merged(people: Sequence[tuple[Student, Told]]) -> dict[Student, Told]:
    """Merges duplicates: a student in several sections or groups has a line for each."""
    own: dict[object, tuple[Student, Told]] = {}
    for student, told in people:
        number = student.platform_id or student.sid or student.email or student.login
        key = (number.casefold(), student.name) if number else student
        if key in own:
            before, _ = own[key]
            both = {
                name: ", ".join(dict.fromkeys(part for part in (getattr(before, name), getattr(student, name)) if part))
                for name in ("section", "team")
            }
            own[key] = (replace(before, **both), told)
        else:
            own[key] = (student, told)
    return dict(own.values())


def _student(cells: dict[str, str], *, is_canvas: bool, is_classroom: bool) -> Student:
    name = cells["name"] or f"{cells['first']} {cells['last']}".strip()
    number = cells["participant"] if is_canvas else "".join(re.findall(r"(\d+)\s*$", cells["participant"]))
    email, sid = cells["email"], cells["sid"]
    if is_classroom:  # the teacher chose the identifier: a name, an id or an address
        identifier = cells["identifier"]
        name = name or identifier
        email = email or (identifier if "@" in identifier else "")
        sid = sid or (identifier if identifier != name and not email else "")
    if not name:  # a list of logins, or of participants with hidden names
        name = cells["login"] or cells["participant"]
    if is_canvas and not email and "@" in cells["login"]:
        email = cells["login"]
    own = {
        column: cells[column] for column in ("alias", "folder", "login", "section", "team", "other_names", "extension")
    }
    own["other_names"] = "|".join(part.strip() for part in re.split(r"[;|]", own["other_names"]) if part.strip())
    return Student(name=name, sid=sid, email=email, platform_id=number, **own)


def with_logins(students: Sequence[Student], classroom: Sequence[Student]) -> list[Student]:
    """The students, with logins from GitHub Classroom's roster, found by id, e-mail or name."""
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
    """All non-empty rows, each with its line number; raises GraderError naming the line."""
    skipped, first, delimiter = _first_line(text)
    text = "".join(text.splitlines(keepends=True)[skipped:])
    is_export = any(title in first.casefold() for title in (*_WORKSHEET, *_CANVAS))  # comments in it may span lines
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    table: list[tuple[int, list[str]]] = []
    line = 1 + skipped
    try:
        for row in rows:
            # An unclosed quote swallows the following lines into its cell, up to the next quote or the end of the file.
            if rows.line_num + skipped > line and not (is_export and len(row) == len(table[0][1] if table else row)):
                raise GraderError(_open_quote(path, line))
            if any(text.strip() for text in row):
                table.append((line, row))
            line = rows.line_num + skipped + 1
    except csv.Error as error:
        if rows.line_num + skipped > line or "unexpected end" in str(error):
            raise GraderError(_open_quote(path, line)) from error
        raise GraderError(
            f"{path}: line {line}: {error}.\nPut the whole cell between quotes, and write a quote inside it twice"
        ) from error
    return table


def _first_line(text: str) -> tuple[int, str, str]:
    """The number of lines before the header, the header, and its separator."""
    lines = text.split("\n")[:_MOST_ABOVE]
    marks = [max(_MARKS, key=lambda one: _known(line, one)) for line in lines]
    told = [_known(line, mark)[0] for line, mark in zip(lines, marks, strict=True)]
    number = next((number for number, known in enumerate(told) if known > 1), 0)
    return number, lines[number], marks[number]


def _known(first: str, delimiter: str) -> tuple[int, int]:
    """The number of known titles in a first line split at this separator, and the number of titles."""
    try:
        cells = next(csv.reader([first], delimiter=delimiter), [])
    except csv.Error:
        return 0, 0
    return sum(_title(cell) in _TITLES for cell in cells), len(cells)


def _open_quote(path: str, line: int) -> str:
    return (
        f"{path}: line {line} opens a quote that is not closed on the same line, so the lines after it would be lost.\n"
        "Close the quote, or take it away; a cell of a roster is one line"
    )


def titles_of(column: str) -> tuple[str, ...]:
    """The platforms' titles for a column, in lower case and in several languages."""
    return _COLUMNS[column]
