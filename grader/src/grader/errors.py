"""The ways in which the grader itself gives up."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.result import SuiteResult


class GraderError(Exception):
    """Something the person at the keyboard can mend; its text says what to type next."""


class InfrastructureError(Exception):
    """The harness failed on one submission: retried, reported, never scored as the student's fault.

    `result` is what the judge had found by then, where it said so.
    """

    def __init__(self, message: str, result: "SuiteResult | None" = None) -> None:
        """`message` says what failed."""
        super().__init__(message)
        self.result = result


class OverrunError(InfrastructureError):
    """The submission made the judge take more memory or time than it may: its fault, and not tried again."""
