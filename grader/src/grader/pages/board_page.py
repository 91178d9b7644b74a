"""The leaderboard's page."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment

from grader.base.counted import counted
from grader.base.files import write_atomic
from grader.pages.board_text import compared, figure_text, overall_text, rank_text, ranked_by, ties_text
from grader.pages.leaderboard import Board, Entry
from grader.pages.overall import Overall

_WIDTH, _HEIGHT, _MARGIN = 96.0, 22.0, 3.0


@dataclass(frozen=True)
class Sparkline:
    """A sparkline of an entry's history, better being higher; `x` and `y` are its end."""

    width: float
    height: float
    points: str
    x: float
    y: float
    label: str


def sparkline(entry: Entry, board: Board) -> Sparkline | None:
    """The line, on a logarithmic scale; None for a single submission."""
    values = [point.value for point in entry.history]
    if len(values) < 2:  # noqa: PLR2004
        return None
    logs = [math.log(value) * (-1 if board.ascending else 1) for value in values]
    low, spread = min(logs), max(logs) - min(logs)
    step = (_WIDTH - 2 * _MARGIN) / (len(values) - 1)

    def y(value: float) -> float:
        part = (value - low) / spread if spread else 0.5
        return round(_HEIGHT - _MARGIN - part * (_HEIGHT - 2 * _MARGIN), 1)

    places = [(round(_MARGIN + index * step, 1), y(value)) for index, value in enumerate(logs)]
    label = (
        f"from {figure_text(values[0], board)} to {figure_text(values[-1], board)} "
        f"in {counted(len(values), 'submission')}"
    )
    return Sparkline(_WIDTH, _HEIGHT, " ".join(f"{x},{y}" for x, y in places), *places[-1], label)


def write_board_page(environment: Environment, out: Path, boards: Sequence[Board], overalls: Sequence[Overall]) -> Path:
    """Writes leaderboard.html and returns its path."""
    environment = environment.overlay()
    environment.filters = environment.filters | {
        "spark": sparkline,
        "compared": compared,
        "figure": figure_text,
        "ranked_by": ranked_by,
        "ties": ties_text,
        "overall_text": overall_text,
        "has_history": lambda board: any(sparkline(entry, board) for entry in board.entries),
    }
    times = Counter(board.title for board in boards)
    text = environment.get_template("leaderboard.html.j2").render(
        boards=boards, overalls=overalls, several={title for title, count in times.items() if count > 1}, rank=rank_text
    )
    path = out / "leaderboard.html"
    write_atomic(path, text)
    return path
