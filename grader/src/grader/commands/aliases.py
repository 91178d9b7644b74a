"""Results under aliases: the option, and the messages while a class is graded."""

from dataclasses import replace

import click
from rich.console import Console
from rich.markup import escape

from grader.course.anonymous import View, view_of
from grader.model.discovery import Submission
from grader.model.record import Record
from grader.pages.publish import Published
from grader.running.progress import Progress
from grader.running.store import Journal

anonymous_option = click.option(
    "--anonymous/--names",
    default=None,
    help="Show aliases instead of names, from now on until --names.  [default: as in the last run]",
)


class Shown:
    """Forwards progress on submissions under the names of a view."""

    def __init__(self, progress: Progress, view: View) -> None:
        """`progress` receives the submissions as the view shows them."""
        self._progress = progress
        self._view = view

    def _submission(self, submission: Submission) -> Submission:
        return replace(submission, folder=self._view.folder(submission.folder))

    def on_stage(self, submission: Submission, stage: str) -> None:
        """A submission enters a stage."""
        self._progress.on_stage(self._submission(submission), stage)

    def on_tests(self, submission: Submission, ended: int, total: int) -> None:
        """Called with the number of its tests that have ended."""
        self._progress.on_tests(self._submission(submission), ended, total)

    def on_record(self, record: Record, *, cached: bool) -> None:
        """A submission is done."""
        self._progress.on_record(self._view.record(record), cached=cached)


def show_names(console: Console, published: Published) -> None:
    """Says where the real names are while aliases are shown."""
    if published.names is not None:
        console.print(
            f"Aliases are shown; {escape(str(published.names))} has the names. To show names:  "
            f"grader report --out {escape(str(published.index.parent))} --names",
            highlight=False,
            soft_wrap=True,
        )


def show_named(console: Console, journal: Journal) -> None:
    """Warns that the following output has names although results are shown under aliases."""
    if view_of(journal).is_anonymous:
        console.print(
            "Results are shown under aliases; files for platforms have the real names.", highlight=False, soft_wrap=True
        )
