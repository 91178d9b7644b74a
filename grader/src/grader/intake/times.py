"""Hand-in times: from times.csv, which a person writes, and from Moodle's worksheet.

times.csv has a line for a submission or a student: ``submission`` or ``student``, ``time``, and optionally
``extended``, the date to which the platform extended the deadline. A CSV of submissions from Canvas's API is read too:
``user_id``, ``submitted_at``, ``late``; of several lines for a student the latest counts. Times in file names are read
with the names. A file with a column ``assignment`` covers a whole course, and `grader.course.times` reads it whenever
grades are computed.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path
from typing import Protocol

from grader.base.cells import plain_cell
from grader.base.csv_files import read_csv
from grader.base.errors import GraderError
from grader.intake.handin import HandIn, Who
from grader.intake.matching import Matcher
from grader.intake.moments import moment, status
from grader.model.course_folder import TIMES
from grader.model.roster import Student, Told

WORKSHEET = "worksheet"
# The columns for the student and the time, in a person's terms and in those of platform APIs.
_WHOSE = (
    "submission", "student", "user id", "canvas user id", "sis user id", "sis login id", "login id", "login",
    "username", "email", "email address", "sid", "student id", "name", "student name", "full name",
)  # fmt: skip
_TIMES = ("time", "submitted at", "submission time", "submission date", "date submitted", "submitted", "timestamp")
_UNTIL = ("extended", "extended until", "extension")


@dataclass(frozen=True)
class Time:
    """One line's times: `at` and `extended` are UTC in ISO 8601, "" if the line has none."""

    at: str
    extended: str
    late: bool = False


class Owned(Protocol):
    """An owner with attempts, oldest first."""

    attempts: list[HandIn]

    @property
    def members(self) -> tuple[Student, ...]:
        """The students whose work the attempts are."""


def read_times(path: Path, matcher: Matcher, zone: tzinfo, labels: Collection[str]) -> Mapping[object, Time]:
    """The times in the file by submission or student; raises GraderError naming the line that can't be read."""
    if not path.exists():
        return {}
    table = read_csv(path)
    header = [re.sub(r"[\s_]+", " ", cell.strip().casefold()) for cell in table.header]
    if "assignment" in header:
        return {}
    whose = [one for one in header if one in _WHOSE]
    if not whose or not {*_TIMES, *_UNTIL} & set(header):
        raise GraderError(f"{path}: the first line must name the columns: submission,time  or  student,time,extended")
    is_own = bool({"submission", "student"} & set(header))
    found: dict[object, Time] = {}
    for line, row in table.rows:
        cells = {name: plain_cell(cell.strip()) for name, cell in zip(header, row, strict=False)}
        key = next((one for name in whose if (one := _key(cells.get(name, ""), matcher, labels)) is not None), None)
        text = next((cells[name] for name in whose if cells.get(name)), "")
        if is_own and text and key is None:
            raise GraderError(
                f'{path}: line {line}: "{text}" is no submission, and nobody on the roster.\n'
                "Write the submission's name as  grader match  shows it, or the student's id"
            )
        texts = [next((cells[name] for name in names if cells.get(name)), "") for names in (_TIMES, _UNTIL)]
        read = [moment(text, zone) for text in texts]
        for text, at in zip(texts, read, strict=True):
            if text and not at:
                raise GraderError(f'{path}: line {line}: "{text}" is no time.\nWrite it as  2026-11-20 23:59')
        if key is not None and read[0] >= (found[key].at if key in found else ""):
            found[key] = Time(read[0], read[1], cells.get("late", "").casefold() in ("true", "yes", "1", "late"))
    return found


def _key(text: str, matcher: Matcher, labels: Collection[str]) -> object:
    """The submission or the student; None if nobody matches."""
    if not text or text in labels:
        return text or None
    return matcher.find(Who(platform_id=text)) or matcher.find(Who(text=text))


def tell_times(
    owners: Collection[Owned], times: Mapping[object, Time], told: Mapping[Student, Told], zone: tzinfo
) -> None:
    """Sets the time of each owner's newest attempt from times.csv or the worksheet."""
    for owner in owners:
        newest = owner.attempts[-1]
        lines = [told[one] for one in owner.members if one in told]  # parses a platform's file
        if lines and not newest.at:
            late, extended = status(lines[0].status, zone)
            at = max((moment(one.modified, zone) for one in lines), default="")
            newest = replace(newest, at=at, late=late, extended=extended, source=WORKSHEET)
        own = times.get(newest.label) or next((times[one] for one in owner.members if one in times), None)
        if own:
            at = own.at or newest.at
            newest = replace(
                newest, at=at, late=newest.late or own.late, extended=own.extended or newest.extended, source=TIMES
            )
        owner.attempts[-1] = newest
