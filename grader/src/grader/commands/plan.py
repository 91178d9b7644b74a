"""Describes what a run is about to do, and why."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from grader.base.counted import counted, listed
from grader.base.secret import NAME
from grader.course.anonymous import View
from grader.course.kept import Merged
from grader.course.ledger import Change as GradeChange
from grader.course.ledger import Ledger
from grader.model.discovery import Submission
from grader.model.score import points_text
from grader.pages.publish import JOURNAL
from grader.running.bench import Bench
from grader.running.changes import KEPT, RUN, Change, changes, told
from grader.running.store import Journal

_MOST_NAMED = 8
_MOST_CHANGES = 15


@contextmanager
def folder_for(out: Path, secret: Path | None, *, dry_run: bool) -> Iterator[tuple[Path, Path | None]]:
    """The output folder (in a dry run, a temporary one with a copy of its journal), and the secret's file, if any."""
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
                shutil.copy(out / JOURNAL, copy / JOURNAL)  # a damaged one is reported when it is opened
        own = out / NAME
        yield copy, own if secret is None and own.is_file() else secret


def show_merged(console: Console, merged: Mapping[str, Merged], view: View, *, replaced: bool) -> None:
    """Says who was graded before, who is new, and who is missing in this download; silent for a first download."""
    for name, one in merged.items():
        _show_merged(console, name, one, view, replaced=replaced)


def _show_merged(console: Console, assignment: str, merged: Merged, view: View, *, replaced: bool) -> None:
    if not merged.before:
        return
    called = {one.folder: one.student.name for one in merged.submissions} | {
        one.folder: one.student.name for one in merged.before
    }

    def some(folders: Sequence[str]) -> str:
        names = [called.get(folder, folder) for folder in folders]
        if view.is_anonymous:  # the order of a download would reveal names
            names = sorted(view.folder(folder) for folder in folders)
        return f"{len(names)}: {listed(names, _MOST_NAMED)}"

    lines = [f"  New: {some(merged.new)}"] if merged.new else []
    lines += [f"  Handed in again: {some(merged.again)}"] if merged.again else []
    if merged.kept:
        lines.append(f"  Not in this download, grades kept: {some(merged.kept)}. --replace would drop them")
    if merged.fixed:
        folders = dict.fromkeys(one.folder for one in merged.fixed)
        lines.append(f"  Results kept, but without their files, so they can't be graded again: {some(list(folders))}")
    if merged.dropped and replaced:
        lines.append(f"  Not in this download, dropped: {some(merged.dropped)}")
    if lines:
        console.print(
            f"[bold]{escape(assignment)}[/]: {merged.graded_before} graded before", highlight=False, soft_wrap=True
        )
    for line in lines:
        console.print(escape(line), highlight=False, soft_wrap=True)


def show_changes(console: Console, urgent: Console, ledger: Ledger, view: View) -> None:
    """Names the grades that the run changed, and those kept because the new ones would be lower."""
    if ledger.changed:
        console.print(f"[bold]Changed[/]: {counted(len(ledger.changed), 'grade')}", highlight=False, soft_wrap=True)
        _show(console, ledger.changed, view)
    if ledger.held:
        urgent.print(
            f"[magenta]Kept as they were[/]: {counted(len(ledger.held), 'grade')} that would be lower, or gone",
            highlight=False,
            soft_wrap=True,
        )
        _show(urgent, ledger.held, view)
        urgent.print("To take them too, type the same command with --replace", highlight=False, soft_wrap=True)


def _show(console: Console, changes: Sequence[GradeChange], view: View) -> None:
    if view.is_anonymous:
        changes = sorted(changes, key=lambda one: view.folder(one.folder))
    for one in changes[:_MOST_CHANGES]:
        whose = view.folder(one.folder) if view.is_anonymous else one.student
        after = "–" if one.after is None else points_text(one.after)
        text = f"  {whose}  {one.assignment}  {points_text(one.before)} → {after}: {one.why}"
        console.print(escape(text), highlight=False, soft_wrap=True)
    if len(changes) > _MOST_CHANGES:
        console.print(f"  … and {len(changes) - _MOST_CHANGES} more", highlight=False)


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
    """Prints what there is to do for one assignment and returns it; with `whole`, one line per submission."""
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
