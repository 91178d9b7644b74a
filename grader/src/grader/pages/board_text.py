"""The leaderboard's texts, shared by the terminal and the page, and its CSV and JSON files."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from grader.base.cells import safe_cell
from grader.base.names import safe_json
from grader.exports.tables import csv_text
from grader.model.score import plain
from grader.pages.chart import microseconds_text
from grader.pages.leaderboard import MODEL_ERROR, Board, Entry
from grader.pages.overall import FASTEST, SLOWEST, Overall

_FACTOR = 2.0  # above this a factor reads better than a percentage
_ALIKE = 0.005  # rounds to 0 percent
FORMAT = 2


def beside_reference(ratio: float, low: float, high: float, *, is_measured: bool, is_time: bool = True) -> str:
    """Compares a figure with the reference's: "3 % faster than the reference".

    Measured figures whose interval includes the reference's count as equally fast: the repeats can't distinguish them.
    """
    better, worse, good = ("faster", "slower", "fast") if is_time else ("better", "worse", "good")
    if abs(ratio - 1) < _ALIKE or (is_measured and low <= 1 <= high):
        return f"as {good} as the reference"
    if ratio >= _FACTOR:
        return f"{ratio:.1f} times as {good} as the reference"
    if ratio > 1:
        return f"{_percent(ratio)} % {better} than the reference"
    if 1 / ratio >= _FACTOR:
        return f"{1 / ratio:.1f} times as {'slow' if is_time else 'bad'} as the reference"
    return f"{_percent(1 / ratio)} % {worse} than the reference"


def _percent(ratio: float) -> int:
    return max(1, round(100 * (ratio - 1)))


def compared(entry: Entry, board: Board) -> str:
    """The words for an entry; "" if there is no reference."""
    if entry.ratio is None or entry.low is None or entry.high is None:
        return ""
    return beside_reference(entry.ratio, entry.low, entry.high, is_measured=board.is_measured, is_time=board.is_time)


def figure_text(value: float, board: Board) -> str:
    """An entry's figure with its unit."""
    return microseconds_text(value) if board.is_time else plain(value)


def ranked_by(board: Board) -> str:
    """The metric that a board ranks by, and the device."""
    if board.is_measured:
        return f"Time of {board.rung} measured on the {board.device}, with the reference timed in the same minute"
    what = f"Time of {board.rung} modelled" if board.is_time else f"{board.metric} of {board.rung}, counted"
    return f"{what} by the {board.device}"


def ties_text(board: Board) -> str:
    """Which entries share a rank."""
    if board.is_measured:
        return "Entries share a rank where the repeats of the measurement do not tell them apart"
    if board.is_time:
        return f"Entries within {MODEL_ERROR:.0%} share a rank: the model is no more accurate than that".replace(
            "%", " %"
        )
    return "Entries with the same figure share a rank"


def overall_text(overall: Overall) -> str:
    """How the overall board is computed."""
    return (
        f"The mean (geometric) of the speeds relative to the reference on all {overall.of} boards, each between "
        f"{plain(SLOWEST)} and {plain(FASTEST)}; a board without an entry counts as {plain(SLOWEST)}"
    )


def rank_text(rank: int, *, is_tied: bool) -> str:
    """A rank in sports notation: "2=" is shared."""
    return f"{rank}=" if is_tied else str(rank)


def board_json(boards: Sequence[Board], overalls: Sequence[Overall]) -> str:
    """All boards as JSON."""
    return safe_json({"format": FORMAT, "boards": [_document(board) for board in boards],
                      "overall": [asdict(overall) for overall in overalls]}) + "\n"  # fmt: skip


def _document(board: Board) -> dict[str, Any]:
    document = asdict(board)
    for entry, of in zip(document["entries"], board.entries, strict=True):
        del entry["students"]
        entry["words"] = compared(of, board)
    return document


def board_csv(boards: Sequence[Board], overalls: Sequence[Overall]) -> str:
    """All boards as one CSV table; the overall ones have "overall" as the assignment."""
    columns = ["assignment", "device", "rank", "alias", "metric", "value", "times_reference", "low", "high", "at"]
    rows = [
        [
            board.assignment,
            safe_cell(board.device),
            entry.rank,
            safe_cell(entry.alias),
            board.metric,
            entry.value,
            entry.ratio,
            entry.low,
            entry.high,
            entry.at,
        ]
        for board in boards
        for entry in board.entries
    ]
    rows += [
        ["overall", safe_cell(overall.device), place.rank, safe_cell(place.alias), "mean speed",
         place.speed, place.speed, place.low, place.high, ""]
        for overall in overalls
        for place in overall.places
    ]  # fmt: skip
    return csv_text(columns, rows)
