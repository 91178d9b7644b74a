"""The course's own files: where they are, their contents, and which ones were used last.

A run remembers the paths and contents of course.toml, adjustments.csv and times.csv. `grader report` reads them again
from there, so editing one is enough; if one is gone, its last contents are used.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.base.csv_files import decoded, parse_csv
from grader.base.errors import GraderError
from grader.base.files import FileError, read_regular
from grader.base.schema import Fields, SchemaError
from grader.course.adjustments import adjustments_from
from grader.course.policy import Policy, read_policy
from grader.course.ruling import Course
from grader.course.times import times_from
from grader.model.course_folder import ADJUSTMENTS, COURSE, TIMES

_LIMIT = 16 << 20
_NAMES = (COURSE, ADJUSTMENTS, TIMES)


@dataclass(frozen=True)
class CourseFile:
    """One of the files: its purpose, path and text. `is_gone`: it no longer exists and the text is the last known."""

    name: str
    path: Path
    text: str
    is_gone: bool = False


@dataclass(frozen=True)
class CourseFiles:
    """The files of one course, all optional; `place` is the folder or file that was named."""

    place: Path | None = None
    files: tuple[CourseFile, ...] = ()

    def text(self) -> str:
        """Serialized, for `remembered`."""
        files = {file.name: {"path": str(file.path), "text": file.text} for file in self.files}
        return json.dumps({"place": str(self.place or ""), "files": files}, ensure_ascii=False)

    def course(self, known: Sequence[str]) -> Course:
        """Their contents; `known` are the ids of all assignments. Raises GraderError."""
        found = {file.name: file for file in self.files}
        text, adjustments, times = found.get(COURSE), found.get(ADJUSTMENTS), found.get(TIMES)
        policy = read_policy(text.text, str(text.path), known) if text else Policy()
        zone = policy.zone if policy.has_zone else None
        return Course(
            policy,
            adjustments_from(parse_csv(adjustments.text, str(adjustments.path)), known) if adjustments else (),
            tuple(known),
            times_from(parse_csv(times.text, str(times.path)), known, zone) if times else (),
        )


def find_course(place: Path) -> CourseFiles:
    """The files in a folder, or a course.toml under any name with the others next to it."""
    place = place.absolute()
    folder = place if place.is_dir() else place.parent
    paths = {name: folder / name for name in _NAMES}
    if not place.is_dir():
        paths[place.name if place.name in (ADJUSTMENTS, TIMES) else COURSE] = place
    if not place.exists():
        raise GraderError(
            f"{place}: no such file or folder.\nType:  --course FOLDER      with one that holds a {COURSE}"
        )
    files = tuple(CourseFile(name, path, _text(path)) for name, path in paths.items() if path.exists())
    return CourseFiles(place, files)


def named_course(place: Path) -> CourseFiles:
    """Like `find_course`, for a path from the command line; raises GraderError if no course file is there."""
    found = find_course(place)
    if not found.files:
        raise GraderError(f"{place} has neither a {COURSE} nor an {ADJUSTMENTS} nor a {TIMES}")
    return found


def remembered(text: str) -> CourseFiles:
    """The files that the last run used, read again; raises GraderError."""
    if not text:
        return CourseFiles()
    try:
        document = Fields(json.loads(text), "journal")
        place = document.text("place")
        old = {
            name: CourseFile(name, Path(entry.text("path")), entry.text("text"), is_gone=True)
            for name, entry in document.named_tables("files").items()
        }
    except (SchemaError, ValueError) as error:
        raise GraderError(f"the journal's memory of the course's files is damaged: {error}") from error
    if not place:
        return CourseFiles()
    now = {file.name: file for file in find_course(Path(place)).files} if Path(place).exists() else {}
    both = old | now
    return CourseFiles(Path(place), tuple(both[name] for name in _NAMES if name in both))


def _text(path: Path) -> str:
    try:
        data = read_regular(path.resolve(), _LIMIT)  # an instructor's own file may be a link
        return decoded(data) if path.suffix == ".csv" else data.decode("utf-8-sig")
    except (OSError, FileError) as error:
        raise GraderError(f"{path} can't be read: {error}") from error
    except UnicodeDecodeError as error:
        raise GraderError(f"{path}: {error}.\nSave the file as UTF-8") from error
