"""How a submission was handed in, as the learning platform's download tells it."""

from dataclasses import dataclass
from typing import Any

from grader.base.schema import Fields, read
from grader.model.roster import Student


@dataclass(frozen=True)
class Handed:
    """When, by whom, and where the file was in the download.

    `at` is UTC in ISO 8601, "" where nothing tells; `late` is the platform's own marker. `number` counts a student's
    attempts at one assignment from 1, oldest first. `group` holds all members of a team, and is empty for a student
    alone. `platform_id` is the platform's number for this hand-in's row (Moodle's participant). `origin` is the file's
    path in the download. `is_matched` is false where there is a roster and nobody on it fits; `nearest` are then the
    names that come closest.
    """

    at: str = ""
    late: bool = False
    number: int = 1
    group: tuple[Student, ...] = ()
    platform_id: str = ""
    origin: str = ""
    is_matched: bool = True
    nearest: tuple[str, ...] = ()


def handed_from(fields: Fields) -> Handed:
    """Reads what was written as JSON; raises SchemaError."""
    group = tuple(student_from(entry) for entry in fields.tables("group"))
    nearest = tuple(entry.text("name") for entry in fields.tables("nearest"))
    return read(Handed, fields, group=group, nearest=nearest)


def handed_document(handed: Handed) -> dict[str, Any]:
    """As plain JSON, for `handed_from`."""
    members = [vars(student) for student in handed.group]
    return vars(handed) | {"group": members, "nearest": [{"name": name} for name in handed.nearest]}


def student_from(fields: Fields) -> Student:
    """Reads a student that was written as JSON; raises SchemaError."""
    return read(Student, fields)
