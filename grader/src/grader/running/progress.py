"""Interface for observers of grading."""

from typing import Protocol

from grader.model.discovery import Submission
from grader.model.record import Record


class Progress(Protocol):
    """Observes grading. Calls come from several threads."""

    def on_stage(self, submission: Submission, stage: str) -> None:
        """A submission enters a stage: building, running, retrying."""

    def on_tests(self, submission: Submission, ended: int, total: int) -> None:
        """Called with the number of finished tests."""

    def on_record(self, record: Record, *, cached: bool) -> None:
        """A submission is done; `cached` if its result was in the journal."""


class Quiet:
    """An observer that does nothing."""

    def on_stage(self, submission: Submission, stage: str) -> None:
        """Does nothing."""

    def on_tests(self, submission: Submission, ended: int, total: int) -> None:
        """Does nothing."""

    def on_record(self, record: Record, *, cached: bool) -> None:
        """Does nothing."""
