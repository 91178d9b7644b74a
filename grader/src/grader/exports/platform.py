"""Common parts of exports to learning platforms: matching rows and columns, and reporting what was left out.

The platform's own export is the model. Its rows, ids, names and headers are written as they were read, even text that a
spreadsheet might read as a formula: the platform finds people and assignments by these cells, and would fail with an
added apostrophe; and its own file has the same formula anyway. Only numbers and EX are added.

Nobody is matched by guess: a row belongs to a student if it has an id, a login or an e-mail address of theirs, and no
other student's.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from grader.base.csv_files import BOM, CsvFile, csv_rows
from grader.base.errors import GraderError
from grader.base.names import shown, tokens
from grader.course.grades import EXCUSED, AssignmentGrade, StudentGrades
from grader.exports.tables import cell_text
from grader.model.assignment import Assignment

KINDS = ("platform_id", "sid", "login", "email")
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
_ID_BEHIND = re.compile(r"\s*\(\d+\)\s*$")


@dataclass
class Report:
    """Messages about an export: lines for people who were left out, and notes on changes."""

    filled: int = 0
    without: list[str] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # cells with text from staff
    notes: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether every row has a grade and every grade a row."""
        return not (self.without or self.left_over)


@dataclass(frozen=True)
class Column:
    """The column for an assignment's grades, and the platform's maximum for it; 0 if the file doesn't say."""

    assignment: Assignment
    place: int
    possible: float = 0.0


def is_by_staff(cell: str) -> bool:
    """Whether a person wrote text into a grade's cell: N/A, EX, "see me". A number is a grade, a dash is empty."""
    text = cell.strip()
    return bool(text) and text not in ("-", "–") and not _NUMBER.fullmatch(text.removesuffix("%").strip())


class Roll:
    """The students who may be exported, searchable by the contents of a row."""

    def __init__(self, grades: Sequence[StudentGrades], numbers: Mapping[str, StudentGrades] | None = None) -> None:
        """`numbers` are the platform's numbers, if they differ from the roster's."""
        self.students = [one for one in grades if one.is_matched]
        self._index: dict[tuple[str, str], list[StudentGrades]] = {}
        self._names: dict[frozenset[str], list[StudentGrades]] = {}
        for one in self.students:
            for kind in KINDS:
                value = getattr(one.student, kind)
                if value and not (kind == "platform_id" and numbers is not None):
                    self._index.setdefault((kind, value.casefold()), []).append(one)
            self._names.setdefault(tokens(one.student.name), []).append(one)
        for number, one in (numbers or {}).items():
            self._index.setdefault(("platform_id", number), []).append(one)

    def find(self, keys: Iterable[tuple[str, str]]) -> list[StudentGrades]:
        """Everybody with one of the keys, such as ("sid", "1815")."""
        hits = [one for kind, value in keys if value for one in self._index.get((kind, value.strip().casefold()), [])]
        return list({id(one): one for one in hits}.values())

    def named(self, name: str) -> list[StudentGrades]:
        """Everybody of this name, in any order of its words."""
        return self._names.get(tokens(name), []) if tokens(name) else []


def match_rows(
    rows: Sequence[tuple[str, Sequence[tuple[str, str]]]], roll: Roll, report: Report, *, by_name: bool
) -> list[StudentGrades | None]:
    """Finds the student of each row from its name and keys. No student gets two rows."""
    owners: list[StudentGrades | None] = []
    same_name = [sum(tokens(other) == tokens(name) for other, _ in rows) for name, _ in rows]
    for (name, keys), twins in zip(rows, same_name, strict=True):
        found = roll.find(keys)
        if len(found) > 1:
            listed = ", ".join(one.student.name for one in found)
            report.without.append(f"{shown(name)}: the row has keys of several students ({listed})")
        if not found and by_name and twins == 1:
            found = roll.named(name)
        owners.append(found[0] if len(found) == 1 else None)
        if not found:
            report.without.append(f"{shown(name)}: no graded student has the row's ids")
    return one_row_each(owners, report)


