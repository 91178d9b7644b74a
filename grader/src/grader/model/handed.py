"""How a submission was handed in, according to the learning platform's download."""

from dataclasses import dataclass
from typing import Any

from grader.base.schema import Fields, read
from grader.model.roster import Student

# How a submission's student was found (`Handed.matched`), most reliable first.
BY_HAND, NUMBER, SID, ADDRESS, LOGIN, FOLDER, NAME, GROUP = (
    "by hand", "number", "id", "address", "login", "folder", "name", "group",
)  # fmt: skip


@dataclass(frozen=True)
class Handed:
    """When, by whom, and where the file was in the download.

    `at` is UTC in ISO 8601, "" if unknown. `source` says where `at` or `late` comes from, for people ("times.csv", "the
    worksheet", "file names", "commits"); "" means that lateness is unknown. `late` is the platform's own marker; with a
    source and no `at`, false means that the platform marks what is late, and did not mark this. `extended` is the later
    deadline that the platform itself granted, UTC in ISO 8601.

    `number` counts a student's attempts at one assignment from 1, oldest first. With `is_version`, attempts are states
    of one repository, and the student never chose one: the one with most points after lateness counts.

    `group` holds all members of a team, and is empty for a student alone. `platform_id` is the platform's number for
    this hand-in's row (Moodle's participant). `origin` is the file's path in the download. `is_matched` is false if
    there is a roster and nobody on it fits; `nearest` are then the closest names, or the candidates. `matched` is the
    rule that found the student, one of the words above. `unused` has a sentence for each unused file, saying why.
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
    """Reads the JSON form; raises SchemaError. Fields newer than some journals may be missing."""
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
    """Reads a student's JSON form; raises SchemaError."""
    return read(Student, fields)
