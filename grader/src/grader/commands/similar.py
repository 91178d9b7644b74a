"""`grader similar`: submissions that share long pieces of code, for staff to look at."""

from pathlib import Path

import click
from rich.markup import escape

from grader.base.counted import counted
from grader.base.layout import Layout, find_layout
from grader.base.names import fingerprint, shown
from grader.commands.common import build_option, make_console, out_option
from grader.commands.match import wanted_of
from grader.course.anonymous import view_of
from grader.intake.download import open_class
from grader.model.assignment import Assignment, load_assignment
from grader.pages.environment import make_environment
from grader.pages.publish import JOURNAL, open_journal, shown_whole
from grader.pages.similar import SimilarPages, Work, state_of, works

_SHOWN = 5


@click.command(short_help="Lists submissions that share long pieces of code.")
@out_option
@click.option(
    "--threshold",
    type=click.IntRange(10, 100),
    default=50,
    show_default=True,
    metavar="PERCENT",
    help="List pairs in which one submission shares at least this part of its code with the other.",
)
@click.option(
    "--earlier",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    metavar="DIR",
    help="An earlier class: the folder of its results, or of its submissions; repeatable.",
)
@build_option
def similar(out: Path, threshold: int, earlier: tuple[Path, ...], build: Path | None) -> None:
    """Compares the submissions of each assignment, and writes DIR/staff/similar.html: pairs, each side by side.

    It says where to look, and is never a verdict. Names, numbers, comments and layout are ignored. The stub's code and
    code that many in the class have is left out. Nothing is run. The pages have names and code, for staff only.

    With --earlier this class is compared with earlier ones too.

    \b
    Examples:
      grader similar --out out/week4
      grader similar --earlier ../2025/out/week4 --earlier ../2024/submissions
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
            assignment = load_assignment(layout.assignment(name))
            before = [
                work for place in earlier for work in _earlier(layout, assignment, place, named=not view.is_anonymous)
            ]
            likeness = pages.add(assignment, [*works(wholes), *before])
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


def _earlier(layout: Layout, assignment: Assignment, place: Path, *, named: bool) -> list[Work]:
    """An earlier class's submissions: from the journal of its results, else from a folder of submissions."""
    found: dict[str, tuple[str, str]] = {}
    if (place / JOURNAL).is_file():
        journal = open_journal(place)
        try:
            last = {record.folder: record for record in journal.attempts(assignment.id)}
            for record in last.values():
                whole = journal.whole(assignment.id, record.folder, record.handed.number)
                found[record.folder] = (record.student.name, whole.source)
        finally:
            journal.close()
    else:
        with open_class(place) as download:
            for one in download.submissions(wanted_of(layout, assignment)):
                if one.source is not None:
                    found[one.folder] = (one.student.name, one.source.decode("utf-8", "replace"))
    year = place.resolve().name
    return [
        Work(
            f"{name if named else fingerprint(folder)} ({year})",
            f"{year} {folder}",
            frozenset({(False, str(place), folder)}),
            source,
            is_earlier=True,
        )
        for folder, (name, source) in found.items()
        if source.strip()
    ]
