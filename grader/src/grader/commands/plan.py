"""Says what a run is about to do, and why."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from grader.base.counted import counted
from grader.course.anonymous import View
from grader.model.discovery import Submission
from grader.running.bench import Bench
from grader.running.changes import KEPT, RUN, Change, changes, told
from grader.running.store import Journal


def show_plan(
    console: Console,
    bench: Bench,
    submissions: Sequence[Submission],
    journal: Journal,
    view: View,
    *,
    whole: bool,
    again: bool,
) -> list[Change]:
    """Says what is to be done for one assignment and returns it; with `whole`, each submission has a line."""
    made = list(changes(bench, submissions, journal, again=again))
    todo = [change for change in made if change.what != KEPT]
    lines = told(bench, made)
    if whole and todo and not lines:
        lines = [f"{counted(len(todo), 'submission')} not graded before"]
    for line in lines:
        console.print(f"[bold]{escape(bench.assignment.id)}[/]: {escape(line)}", highlight=False, soft_wrap=True)
    for change in todo if whole else ():
        how = "" if change.what == RUN else "  [dim]without a run[/]"
        console.print(f"  {escape(view.folder(change.submission.folder))}{how}", highlight=False, soft_wrap=True)
    return todo
