"""What Gradescope gives its autograder: the submission's files, and the file with metadata.

The metadata is Gradescope's, with names and results in it that students chose; any part may be missing.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grader.base.files import FileError, read_regular
from grader.base.names import shown
from grader.intake import handin
from grader.intake.disk import disk_tree
from grader.intake.handin import HandIn
from grader.model.discovery import Wanted
from grader.model.handed import Handed
from grader.model.roster import Student

METADATA = "submission_metadata.json"
_MOST_METADATA = 64 << 20  # it contains the results of earlier submissions
_MOST_USERS = 50


class NotHandedInError(Exception):
    """There is no file to grade; the text tells the student why."""


@dataclass(frozen=True)
class Metadata:
    """What is known of the submission. `total_points` is None where Gradescope doesn't say."""

    student: Student
    handed: Handed
    total_points: float | None
    previous: tuple[dict[str, Any], ...]  # time, score and whether the autograder failed, oldest first

    def extra_data(self) -> dict[str, Any]:
        """Data stored with the results."""
        return {"previous_submissions": list(self.previous), "total_points": self.total_points}


def find_source(folder: Path, wanted: Wanted) -> bytes:
    """The file to grade, by the rules for every hand-in (`intake.handin`); raises NotHandedInError."""
    with disk_tree(folder) as root:
        found = handin.find_source(HandIn("submission", (), tuple(root.children()), ""), wanted)
    if found.source is None:
        raise NotHandedInError(found.problem)
    return found.source


def read_metadata(path: Path) -> Metadata:
    """The metadata; empty for missing or unreadable parts."""
    try:
        document = _table(json.loads(read_regular(path, _MOST_METADATA)))
    except (OSError, FileError, ValueError, RecursionError):
        document = {}
    assignment = _table(document.get("assignment"))
    users = [_table(user) for user in _list(document.get("users"))[:_MOST_USERS]]
    students = tuple(_student(user) for user in users) or (Student(name="unknown"),)
    # A student's own dates, where an extension was given; a team's is the latest of its members'.
    dates = [_table(user.get("assignment")) for user in users]
    due = [date for each in (*dates, assignment) if (date := _time(each.get("due_date")))]
    handed_at = _time(document.get("created_at"))
    previous = tuple(_previous(_table(entry)) for entry in _list(document.get("previous_submissions")))
    return Metadata(
        student=students[0],
        handed=Handed(
            at=handed_at.isoformat(timespec="seconds") if handed_at else "",
            late=bool(handed_at and due and handed_at > max(due)),
            number=len(previous) + 1,
            group=students if len(students) > 1 else (),
            platform_id=shown(str(document.get("id", ""))),
        ),
        total_points=_number(assignment.get("total_points")),
        previous=previous,
    )


def _student(user: dict[str, Any]) -> Student:
    def text(key: str) -> str:
        value = user.get(key)
        return shown(value) if isinstance(value, str) else ""

    number = user.get("id")
    return Student(name=text("name") or "unknown", sid=text("sid"), email=text("email"), platform_id=shown(str(number)))


def _previous(entry: dict[str, Any]) -> dict[str, Any]:
    time = _time(entry.get("submission_time"))
    return {
        "at": time.isoformat(timespec="seconds") if time else "",
        "score": _number(entry.get("score")),
        "autograder_error": entry.get("autograder_error") is True,
    }


def _time(value: object) -> datetime | None:
    """A time with its zone, as UTC."""
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
        return time.astimezone(UTC) if time and time.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _number(value: object) -> float | None:
    """Gradescope writes points as text."""
    try:
        number = float(value) if isinstance(value, str | int | float) else None
    except ValueError:
        return None
    return number if number is not None and abs(number) < 1e9 else None  # noqa: PLR2004


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
