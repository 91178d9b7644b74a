"""``adjustments.csv``: points added or deducted by a person, and comments, with the reason and the author."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grader.base.csv_files import CsvFile
from grader.base.errors import GraderError
from grader.base.names import shown
from grader.base.schema import SchemaError
from grader.course.policy import check_assignment
from grader.model.score import points_text

COLUMNS = ("student", "assignment", "points", "reason", "staff")
_COURSE = ("", "course", "total")
_LONGEST = 2000


@dataclass(frozen=True)
class Adjustment:
    """Points that a person added or deducted, with the reason and the author; only a comment if they are 0.

    `student` is as written in the file, `where` is the file and the line. `assignment` is empty for the course total.
    """

    student: str
    assignment: str
    points: float
    reason: str
    staff: str
    where: str = ""


def adjustment_step(one: Adjustment) -> str:
    """Describes it: "+5 points: explained it in person (hopper)"."""
    sign = "+" if one.points > 0 else "−"
    unit = "point" if abs(one.points) == 1 else "points"
    return f"{sign}{points_text(abs(one.points))} {unit}: {one.reason}" + (f" ({one.staff})" if one.staff else "")


def adjustments_from(table: CsvFile, known: Sequence[str]) -> tuple[Adjustment, ...]:
    """The contents of adjustments.csv; `known` are all assignments. Raises GraderError naming the line."""
    header = table.titles(COLUMNS, COLUMNS)
    return tuple(_adjustment(table, header, line, row, known) for line, row in table.rows)


def _adjustment(table: CsvFile, header: list[str], line: int, row: list[str], known: Sequence[str]) -> Adjustment:
    where = f"{table.name}: line {line}"
    if len(row) > len(header) and any(cell.strip() for cell in row[len(header) :]):
        raise GraderError(
            f"{where} has {len(row)} cells, and the first line names {len(header)} columns.\n"
            "Put a cell that has a comma or a semicolon in it between quotes"
        )
    cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
    assignment = cells.get("assignment", "")
    if assignment.casefold() in _COURSE:
        assignment = ""
    else:
        try:
            check_assignment(assignment, known, where)
        except SchemaError as error:
            raise GraderError(str(error)) from error
    points = _points(cells.get("points", ""), where)
    reason = shown(cells.get("reason", ""), _LONGEST)
    if not cells.get("student"):
        raise GraderError(f"{where}: which student?\nWrite the id, the e-mail address, the login or the name")
    if not reason:
        raise GraderError(f"{where}: the reason is missing.\nThe student reads it on the card: say why in a few words")
    return Adjustment(cells["student"], assignment, points, reason, shown(cells.get("staff", "")), where)


def _points(text: str, where: str) -> float:
    plain = text.replace("\u2212", "-").replace(",", ".").replace(" ", "")
    try:
        points = float(plain or "0")
    except ValueError:
        points = math.nan
    if not math.isfinite(points) or "_" in plain or abs(points) >= 1e6:  # noqa: PLR2004
        raise GraderError(f'{where}: expected points such as 5 or -2.5 (0 for a comment), got "{shown(text, 40)}"')
    return round(points, 2)
