"""Shows progress while a class is graded: bars on a terminal, lines elsewhere."""

import threading
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from grader.model.discovery import Submission
from grader.model.record import NOT_BEGUN, Record
from grader.model.score import points_text

_STYLES = {"PASS": "green", "SLOW": "yellow", "HARNESS": "magenta", "MISSING": "dim", NOT_BEGUN: "dim"}


def _style(verdict: str) -> str:
    return _STYLES.get(verdict, "red")


def score_text(record: Record) -> str:
    """Points of possible points, or that there are none."""
    if record.score is None:
        return "not graded"
    return f"{points_text(record.score.total)} / {points_text(record.score.possible)}"


class Display:
    """Shows the grading of a class; its methods may be called from any thread."""

    def __init__(self, console: Console, title: str, total: int) -> None:
        """`total` submissions are to be graded."""
        self._console = console
        self._lock = threading.Lock()
        self._cached = 0
        self._tasks: dict[str, TaskID] = {}
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._whole = self._bars.add_task(title, total=total)

    def __enter__(self) -> Self:
        """Starts the bars."""
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clears the bars away."""
        self._bars.stop()

    @property
    def cached(self) -> int:
        """How many results came from the journal."""
        return self._cached

    def on_stage(self, submission: Submission, stage: str) -> None:
        """A line of its own for each submission at work."""
        with self._lock:
            text = f"  {escape(submission.folder[:30])}  [dim]{stage}[/]"
            task = self._tasks.get(submission.folder)
            if task is None:
                self._tasks[submission.folder] = self._bars.add_task(text, total=None)
            else:
                self._bars.update(task, description=text)

    def on_tests(self, submission: Submission, ended: int, total: int) -> None:
        """Moves the submission's bar."""
        with self._lock:
            task = self._tasks.get(submission.folder)
            if task is not None:
                self._bars.update(task, completed=min(ended, total), total=total)

    def on_record(self, record: Record, *, cached: bool) -> None:
        """Takes the submission's bar away, and says how it ended."""
        with self._lock:
            task = self._tasks.pop(record.folder, None)
            if task is not None:
                self._bars.remove_task(task)
            self._bars.advance(self._whole)
            if cached:
                self._cached += 1
                return
            rung = record.score.rung if record.score else ""
            verdict = f"[{_style(record.shown_verdict)}]{record.shown_verdict:9}[/]"
            self._console.print(
                f"  {escape(record.student.name[:40]):40}  {verdict}  {score_text(record):14}  [dim]{rung}[/]",
                highlight=False,
                soft_wrap=True,
            )


def summary(title: str, records: list[Record]) -> Table:
    """The class at a glance."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("Student", overflow="fold")
    table.add_column("Verdict")
    table.add_column("First on", style="dim")
    table.add_column("Points", justify="right")
    for record in sorted(records, key=lambda record: record.student.name.casefold()):
        rung = record.score.rung if record.score else ""
        verdict = f"[{_style(record.shown_verdict)}]{record.shown_verdict}[/]"
        table.add_row(escape(record.student.name), verdict, rung, score_text(record))
    return table
