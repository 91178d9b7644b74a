"""Who the students are: ``roster.csv``, and which submission belongs to whom."""

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

from grader.base.errors import GraderError
from grader.base.files import FileError, read_regular
from grader.base.names import fingerprint, shown, tokens

ROSTER = "roster.csv"
_LIMIT = 16 << 20
_SHORTEST_ID = 3  # that is looked for among other words
_COLUMNS = {
    "name": ("name", "student", "full name"),
    "sid": ("sid", "id", "student id"),
    "email": ("email", "e-mail", "mail"),
    "alias": ("alias", "nickname"),
    "folder": ("folder", "submission"),
    "login": ("login", "username", "user name"),
    "section": ("section", "group", "tutorial"),
}


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
    table = _table(path, _decoded(data))
    header = [cell.strip().casefold() for cell in table[0][1]] if table else []
    places = {
        column: next((header.index(title) for title in titles if title in header), None)
        for column, titles in _COLUMNS.items()
    }
    if places["name"] is None:
        raise GraderError(f'{path}: the first line must name the columns, "name" among them (name,sid,email,alias)')

    def cell(row: list[str], column: str) -> str:
        place = places[column]
        return shown(row[place]) if place is not None and place < len(row) else ""

    for line, row in table[1:]:
        if len(row) > len(header) and any(text.strip() for text in row[len(header) :]):
            raise GraderError(
                f"{path}: line {line} has {len(row)} cells, and the first line names {len(header)} columns.\n"
                f'Put a cell that has a comma or a semicolon in it between quotes: "{shown(row[0], 40)}, …"'
            )
    students = [Student(**{column: cell(row, column) for column in _COLUMNS}) for _, row in table[1:]]
    return [student for student in students if student.name]


def _table(path: Path, text: str) -> list[tuple[int, list[str]]]:
    """All rows that aren't empty, each with the number of its line; raises GraderError naming the line."""
    delimiter = ";" if ";" in text.partition("\n")[0] else ","
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    table: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for row in rows:
            # An open quote takes the lines that follow into its cell, up to the next quote or the end of the file.
            if rows.line_num > line:
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


def _open_quote(path: Path, line: int) -> str:
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


def match(folder: str, roster: list[Student]) -> Student | None:
    """Whose folder this is: by the folder column, the id, the e-mail's local part, or the name in any order.

    None where nobody or more than one student fits.
    """
    plain = folder.casefold()
    words = tokens(folder)
    if not plain:
        return None
    tests = (
        lambda student: student.folder.casefold() == plain,
        lambda student: student.sid.casefold() == plain,
        lambda student: student.email.partition("@")[0].casefold() == plain,
        lambda student: bool(words) and tokens(student.name) == words,
        lambda student: _has_id(plain, student.sid.casefold()),
    )
    for test in tests:
        found = [student for student in roster if test(student)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _has_id(folder: str, sid: str) -> bool:
    """Whether the id stands in the folder's name as a word beside others: 1815 in lovelace_1815, 1 not in +1 or 1.5.

    Short numbers count things, as in homework_1.
    """
    if len(sid) < _SHORTEST_ID:
        return False
    words = re.split(r"[\s_,;()\[\]-]+", folder)
    return sid in words and any(any(char.isalpha() for char in word) for word in words if word != sid)
