"""Moodle: an assignment's grading worksheet, for "Upload grading worksheet".

Moodle finds a row by the number in its first column, which differs by assignment, and columns by their titles in the
uploader's language. It silently skips grades that are empty, above the maximum or below 0: we report all of these. If
the file has a decimal comma, so have the grades.
"""

import re
from collections.abc import Mapping, Sequence

from grader.base.csv_files import CsvFile
from grader.base.errors import GraderError
from grader.base.names import shown, tokens
from grader.course.grades import EXCUSED, StudentGrades
from grader.exports.platform import (
    Column,
    Report,
    Roll,
    cell_at,
    check_possible,
    find_column,
    is_by_staff,
    match_rows,
    no_column,
    number_in,
    put,
    say_left_over,
    value_of,
    written_like,
)
from grader.exports.tables import cell_text
from grader.model.assignment import Assignment
from grader.model.roster import titles_of

GRADE = ("Grade", "Bewertung", "Note", "Calificación")
_MOST = ("Maximum grade", "Bestwertung", "Bestbewertung", "Note maximale", "Calificación máxima")
_IDENTIFIER = re.compile(r"\D*(\d+)")
_SEPARATORS = {";": "semicolon", "\t": "tab"}


def moodle_like(
    table: CsvFile,
    assignment: Assignment,
    titles: Sequence[str],
    grades: Sequence[StudentGrades],
    *,
    scale: bool = False,
    by_name: bool = False,
) -> tuple[str, Report]:
    """The worksheet with this assignment's grades; `titles` may name the column. Raises GraderError."""
    rows = [list(row) for _, row in table.rows]
    identifier = _identifier(table, rows)
    place = find_column(table, titles or GRADE, assignment.id)
    if place is None:
        raise no_column(table, assignment.id)
    most = find_column(table, _MOST, assignment.id)
    shown_most = next((cell_at(row, most) for row in rows if cell_at(row, most)), "")
    column = Column(assignment, place, number_in(shown_most))
    check_possible(column, scale=scale)
    report = Report()
    owners = _owners(table, rows, identifier, assignment, grades, report, by_name=by_name)
    for row, owner in zip(rows, owners, strict=True):
        grade = owner.assignments[assignment.id] if owner else None
        value = value_of(grade, column, scale=scale) if grade else None
        if owner is None or grade is None:
            continue
        if value is None:
            if grade.status == EXCUSED:
                report.notes.append(f"{owner.student.name} is excused: Moodle has no word for it, so the cell stays")
            else:
                report.without.append(f"{owner.student.name}: {grade.status}")
            continue
        if is_by_staff(there := cell_at(row, place)):
            report.kept.append(f"{owner.student.name} stays {shown(there, 40)}")
            continue
        taken = max(0.0, min(value, column.possible) if column.possible else value)
        if taken != value:
            report.notes.append(
                f"{owner.student.name}: {cell_text(value)} is written as {cell_text(taken)}, because Moodle skips "
                f"what is not between 0 and {cell_text(column.possible)}"
            )
        text = cell_text(taken)
        put(row, place, text.replace(".", ",") if "," in shown_most else text)
        report.filled += 1
    if most is None:
        report.notes.append("the file doesn't say the assignment's maximum: Moodle silently skips grades above it")
    if table.delimiter in _SEPARATORS:
        report.notes.append(
            f"the file is separated by {_SEPARATORS[table.delimiter]}s, as it was: choose that when you upload it"
        )
    say_left_over(grades, owners, [assignment.id], report)
    return written_like(table, rows), report


def _identifier(table: CsvFile, rows: Sequence[Sequence[str]]) -> int:
    """The column of participant numbers: the one with Moodle's title for it, else the first.

    Raises GraderError if its cells don't look like "Participant 123".
    """
    place = find_column(table, [title for title in titles_of("participant") if title != "id"], "Identifier")
    place = 0 if place is None else place
    cells = [cell_at(row, place) for row in rows]
    if not cells or not all(_IDENTIFIER.fullmatch(cell) for cell in cells):
        raise GraderError(
            f'{table.name} is no grading worksheet: its first column should hold "Participant 123" and its like.\n'
            "Download one in Moodle: View all submissions → Download grading worksheet. The assignment's feedback "
            "types must include Offline grading worksheet"
        )
    return place


def _owners(
    table: CsvFile,
    rows: Sequence[Sequence[str]],
    identifier: int,
    assignment: Assignment,
    grades: Sequence[StudentGrades],
    report: Report,
    *,
    by_name: bool,
) -> list[StudentGrades | None]:
    places = {kind: _place(table, kind, identifier) for kind in ("name", "sid", "login", "email")}
    numbers = _numbers(assignment, grades)
    roll = Roll(grades, numbers)
    on_roster = {one.student.platform_id: one for one in roll.students if one.student.platform_id}
    people = []
    for row in rows:
        found = _IDENTIFIER.fullmatch(cell_at(row, identifier))
        number, name = found[1] if found else "", cell_at(row, places["name"])
        keys = [(kind, cell_at(row, places[kind])) for kind in ("sid", "login", "email")]
        keys.append(("platform_id", number))
        # The roster's number may be from another assignment: it counts only if names match, or there are none.
        other = on_roster.get(number)
        if other and number not in numbers and (not name or tokens(name) == tokens(other.student.name)):
            keys += [(kind, getattr(other.student, kind)) for kind in ("sid", "login", "email")]
        people.append((name or cell_at(row, identifier), keys))
    return match_rows(people, roll, report, by_name=by_name)


def _place(table: CsvFile, kind: str, identifier: int) -> int | None:
    titles = {cell.strip().casefold(): place for place, cell in enumerate(table.header) if place != identifier}
    return next((titles[title] for title in titles_of(kind) if title in titles), None)


def _numbers(assignment: Assignment, grades: Sequence[StudentGrades]) -> Mapping[str, StudentGrades]:
    """The participant numbers of individual hand-ins; a team's number belongs to the team."""
    numbers = {}
    for one in grades:
        grade = one.assignments.get(assignment.id)
        for record in grade.attempts if grade and one.is_matched else ():
            if record.handed.platform_id and not record.handed.group:
                numbers[record.handed.platform_id] = one
    return numbers


def participants(table: CsvFile) -> dict[str, str]:
    """The worksheet's numbers by each student's id, address, login and name, if these are unique."""
    rows = [row for _, row in table.rows]
    identifier = _identifier(table, rows)
    places = [_place(table, kind, identifier) for kind in ("sid", "email", "login", "name")]
    found: dict[str, str] = {}
    twice: set[str] = set()
    for row in rows:
        number = _IDENTIFIER.fullmatch(cell_at(row, identifier))
        for key in {cell_at(row, place).casefold() for place in places} - {""}:
            twice |= {key} if key in found else set()
            found[key] = number[1] if number else ""
    return {key: number for key, number in found.items() if key not in twice}
