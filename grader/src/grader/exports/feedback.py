"""Report cards for bulk return to students: a zip in the layout of a platform, with a page for each hand-in.

Platforms identify a student by names from their own download: Moodle by the participant's number in the folder name,
Canvas by the user and attachment numbers in the file name, Blackboard, Brightspace and Sakai by their folders. So a
card takes the path of the student's file, with `.html` appended.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.course.grades import StudentGrades
from grader.model.record import MISSING, Record

MOODLE, CANVAS, BLACKBOARD, BRIGHTSPACE, SAKAI = "moodle", "canvas", "blackboard", "brightspace", "sakai"
PLATFORMS = (MOODLE, CANVAS, BLACKBOARD, BRIGHTSPACE, SAKAI)
_TIME = (1980, 1, 1, 0, 0, 0)  # fixed, so that the same cards make the same zip
_CANVAS = re.compile(r"(?:[^/]*_)?\d+_\d+_.+")
_MOODLE = re.compile(r"(.*)_(\d+)_assignsubmission_(?:file|onlinetext)_?(?:/|$)")
_SAKAI, _SAKAI_FEEDBACK = "submission attachment(s)", "Feedback Attachment(s)"


@dataclass(frozen=True)
class Feedback:
    """The zip, the number of cards in it, and a sentence for each student without one."""

    data: bytes
    cards: int
    without: tuple[str, ...]


def feedback_zip(
    platform: str,
    assignment: str,
    grades: Sequence[StudentGrades],
    cards: Mapping[str, Path],
    numbers: Mapping[str, str],
) -> Feedback:
    """The cards of an assignment, given by folder; `numbers` maps ids and addresses to Moodle's participant numbers."""
    files: dict[str, bytes] = {}
    without: list[str] = []
    for one in grades:
        grade = one.assignments.get(assignment)
        record = grade.record if grade else None
        if record is None or record.status == MISSING:
            continue
        card = cards.get(record.folder)
        names = list(_names(platform, one, record, numbers)) if card and card.is_file() else []
        if not names:
            why = "no card: type  grader report" if not card or not card.is_file() else _why(platform)
            without.append(f"{one.student.name}: {why}")
        for name in names:
            if card:
                files.setdefault(name, card.read_bytes())
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return Feedback(data.getvalue(), len(files), tuple(without))


def _why(platform: str) -> str:
    if platform == MOODLE:
        return "the participant's number is not known: add  --like WORKSHEET.csv"
    return f"the hand-in has no name that {platform.capitalize()} gave it"


def _names(platform: str, one: StudentGrades, record: Record, numbers: Mapping[str, str]) -> Iterator[str]:
    origin = PurePosixPath(record.handed.origin)
    if platform == MOODLE:
        number = _number(one, record, numbers)
        name = re.sub(r"[_/\\]", " ", one.student.name).strip() or "student"
        if number:
            yield f"{name}_{number}_assignsubmission_file/{record.assignment} report card.html"
        return
    if platform == CANVAS:
        found = next((part for part in reversed(origin.parts) if _CANVAS.fullmatch(part)), "")
        if found:
            yield f"{PurePosixPath(found).stem}.html"
        return
    if platform == BLACKBOARD:
        if "_attempt_" in origin.name:
            yield f"{origin.stem}.html"
        return
    folder = list(origin.parts if not origin.suffix[1:].isalnum() else origin.parts[:-1])
    if platform == SAKAI:
        folder = [part for part in folder if part.casefold() != _SAKAI]
        folder += [_SAKAI_FEEDBACK] if folder else []
    name = f"{record.assignment} report card.html"
    if folder:
        yield str(PurePosixPath(*folder, name))
    elif " - " in origin.stem:  # Brightspace's files outside folders
        yield f"{origin.stem} - {name}"


def _number(one: StudentGrades, record: Record, numbers: Mapping[str, str]) -> str:
    """Moodle's number for the student in this assignment: from the worksheet, else from the path of the hand-in."""
    for key in (one.student.sid, one.student.email, one.student.login, one.student.name):
        if key and key.casefold() in numbers:
            return numbers[key.casefold()]
    found = _MOODLE.search(record.handed.origin)
    if found and not record.handed.group:
        return found[2]
    return "" if record.handed.group else record.handed.platform_id
