"""Finds the submissions in a folder that strangers filled.

Two layouts are accepted: one folder for each student (``lovelace_ada/reduction.cu``, also
``lovelace_ada/04_reduction/reduction.cu`` and ``lovelace_ada/04_reduction-reduction.cu``), and flat files
(``lovelace_ada.cu``). A folder may hold files of several assignments. Names are shown only after `names`
has cleaned them. Nothing is opened through a symbolic link: each step goes down by descriptor, so a folder that is
swapped for a link meanwhile isn't followed either. A rejected file is reported as a problem of that submission.
"""

import os
import stat
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.errors import GraderError
from grader.base.files import FileError, read_regular
from grader.base.names import distinct, fingerprint, shown, slug
from grader.model.handed import Handed
from grader.model.roster import ROSTER, Student, match, read_roster

MOST_BYTES = 1 << 20  # of one source file
_MOST_ENTRIES = 20_000
_JUNK = {"__MACOSX", ROSTER}


@dataclass(frozen=True)
class Submission:
    """One student's file for one assignment.

    Either `source` holds its bytes, or `problem` says why there are none; `refused` tells a file that was not taken
    from one that isn't there.
    """

    folder: str
    student: Student
    source: bytes | None
    problem: str = ""
    refused: bool = False
    handed: Handed = field(default_factory=Handed)

    @property
    def slug(self) -> str:
        """What files about this submission are called."""
        return slug(self.folder)


@dataclass(frozen=True)
class Wanted:
    """What is looked for: an assignment's file. `others` are the file names and ids of the other assignments."""

    assignment: str
    file_name: str
    others: frozenset[str] = frozenset()

    @property
    def suffix(self) -> str:
        """How files of this kind end."""
        return Path(self.file_name).suffix

    def is_of_another(self, name: str) -> bool:
        """Whether a file belongs to another assignment by its name."""
        return name in self.others or name.partition("-")[0] in self.others


def find_submissions(folder: Path, wanted: Wanted, roster_path: Path | None = None) -> list[Submission]:
    """All submissions in `folder`, by name, then students of the roster who handed in nothing.

    Raises GraderError where the folder itself can't be read.
    """
    try:
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise GraderError(
            f"{folder}: {error.strerror}.\nType:  grader grade PATH      with a folder that holds one folder a student"
        ) from error
    try:
        return _find(directory, folder, wanted, roster_path)
    finally:
        os.close(directory)


def _find(directory: int, folder: Path, wanted: Wanted, roster_path: Path | None) -> list[Submission]:
    names = sorted(name for name in os.listdir(directory) if not name.startswith(".") and name not in _JUNK)
    if len(names) > _MOST_ENTRIES:
        raise GraderError(f"{folder} has {len(names):,} entries; at most {_MOST_ENTRIES:,} are accepted at once")
    has_roster = ROSTER in os.listdir(directory)
    roster = read_roster(roster_path or folder / ROSTER) if roster_path or has_roster else []
    suffix = wanted.suffix
    entries = set(names)
    taken: set[str] = set()
    found: list[Submission] = []
    for name in names:
        status = _lstat(name, directory)
        if status is None or (stat.S_ISREG(status.st_mode) and not name.endswith(suffix)):
            continue  # gone meanwhile; a read-me, a spreadsheet: no submission
        stem = name.removesuffix(suffix)
        readable = shown(_readable(stem))
        person = distinct(readable, stem)
        # plain.cu beside a folder plain keeps its suffix: both are somebody's work.
        keeps = suffix if stem != name and stem in entries else ""
        unique = _apart(person + keeps, name, taken)
        student = match(readable, roster) or Student(name=unique.removesuffix(keeps))
        found.append(_submission(directory, name, unique, student, wanted))
    return found + _absent(roster, found)


def _apart(folder: str, name: str, taken: set[str]) -> str:
    """`folder`, with a hash behind it where another one looks the same; `taken` is added to."""
    if unicodedata.normalize("NFC", folder) in taken:
        folder = f"{folder} {fingerprint(name, 16)}"
    taken.add(unicodedata.normalize("NFC", folder))
    return folder


def shared_students(found: Sequence[Submission]) -> list[list[Submission]]:
    """Submissions of one and the same student: all of them are graded, and a person has to choose."""
    own: dict[Student, list[Submission]] = {}
    for submission in found:
        own.setdefault(submission.student, []).append(submission)
    return [group for group in own.values() if len(group) > 1]


def _absent(roster: list[Student], found: list[Submission]) -> list[Submission]:
    present = {submission.student for submission in found}
    taken = {unicodedata.normalize("NFC", submission.folder) for submission in found}
    absent = []
    for student in dict.fromkeys(roster):  # a line that is there twice is one student
        if student not in present:
            folder = _apart(student.folder or student.sid or student.name, repr(student), taken)
            absent.append(Submission(folder, student, None, "nothing was submitted"))
    return absent


def _submission(directory: int, name: str, folder: str, student: Student, wanted: Wanted) -> Submission:
    try:
        source = _source(directory, name, wanted)
    except FileNotFoundError:
        return Submission(folder, student, None, f"there is no {wanted.file_name} in this folder")
    except FileError as problem:
        return Submission(folder, student, None, shown(_readable(str(problem)), 300), refused=True)
    except OSError as error:
        return Submission(folder, student, None, f"it can't be read: {error.strerror}", refused=True)
    return Submission(folder, student, source)


def _source(directory: int, name: str, wanted: Wanted) -> bytes:
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        raise FileError(f"{name} is a symbolic link; links are not followed")
    if not stat.S_ISDIR(status.st_mode):
        return read_regular(name, MOST_BYTES, dir_fd=directory)
    inner = _open_folder(name, directory)
    try:
        nested = _lstat(wanted.assignment, inner)
        if nested is not None and stat.S_ISDIR(nested.st_mode):
            nested_fd = _open_folder(wanted.assignment, inner)
            try:
                return _file_in(nested_fd, wanted)
            finally:
                os.close(nested_fd)
        return _file_in(inner, wanted)
    finally:
        os.close(inner)


def _file_in(directory: int, wanted: Wanted) -> bytes:
    """The expected file, with the assignment's name before it or not; else the folder's only file of that kind.

    Students rename files, portals too. What is another assignment's by its name is not taken for it.
    """
    for name in (wanted.file_name, f"{wanted.assignment}-{wanted.file_name}"):
        if _lstat(name, directory) is not None:
            return read_regular(name, MOST_BYTES, dir_fd=directory)
    others = [name for name in os.listdir(directory) if name.endswith(wanted.suffix) and not name.startswith(".")]
    own = [name for name in others if not wanted.is_of_another(name)]
    if len(own) != 1:
        raise FileNotFoundError(wanted.file_name)
    return read_regular(own[0], MOST_BYTES, dir_fd=directory)


def _open_folder(name: str, directory: int) -> int:
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    except OSError as error:
        raise FileError(f"{name} can't be opened: {error.strerror}") from error


def _lstat(name: str, directory: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return None


def _readable(name: str) -> str:
    """A file name as text: bytes that are no UTF-8 become U+FFFD."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
