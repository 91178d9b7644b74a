"""Says what a run is about to do, and why."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from grader.base.counted import counted
from grader.base.secret import NAME
from grader.course.anonymous import View
from grader.model.discovery import Submission
from grader.pages.publish import JOURNAL
from grader.running.bench import Bench
from grader.running.changes import KEPT, RUN, Change, changes, told
from grader.running.store import Journal


@contextmanager
def folder_for(out: Path, secret: Path | None, *, dry_run: bool) -> Iterator[tuple[Path, Path | None]]:
    """The output folder, and the secret's file if one is named; for a dry run a copy that is gone after it."""
    if not dry_run:
        yield out, secret
        return
    with tempfile.TemporaryDirectory(prefix="lockstep-dry-run-") as folder:
        copy = Path(folder)
        if (out / JOURNAL).is_file():
            try:
                with closing(sqlite3.connect(out / JOURNAL)) as there, closing(sqlite3.connect(copy / JOURNAL)) as here:
                    there.backup(here)
            except sqlite3.DatabaseError:
                shutil.copy(out / JOURNAL, copy / JOURNAL)  # a damaged one: who opens it says so
        own = out / NAME
        yield copy, own if secret is None and own.is_file() else secret


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
