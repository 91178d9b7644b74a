"""How a submission was handed in, as the learning platform's download tells it."""

from dataclasses import dataclass
from typing import Any

from grader.base.schema import Fields, read
from grader.model.roster import Student

# How a submission found its student, the surest first: `Handed.matched`.
BY_HAND, NUMBER, SID, ADDRESS, LOGIN, FOLDER, NAME, GROUP = (
    "by hand", "number", "id", "address", "login", "folder", "name", "group",
)  # fmt: skip


@dataclass(frozen=True)
class Handed:
    """When, by whom, and where the file was in the download.

    `at` is UTC in ISO 8601, "" where nothing tells. `source` says what told `at` or `late`, for people ("times.csv",
    "the worksheet", "file names", "commits"); "" means that nothing tells whether it was late. `late` is the platform's
    own marker; with a source and no `at`, false means that the platform marks what is late, and did not mark this.
    `extended` is the later deadline that the platform itself granted, UTC in ISO 8601.

    `number` counts a student's attempts at one assignment from 1, oldest first. With `is_version`, attempts are states
    of one repository, and its student never said which one counts: the one that is worth most after lateness does.

    `group` holds all members of a team, and is empty for a student alone. `platform_id` is the platform's number for
    this hand-in's row (Moodle's participant). `origin` is the file's path in the download. `is_matched` is false where
    there is a roster and nobody on it fits; `nearest` are then the names that come closest, or those it is between.
    `matched` is the rule that found the student, one of the words above. `unused` says of each file that was found and
    not used why, in a sentence.
    """

    at: str = ""
    late: bool = False
    number: int = 1
    group: tuple[Student, ...] = ()
    platform_id: str = ""
    origin: str = ""
    is_matched: bool = True
    nearest: tuple[str, ...] = ()
    source: str = ""
    extended: str = ""
    is_version: bool = False
    matched: str = ""
    unused: tuple[str, ...] = ()


def handed_from(fields: Fields) -> Handed:
    """Reads what was written as JSON; raises SchemaError. What is younger than some journals may be missing."""
    group = tuple(student_from(entry) for entry in fields.tables("group"))
    nearest = tuple(entry.text("name") for entry in fields.tables("nearest"))
    younger = {name: fields.text(name, "") for name in ("source", "extended", "matched")}
    is_version, unused = fields.flag("is_version", False), fields.texts("unused")
    return read(Handed, fields, group=group, nearest=nearest, is_version=is_version, unused=unused, **younger)


def handed_document(handed: Handed) -> dict[str, Any]:
    """As plain JSON, for `handed_from`."""
    members = [vars(student) for student in handed.group]
    return vars(handed) | {"group": members, "nearest": [{"name": name} for name in handed.nearest]}


def student_from(fields: Fields) -> Student:
    """Reads a student that was written as JSON; raises SchemaError."""
    return read(Student, fields)
