"""``times.csv``: hand-in times that the platform's download lacks or has wrong.

With a column ``assignment`` the file covers a whole course and is read here. One without belongs to a download, and
`grader.intake.times` reads it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from grader.base.csv_files import CsvFile
from grader.base.errors import GraderError
from grader.base.names import shown
from grader.base.schema import SchemaError
from grader.course.amounts import read_moment
from grader.course.policy import check_assignment

COLUMNS = ("student", "assignment", "time", "attempt")
_NEEDED = COLUMNS[:3]


@dataclass(frozen=True)
class HandInTime:
    """When a student handed in an assignment, in UTC; `attempt` counts from 1, 0 is the last one.

    `student` is as written in the file, `where` is the file and the line.
    """

    student: str
    assignment: str
    at: datetime
    attempt: int
    where: str


def times_from(table: CsvFile, known: Sequence[str], zone: tzinfo | None) -> tuple[HandInTime, ...]:
    """The contents of times.csv; `known`: all assignments, `zone`: the course's. GraderError names the line."""
    if "assignment" not in [cell.strip().casefold() for cell in table.header]:
        return ()
    header = table.titles(COLUMNS, _NEEDED)
    return tuple(_time(table.name, header, line, row, known, zone) for line, row in table.rows)


def _time(
    name: str, header: list[str], line: int, row: list[str], known: Sequence[str], zone: tzinfo | None
) -> HandInTime:
    where = f"{name}: line {line}"
    cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
    if not cells.get("student"):
        raise GraderError(f"{where}: which student?\nWrite the id, the e-mail address, the login or the name")
    attempt = cells.get("attempt", "") or "0"
    if not attempt.isascii() or not attempt.isdecimal() or len(attempt) > 4:  # noqa: PLR2004
        raise GraderError(f'{where}: attempt: expected 1, 2 or so, or nothing for the last, got "{shown(attempt, 40)}"')
    try:
        check_assignment(cells.get("assignment", ""), known, where)
        at = read_moment(cells.get("time", ""), zone, where)
    except SchemaError as error:
        raise GraderError(str(error)) from error
    return HandInTime(cells["student"], cells["assignment"], at, int(attempt), where)
