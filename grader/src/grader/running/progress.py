"""Who watches the grading."""

from typing import Protocol

from grader.model.discovery import Submission
from grader.model.record import Record


class Progress(Protocol):
    """Who watches the grading. Calls come from several threads."""

    def on_stage(self, submission: Submission, stage: str) -> None:
        """A submission enters a stage: building, running, retrying."""

    def on_tests(self, submission: Submission, ended: int, total: int) -> None:
        """Called with the number of its tests that have ended."""

    def on_record(self, record: Record, *, cached: bool) -> None:
        """A submission is done; `cached` where the journal had it already."""


class Quiet:
    """A watcher that says nothing."""

    def on_stage(self, submission: Submission, stage: str) -> None:
        """Nothing."""

    def on_tests(self, submission: Submission, ended: int, total: int) -> None:
        """Nothing."""

    def on_record(self, record: Record, *, cached: bool) -> None:
        """Nothing."""
