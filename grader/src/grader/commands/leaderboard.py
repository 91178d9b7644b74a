"""`grader leaderboard`: the ranking under aliases, in the terminal and as pages, once or whenever results change."""

from datetime import datetime
from pathlib import Path
from time import sleep

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from grader.base.counted import counted
from grader.base.errors import GraderError
from grader.base.layout import Layout, find_layout
from grader.commands.common import build_option, make_console, out_option
from grader.pages.board_text import compared, figure_text, overall_text, rank_text, ranked_by, ties_text
from grader.pages.leaderboard import Board
from grader.pages.overall import Overall
from grader.pages.publish import JOURNAL, Standings, open_journal, publish_boards
from grader.running.store import Journal

_LOOK_SECONDS = 1.0


@click.command(short_help="Writes the leaderboard again and shows it.")
@out_option
@click.option("--watch", is_flag=True, help="Write it again whenever results come in, until Ctrl-C.")
@build_option
def leaderboard(out: Path, watch: bool, build: Path | None) -> None:
    """Writes the leaderboard again (HTML, CSV, JSON) and shows it.

    Students appear under their aliases from the roster. Only submissions with all results right are ranked: by
    assignment, and over all assignments. What a GPU measured and what the virtual GPU models are separate boards.

    \b
    Examples:
      grader leaderboard --out out/week4
      grader leaderboard --out out/week4 --watch    while grader grade runs
    """
    console, layout = make_console(), find_layout(build)
    journal = open_journal(out)
    try:
        seen = journal.state()
        standings = publish_boards(layout, out, journal)
        if not standings.boards and not watch:
            raise GraderError("none of these assignments has a [leaderboard].\nAdd one to its assignment.toml")
        _show(console, standings, out)
        if watch:
            console.print("Watching for results; Ctrl-C ends.", highlight=False)
            _watch(console, layout, out, journal, seen)
    finally:
        journal.close()


def _watch(console: Console, layout: Layout, out: Path, journal: Journal, seen: str) -> None:
    """Writes the boards whenever the journal has new results; Ctrl-C ends it."""
    path = out / JOURNAL
    file = path.stat().st_ino
    try:
        while True:
            sleep(_LOOK_SECONDS)
            if not path.is_file() or path.stat().st_ino != file:
                raise GraderError(f"{path} was replaced.\nType the same command again")
            now = journal.state()
            if now == seen:
                continue
            seen = now
            standings = publish_boards(layout, out, journal)
            entries = sum(len(board.entries) for board in standings.boards)
            at = datetime.now().astimezone().strftime("%H:%M:%S")
            console.print(f"{at}  {counted(entries, 'entry', 'entries')}", highlight=False)
    except KeyboardInterrupt:
        console.print("Stopped watching.", highlight=False)


def _show(console: Console, standings: Standings, out: Path) -> None:
    for overall in standings.overalls:
        _show_overall(console, overall)
    for board in standings.boards:
        _show_board(console, board)
    if standings.boards:
        console.print(escape(str(out / "leaderboard.html")), highlight=False, soft_wrap=True)


def _table() -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("Rank", justify="right")
    table.add_column("Alias", overflow="fold")
    return table


def _show_board(console: Console, board: Board) -> None:
    console.print(f"[bold]{escape(board.title)}[/], {escape(board.device)}", highlight=False, soft_wrap=True)
    console.print(f"[dim]{escape(ranked_by(board))}. {escape(ties_text(board))}.[/]", highlight=False)
    if not board.entries:
        console.print("No submission qualifies yet.\n", highlight=False)
        return
    table = _table()
    table.add_column("Time" if board.is_time else "Value", justify="right", no_wrap=True)
    table.add_column("Against the reference", justify="right")
    for entry in board.entries:
        table.add_row(
            rank_text(entry.rank, is_tied=entry.is_tied),
            escape(entry.alias),
            figure_text(entry.value, board),
            compared(entry, board) or "–",
        )
    console.print(table)
    console.print()


def _show_overall(console: Console, overall: Overall) -> None:
    console.print(f"[bold]Overall[/], {escape(overall.device)}", highlight=False)
    console.print(f"[dim]{escape(overall_text(overall))}.[/]", highlight=False)
    table = _table()
    table.add_column("Boards", justify="right", no_wrap=True)
    table.add_column("Mean speed", justify="right", no_wrap=True)
    for place in overall.places:
        table.add_row(
            rank_text(place.rank, is_tied=place.is_tied),
            escape(place.alias),
            f"{place.boards} of {overall.of}",
            f"{place.speed:.2f} × the reference",
        )
    console.print(table)
    console.print()
