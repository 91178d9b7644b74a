"""A submission, and the description of the file to find. `grader.intake` finds them."""

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.base.names import slug
from grader.model.handed import Handed
from grader.model.roster import Student

MOST_BYTES = 1 << 20  # per source file


@dataclass(frozen=True)
class Submission:
    """One student's file for one assignment.

    Either `source` holds its bytes, or `problem` says why there are none; `refused` distinguishes a rejected file from
    a missing one.
    """

    folder: str
    student: Student
    source: bytes | None
    problem: str = ""
    refused: bool = False
    handed: Handed = field(default_factory=Handed)

    @property
    def slug(self) -> str:
        """The stem of file names for this submission."""
        return slug(self.folder)


@dataclass(frozen=True)
class Wanted:
    """An assignment's file to find. `others` are the file names and ids of the other assignments.

    `provided` are the files that students get with it, by name; `stub` is their starting point. `takes` are globs on
    the names of files that the submission may include; if empty, all are allowed.
    """

    assignment: str
    file_name: str
    others: frozenset[str] = frozenset()
    provided: Mapping[str, bytes] = field(default_factory=dict)
    stub: bytes = b""
    takes: tuple[str, ...] = ()

    def is_taken(self, name: str) -> bool:
        """Whether the submission may include a file of this name."""
        return not self.takes or any(fnmatch.fnmatchcase(name, one) for one in (self.file_name, *self.takes))

    def is_stub(self, source: bytes | None) -> bool:
        """Whether nothing was written: the file equals the stub except for white space."""
        return source is not None and bool(self.stub) and source.split() == self.stub.split()

    def given_by(self, folder: Path) -> "Wanted":
        """A copy with the files that students get, from the assignment's folder."""
        files = {path.name: path for path in folder.iterdir() if path.is_file() and path.stat().st_size <= MOST_BYTES}
        stub = files.pop(self.file_name, None)
        provided = {name: path.read_bytes() for name, path in files.items()}
        return replace(self, provided=provided, stub=stub.read_bytes() if stub else b"")

    @property
    def suffix(self) -> str:
        """The file extension of submissions."""
        return Path(self.file_name).suffix

    def is_of_another(self, name: str) -> bool:
        """Whether a file's name says that it belongs to another assignment."""
        return name in self.others or name.partition("-")[0] in self.others
