"""The leaderboard: who solved everything, ranked by the assignment's metric, under aliases.

An entry is a graded run: its inputs came from a seed that no student had seen, and all its outputs were checked. Only
submissions whose results are all right are ranked. Real names never appear.

With times from a GPU, submissions are ranked by their speed relative to the reference, because both were timed in the
same minute. Submissions that ran only on the virtual GPU are then not on the board.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

import pandas as pd

from grader.base.cells import safe_cell
from grader.base.names import safe_json
from grader.model.assignment import Assignment, Ranking
from grader.model.ranking import may_be_ranked
from grader.model.record import Record
from grader.model.result import Timing
from grader.pages.tables import csv_text

_DIGITS = 4  # ties are what looks the same
_MEASURED_DIGITS = 3


@dataclass(frozen=True)
class Point:
    """What a student reached at some time (UTC, ISO 8601)."""

    at: str
    value: float


@dataclass(frozen=True)
class Entry:
    """One line of the board. `ratio` is how many times as good as the reference; `is_tied` marks a shared rank."""

    rank: int
    is_tied: bool
    alias: str
    value: float
    ratio: float | None
    score: float
    at: str
    history: tuple[Point, ...]


@dataclass(frozen=True)
class Board:
    """One assignment's ranking; `measured_on` names the GPU where times were measured."""

    assignment: str
    title: str
    metric: str
    rung: str
    ascending: bool
    reference: float | None
    entries: tuple[Entry, ...]
    measured_on: str = ""


@dataclass(frozen=True)
class _Candidate:
    """A record that may be ranked; the least `key` is the best."""

    record: Record
    key: float
    value: float
    reference: float | None


def make_board(
    assignment: Assignment, records: Sequence[Record], history: Callable[[Record], Sequence[Record]]
) -> Board | None:
    """Ranks the records; None where the assignment has no leaderboard. `history` gives a record's predecessors."""
    ranking = assignment.ranking
    if ranking is None:
        return None
    rung = timed_rung(assignment, ranking)
    is_measured = bool(rung) and any(_timing(rung, record) for record in records)
    ascending = is_measured or ranking.ascending

    def candidate(record: Record) -> _Candidate | None:
        if not may_be_ranked(assignment, ranking, record):
            return None
        return _timed(rung, record) if is_measured else _counted(ranking, record)

    candidates = [found for record in records if (found := candidate(record))]
    candidates.sort(key=lambda one: (one.key, one.record.graded_at))
    digits = _MEASURED_DIGITS if is_measured else _DIGITS
    entries: list[Entry] = []
    for _, tied in groupby(candidates, key=lambda one: f"{one.key:.{digits}g}"):
        group = list(tied)
        rank = len(entries) + 1
        for one in group:
            points = [Point(old.graded_at, earlier.value) for old in history(one.record) if (earlier := candidate(old))]
            entries.append(
                Entry(
                    rank=rank,
                    is_tied=len(group) > 1,
                    alias=one.record.student.public_name,
                    value=one.value,
                    ratio=_ratio(one, ascending=ascending),
                    score=one.record.score.total if one.record.score else 0.0,
                    at=one.record.graded_at,
                    history=tuple(points),
                )
            )
    gpus = dict.fromkeys(one.record.result.device.name for one in candidates if one.record.result)
    return Board(
        assignment=assignment.id,
        title=assignment.title,
        metric="measured microseconds" if is_measured else ranking.metric,
        rung=rung if is_measured else ranking.rung,
        ascending=ascending,
        reference=next((one.reference for one in candidates if one.reference is not None), None),
        entries=tuple(entries),
        measured_on=", ".join(gpus) if is_measured else "",
    )


def timed_rung(assignment: Assignment, ranking: Ranking) -> str:
    """The rung whose measured time is ranked: the board's own, else the last that is timed, else none."""
    timed = [criterion.rung for criterion in assignment.criteria if criterion.timing]
    if ranking.metric != "microseconds" or not timed:
        return ""
    return ranking.rung if ranking.rung in timed else timed[-1]


def _timing(rung: str, record: Record) -> Timing | None:
    """The rung's measured time, where it counts."""
    timings = record.result.timings if record.result else ()
    good = (timing for timing in timings if timing.rung == rung and timing.verdict in ("PASS", "SLOW"))
    return next((timing for timing in good if timing.microseconds > 0 and timing.reference_microseconds > 0), None)


def board_json(boards: Sequence[Board]) -> str:
    """All boards as JSON."""
    return safe_json({"format": 1, "boards": [asdict(board) for board in boards]}) + "\n"


def board_csv(boards: Sequence[Board]) -> str:
    """All boards as one CSV table."""
    columns = ["assignment", "rank", "alias", "metric", "value", "times_reference", "score", "at"]
    rows = [
        [
            board.assignment,
            entry.rank,
            safe_cell(entry.alias),
            board.metric,
            entry.value,
            entry.ratio,
            entry.score,
            entry.at,
        ]
        for board in boards
        for entry in board.entries
    ]
    return csv_text(pd.DataFrame(rows, columns=columns))


def _timed(rung: str, record: Record) -> _Candidate | None:
    """By how many times as fast as the reference it was."""
    timing = _timing(rung, record)
    if timing is None:
        return None
    return _Candidate(record, -timing.speed, timing.microseconds, timing.reference_microseconds)


def _counted(ranking: Ranking, record: Record) -> _Candidate | None:
    """By the judge's figure."""
    ranked = record.result.leaderboard if record.result else None
    if ranked is None or ranked.value is None or ranked.value <= 0:  # a time of zero is no time
        return None
    return _Candidate(record, ranked.value if ranking.ascending else -ranked.value, ranked.value, ranked.reference)


def _ratio(one: _Candidate, *, ascending: bool) -> float | None:
    if not one.reference:
        return None
    return one.reference / one.value if ascending else one.value / one.reference
