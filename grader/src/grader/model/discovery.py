"""A submission, and what is looked for in what a student handed in. `grader.intake` finds them."""

from dataclasses import dataclass, field
from pathlib import Path

from grader.base.names import slug
from grader.model.handed import Handed
from grader.model.roster import Student

MOST_BYTES = 1 << 20  # of one source file


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
