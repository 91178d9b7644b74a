"""Canvas: a CSV for Grades → Import.

Canvas finds an assignment by the number after its title, and a student by the ID, else by SIS User ID, SIS Login ID,
and in the end the name. An empty cell deletes a grade, so a cell that gets no grade keeps its text; EX
excuses the student.
"""

import re
from collections.abc import Mapping, Sequence

from grader.base.cells import safe_cell
from grader.base.csv_files import CsvFile, csv_rows
from grader.base.errors import GraderError
from grader.base.names import shown
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

_KEYS = {"id": "platform_id", "sis user id": "sid", "sis login id": "login"}
_NAMES = ("student", "lastname", "firstname")
_POINTS = "Points Possible"
_POSTING = ("manual posting", "muted")
_TEST_STUDENT = "student, test"
_EXCUSED = "EX"
_READ_ONLY = "read only"
# Canvas silently drops a column whose title contains one of these, as if it were one of its own totals.
_SUMS = re.compile(r"(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")


def canvas_like(
    table: CsvFile,
    assignments: Mapping[str, Assignment],
    columns: Mapping[str, Sequence[str]],
    grades: Sequence[StudentGrades],
    *,
    scale: bool = False,
    by_name: bool = False,
) -> tuple[str, Report]:
    """The gradebook that Canvas exported, with the grades of every assignment that has a column in it.

    `columns` has the possible titles of each assignment. Raises GraderError if the file is not a gradebook, or has no
    column for any of the assignments.
    """
    titles = [cell.strip().casefold() for cell in table.header]
    if not ("id" in titles and ("student" in titles or "lastname" in titles)):
        raise GraderError(
            f"{table.name} is no gradebook from Canvas: its first line has no columns Student and ID.\n"
            "Export one in Canvas: Grades → Export → Export Entire Gradebook"
        )
    rows = [list(row) for _, row in table.rows]
    report = Report()
    chosen = _columns(table, rows, assignments, columns, report)
    for column in chosen:
        check_possible(column, scale=scale)
    students = [row for row in rows if _is_student(row)]
    names = [place for place, title in enumerate(titles) if title in _NAMES]
    keys = {place: _KEYS[title] for place, title in enumerate(titles) if title in _KEYS}
    logins = [(place, "email") for place, kind in keys.items() if kind == "login"]  # often an address
    people = [
        (
            ", ".join(cell_at(row, place) for place in names if cell_at(row, place)),
            [(kind, cell_at(row, place)) for place, kind in (*keys.items(), *logins)],
        )
        for row in students
    ]
    owners = match_rows(people, Roll(grades), report, by_name=by_name)
    report.without = [line for line in report.without if not line.casefold().startswith(f"{_TEST_STUDENT}: no graded")]
    for row, owner in zip(students, owners, strict=True):
        for column in chosen if owner else ():
            _fill(row, column, owner, report, scale=scale)
    say_left_over(grades, owners, [column.assignment.id for column in chosen], report)
    return written_like(table, rows), report


def _columns(
    table: CsvFile,
    rows: Sequence[Sequence[str]],
    assignments: Mapping[str, Assignment],
    columns: Mapping[str, Sequence[str]],
    report: Report,
) -> list[Column]:
    points = next((row for row in rows if row and _POINTS in row[0]), [])
    chosen = []
    for name, assignment in assignments.items():
        place = find_column(table, columns[name], name)
        if place is None:
            report.notes.append(f"{name} has no column in the file")
        elif _READ_ONLY in cell_at(points, place):
            raise GraderError(f"{table.name}: Canvas says that the column {table.header[place]} is read only")
        elif _SUMS.search(table.header[place]):
            raise dropped(table.header[place], name)
        else:
            chosen.append(Column(assignment, place, number_in(cell_at(points, place))))
    if not chosen:
        raise no_column(table, next(iter(assignments)))
    return chosen


def dropped(title: str, name: str) -> GraderError:
    """The error for a title that Canvas doesn't import."""
    found = _SUMS.search(title)
    return GraderError(
        f'Canvas drops a column with "{found[0] if found else title}" in its title when it imports: "{shown(title)}".\n'
        f"Rename the assignment on Canvas and export again, or, without --like, type:  --column {name}=TITLE"
    )


def _is_student(row: Sequence[str]) -> bool:
    if row and _POINTS in row[0]:
        return False
    return not all(not cell.strip() or cell.strip().casefold().startswith(_POSTING) for cell in row)


def _fill(row: list[str], column: Column, owner: StudentGrades | None, report: Report, *, scale: bool) -> None:
    grade = owner.assignments[column.assignment.id] if owner else None
    if owner is None or grade is None:
        return
    value = value_of(grade, column, scale=scale)
    text = _EXCUSED if grade.status == EXCUSED else "" if value is None else cell_text(value)
    if text and is_by_staff(there := cell_at(row, column.place)) and there.upper() != text:
        report.kept.append(f"{owner.student.name}: {column.assignment.id} stays {shown(there, 40)}")
        return
    if grade.status == EXCUSED:
        put(row, column.place, _EXCUSED)
    elif value is None:
        report.without.append(f"{owner.student.name}: {column.assignment.id} {grade.status}")
        return
    else:
        put(row, column.place, cell_text(value))
    report.filled += 1


def canvas_new(
    assignments: Mapping[str, Assignment], columns: Mapping[str, Sequence[str]], grades: Sequence[StudentGrades]
) -> tuple[str, Report]:
    """A new CSV, for students whose Canvas number is known.

    Canvas finds an assignment by its title, and creates it if there is none with that title. Names are only for people
    here, so they are made safe for spreadsheets.
    """
    report = Report()
    known = [one for one in grades if one.is_matched and one.student.platform_id.isdecimal()]
    titles = [columns[name][0] for name in assignments]
    for name, title in zip(assignments, titles, strict=True):
        if _SUMS.search(title):
            raise dropped(title, name)
    rows: list[list[str]] = [
        ["Student", "ID", "Section", *titles],
        [f"    {_POINTS}", "", "", *(cell_text(assignment.points) for assignment in assignments.values())],
    ]
    for one in known:
        # Canvas recognises the row of maximum points by these words in the first cell, even in a student's name.
        name = safe_cell(one.student.name).replace(_POINTS, _POINTS.replace(" ", "-"))
        row = [name, one.student.platform_id, safe_cell(one.student.section)]
        for place, assignment in enumerate(assignments.values(), len(row)):
            put(row, place, "")
            _fill(row, Column(assignment, place), one, report, scale=False)
        rows.append(row)
    say_left_over(grades, known, list(assignments), report)
    report.left_over = [
        line if line.endswith("exported") else f"{line}: the roster has no Canvas ID for this student"
        for line in report.left_over
    ]
    return csv_rows(rows), report
