"""`grader similar`: submissions that share long pieces of code, for staff to look at."""

from pathlib import Path

import click
from rich.markup import escape

from grader.base.counted import counted
from grader.base.layout import find_layout
from grader.base.names import shown
from grader.commands.common import build_option, make_console, out_option
from grader.course.anonymous import view_of
from grader.model.assignment import load_assignment
from grader.pages.environment import make_environment
from grader.pages.publish import open_journal, shown_whole
from grader.pages.similar import SimilarPages, state_of, works

_SHOWN = 5


@click.command(short_help="Lists submissions that share long pieces of code.")
@out_option
@click.option(
    "--threshold",
    type=click.IntRange(10, 100),
    default=50,
    show_default=True,
    metavar="PERCENT",
    help="The least part of one's own code that a listed pair shares.",
)
@build_option
def similar(out: Path, threshold: int, build: Path | None) -> None:
    """Compares the submissions of each assignment, and writes DIR/staff/similar.html: pairs, each side by side.

    It is a pointer to look, never a verdict. Names, numbers, comments and layout are ignored; the stub's code, and what
    many of the class have, are left out. Nothing is run. The pages have names and code: they are for staff only.

    \b
    Example:
      grader similar --out out/week4
    """
    console, layout = make_console(), find_layout(build)
    journal = open_journal(out)
    try:
        view = view_of(journal)
        pages = SimilarPages(make_environment(layout.templates), out, threshold / 100)
        states = []
        for name in journal.assignments():
            records = view.records(journal.attempts(name))
            states.append(state_of(name, records))
            last = {record.folder: record for record in records}
            wholes = (shown_whole(journal, view, record) for record in last.values())
            likeness = pages.add(load_assignment(layout.assignment(name)), works(wholes))
            pairs, groups = len(likeness.pairs) + likeness.more, len(likeness.groups)
            console.print(
                f"[bold]{escape(likeness.assignment.title)}[/]  {counted(likeness.submissions, 'submission')}, "
                f"{counted(groups, 'group')} with the same code, {counted(pairs, 'pair')} to look at",
                highlight=False,
                soft_wrap=True,
            )
            for alike in likeness.pairs[:_SHOWN]:
                names = f"{shown(alike.first, 40)} and {shown(alike.second, 40)}"
                console.print(f"  {alike.pair.share:4.0%}  {escape(names)}", highlight=False, soft_wrap=True)
    finally:
        journal.close()
    path = pages.finish(states)
    console.print(escape(str(path)), highlight=False, soft_wrap=True)
