"""What a student may see of a test or a criterion, and from when on.

Only the standard library is used here: students run it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase

VISIBLE, AFTER_DEADLINE, HIDDEN = "visible", "after the deadline", "hidden"
VISIBILITIES = (VISIBLE, AFTER_DEADLINE, HIDDEN)
_HIDDEN_SUITES = "Hidden"  # how the names of suites begin that only the instructor has


@dataclass(frozen=True)
class TestVisibility:
    """An entry of `[[visibility]]`: what students see of the tests that one of the globs fits.

    `title` and `hint` are shown in place of a hidden test's name and message; "" leaves them to the card.
    """

    __test__ = False  # not for pytest

    tests: tuple[str, ...]
    shown: str
    title: str = ""
    hint: str = ""

    def fits(self, test_name: str) -> bool:
        """Whether this entry is about the test."""
        return any(fnmatchcase(test_name, glob) for glob in self.tests)


def find_visibility(entries: Sequence[TestVisibility], test_name: str) -> TestVisibility:
    """The first entry that fits a test's full name; without one, only suites named Hidden… are hidden."""
    found = next((entry for entry in entries if entry.fits(test_name)), None)
    if found is not None:
        return found
    suite = test_name.partition(".")[0].rpartition("/")[2]  # an instantiation's name comes before a slash
    return TestVisibility((), HIDDEN if suite.startswith(_HIDDEN_SUITES) else VISIBLE)


def is_open(visibility: str, *, deadline: datetime | None, now: datetime) -> bool:
    """Whether students see it now. Without a deadline, what opens after one stays closed."""
    if visibility == AFTER_DEADLINE:
        return deadline is not None and now > deadline
    return visibility == VISIBLE
