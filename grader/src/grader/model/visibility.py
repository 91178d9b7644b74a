"""What students may see of a test or a criterion, and when.

Only the standard library is used here: students run it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase

VISIBLE, AFTER_DEADLINE, HIDDEN = "visible", "after the deadline", "hidden"
VISIBILITIES = (VISIBLE, AFTER_DEADLINE, HIDDEN)
_HIDDEN_SUITES = "Hidden"  # prefix of suites that only the instructor has


@dataclass(frozen=True)
class TestVisibility:
    """An entry of `[[visibility]]`: what students see of the tests that match one of its globs.

    `title` and `hint` replace a hidden test's name and message; "" uses the card's defaults.
    """

    __test__ = False  # not for pytest

    tests: tuple[str, ...]
    shown: str
    title: str = ""
    hint: str = ""

    def fits(self, test_name: str) -> bool:
        """Whether this entry applies to the test."""
        return any(fnmatchcase(test_name, glob) for glob in self.tests)


def find_visibility(entries: Sequence[TestVisibility], test_name: str) -> TestVisibility:
    """The first entry that matches a test's full name; without one, only suites named Hidden… are hidden."""
    found = next((entry for entry in entries if entry.fits(test_name)), None)
    if found is not None:
        return found
    suite = test_name.partition(".")[0].rpartition("/")[2]  # an instantiation prefix ends with a slash
    return TestVisibility((), HIDDEN if suite.startswith(_HIDDEN_SUITES) else VISIBLE)


def is_open(visibility: str, *, deadline: datetime | None, now: datetime) -> bool:
    """Whether students see it now. Without a deadline, AFTER_DEADLINE never opens."""
    if visibility == AFTER_DEADLINE:
        return deadline is not None and now > deadline
    return visibility == VISIBLE