def one_row_each(owners: list[StudentGrades | None], report: Report) -> list[StudentGrades | None]:
    """`owners` with None for all rows of a student who has several: it is unclear which is right."""
    for one in {id(owner): owner for owner in owners if owner}.values():
        places = [place for place, owner in enumerate(owners) if owner is one]
        if len(places) > 1:
            report.without.append(f"{one.student.name}: {len(places)} rows of the file are this student's")
            for place in places:
                owners[place] = None
    return owners


def value_of(grade: AssignmentGrade, column: Column, *, scale: bool) -> float | None:
    """The points to write, scaled to the platform's maximum; None if there are none."""
    if grade.points is None:
        return None
    if scale and column.possible and grade.possible:
        return round(grade.points * column.possible / grade.possible, 2)
    return round(grade.points, 2)


def check_possible(column: Column, *, scale: bool) -> None:
    """Raises GraderError if the platform has another maximum and --scale was not given."""
    own = column.assignment.points
    if column.possible and column.possible != own and not scale:
        raise GraderError(
            f"the platform gives {cell_text(column.possible)} points for {column.assignment.id}, and the grader "
            f"{cell_text(own)}.\nAdd --scale to convert, or change the points on the platform and export again"
        )


def say_left_over(
    grades: Sequence[StudentGrades], written: Sequence[StudentGrades | None], names: Sequence[str], report: Report
) -> None:
    """Names the students who have a grade in these assignments but no row in the gradebook."""
    there = {id(one) for one in written if one}
    for one in grades:
        own = [one.assignments[name] for name in names if name in one.assignments]
        if id(one) in there or not any(grade.points is not None or grade.status == EXCUSED for grade in own):
            continue
        why = "" if one.is_matched else ": not on the roster, never exported"
        report.left_over.append(f"{one.student.name}{why}")


def find_column(table: CsvFile, titles: Sequence[str], what: str) -> int | None:
    """The column with one of the titles, with or without the platform's number after it; None if there is none.

    Raises GraderError if there are several.
    """
    for title in titles:
        plain = _plain(title)
        places = [
            place
            for place, cell in enumerate(table.header)
            if plain and plain in (_plain(cell), _plain(_ID_BEHIND.sub("", cell)))
        ]
        if len(places) > 1:
            listed = ", ".join(shown(table.header[place]) for place in places)
            raise GraderError(f'{table.name}: "{title}" is several columns: {listed}.\nType:  --column {what}="HEADER"')
        if places:
            return places[0]
    return None


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip()).casefold()


def no_column(table: CsvFile, what: str) -> GraderError:
    """The error when the gradebook has no column for the assignment."""
    listed = "\n".join(f"  {shown(cell)}" for cell in table.header if cell.strip())
    return GraderError(
        f"{table.name} has no column for {what}. Its columns are:\n{listed}\n"
        f'Type:  --column {what}="HEADER"      or put  column = "HEADER"  under [assignment.{what}] in course.toml'
    )


def number_in(cell: str) -> float:
    """A number with a decimal point or comma; 0 where there is none."""
    found = _NUMBER.fullmatch(cell.strip())
    return float(cell.strip().replace(",", ".")) if found else 0.0


def cell_at(row: Sequence[str], place: int | None) -> str:
    """A row's cell; empty where there is no such column."""
    return row[place].strip() if place is not None and place < len(row) else ""


def put(row: list[str], place: int, text: str) -> None:
    """Fills a cell, in a row that may be shorter than the header."""
    row.extend([""] * (place + 1 - len(row)))
    row[place] = text


def written_like(table: CsvFile, rows: Iterable[Sequence[str]]) -> str:
    """Rows as CSV, with the quoting and line ends of the original file."""
    text = csv_rows([table.header, *rows], delimiter=table.delimiter, newline=table.newline)
    return (BOM if table.has_bom else "") + text
