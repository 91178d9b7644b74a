"""Who the students are: ``roster.csv``, and which submission belongs to whom."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from grader.errors import GraderError
from grader.files import FileError, read_regular
from grader.names import fingerprint, shown, tokens

ROSTER = "roster.csv"
_LIMIT = 16 << 20
_COLUMNS = {
    "name": ("name", "student", "full name"),
    "sid": ("sid", "id", "student id"),
    "email": ("email", "e-mail", "mail"),
    "alias": ("alias", "nickname"),
    "folder": ("folder", "submission"),
}


@dataclass(frozen=True)
class Student:
    """A student as reports name them. `alias` is the name on the leaderboard, and never tells who it is by itself."""

    name: str
    sid: str = ""
    email: str = ""
    alias: str = ""
    folder: str = ""

    @property
    def public_name(self) -> str:
        """The alias, or one made up from a hash."""
        return self.alias or f"Anonymous {fingerprint(self.sid + '|' + self.email + '|' + self.name, 4)}"


def read_roster(path: Path) -> list[Student]:
    """Reads a roster with a header line; raises GraderError naming what is missing."""
    try:
        data = read_regular(path, _LIMIT)
    except FileNotFoundError:
        raise GraderError(f"{path}: no such file") from None
    except FileError as error:
        raise GraderError(str(error)) from error
    text = _decoded(data)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=";" if ";" in text.partition("\n")[0] else ",")
    try:
        table = [row for row in rows if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise GraderError(f"{path}: line {rows.line_num}: {error}") from error
    header = [cell.strip().casefold() for cell in table[0]] if table else []
    places = {
        column: next((header.index(title) for title in titles if title in header), None)
        for column, titles in _COLUMNS.items()
    }
    if places["name"] is None:
        raise GraderError(f'{path}: the first line must name the columns, "name" among them (name,sid,email,alias)')

    def cell(row: list[str], column: str) -> str:
        place = places[column]
        return shown(row[place]) if place is not None and place < len(row) else ""

    students = [Student(**{column: cell(row, column) for column in _COLUMNS}) for row in table[1:]]
    return [student for student in students if student.name]


def _decoded(data: bytes) -> str:
    for encoding in ("utf-8-sig", "utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("cp1252", "replace")  # what spreadsheets write where they don't write UTF-8


def match(folder: str, roster: list[Student]) -> Student | None:
    """Whose folder this is: by the folder column, the id, the e-mail's local part, or the name in any order.

    None where nobody or more than one student fits.
    """
    plain = folder.casefold()
    tests = (
        lambda student: student.folder.casefold() == plain,
        lambda student: student.sid.casefold() == plain,
        lambda student: student.email.partition("@")[0].casefold() == plain,
        lambda student: tokens(student.name) == tokens(folder),
        lambda student: bool(student.sid) and student.sid.casefold() in tokens(folder),
    )
    for test in tests:
        found = [student for student in roster if test(student)]
        if found:
            return found[0] if len(found) == 1 else None
    return None
