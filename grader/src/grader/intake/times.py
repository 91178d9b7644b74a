"""When each hand-in came: times.csv, which a person writes, and what Moodle's worksheet says beside its names.

times.csv has a line for a submission or a student: ``submission`` or ``student``, ``time``, and if need be
``extended``, until when the platform gave more time. Other sources are read where the names are. One with a column
``assignment`` is about a whole course, and `grader.course.times` reads it whenever grades are computed.
"""

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


@dataclass(frozen=True)
class Time:
    """UTC in ISO 8601, "" where the line has none."""

    at: str
    extended: str


class Owned(Protocol):
    """Somebody's attempts, oldest first."""

    attempts: list[HandIn]

    @property
    def members(self) -> tuple[Student, ...]:
        """Whose they are."""


def read_times(path: Path, matcher: Matcher, zone: tzinfo, labels: Collection[str]) -> Mapping[object, Time]:
    """The times in the file by submission or student; raises GraderError naming the line that can't be read."""
    if not path.exists():
        return {}
    table = read_csv(path)
    header = [cell.strip().casefold() for cell in table.header]
    if "assignment" in header:
        return {}
    if not {"submission", "student"} & set(header) or not {"time", "extended"} & set(header):
        raise GraderError(f"{path}: the first line must name the columns: submission,time  or  student,time,extended")
    found: dict[object, Time] = {}
    for line, row in table.rows:
        cells = {name: plain_cell(cell.strip()) for name, cell in zip(header, row, strict=False)}
        whose = cells.get("submission") or cells.get("student", "")
        key: object = whose if whose in labels else matcher.find(Who(text=whose))
        if whose and key is None:
            raise GraderError(
                f'{path}: line {line}: "{whose}" is no submission, and nobody on the roster.\n'
                "Write the submission's name as  grader match  shows it, or the student's id"
            )
        texts = [cells.get(name, "") for name in ("time", "extended")]
        read = [moment(text, zone) for text in texts]
        for text, at in zip(texts, read, strict=True):
            if text and not at:
                raise GraderError(f'{path}: line {line}: "{text}" is no time.\nWrite it as  2026-11-20 23:59')
        if whose:
            found[key] = Time(*read)
    return found


def tell_times(
    owners: Collection[Owned], times: Mapping[object, Time], told: Mapping[Student, Told], zone: tzinfo
) -> None:
    """Gives each owner's newest attempt the time that a person or the worksheet says."""
    for owner in owners:
        newest = owner.attempts[-1]
        lines = [told[one] for one in owner.members if one in told]
        if lines and not newest.at:
            late, extended = status(lines[0].status, zone)
            at = max((moment(one.modified, zone) for one in lines), default="")
            newest = replace(newest, at=at, late=late, extended=extended, source=WORKSHEET)
        own = times.get(newest.label) or next((times[one] for one in owner.members if one in times), None)
        if own:
            at = own.at or newest.at
            newest = replace(newest, at=at, extended=own.extended or newest.extended, source=TIMES)
        owner.attempts[-1] = newest
