"""The leaderboard: who solved everything, ranked by the assignment's metric, under aliases.

An entry is a graded run: its inputs came from a seed that no student had seen, and all its outputs were checked. Only
submissions whose results are all right are ranked. Real names never appear.

Where a GPU measured, times are ranked by how many times as fast as the reference a submission was, for both were timed
in the same minute; then submissions that only the virtual GPU has seen have no place on the board.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

import pandas as pd

from grader.base.names import safe_json
from grader.model.assignment import Assignment, Ranking
from grader.model.record import Record
from grader.model.result import Timing
from grader.pages.tables import csv_text, safe_cell

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


def make_board(
    assignment: Assignment, records: Sequence[Record], history: Callable[[Record], Sequence[Record]]
) -> Board | None:
    """Ranks the records; None where the assignment has no leaderboard. `history` gives a record's predecessors."""
    ranking = assignment.ranking
    if ranking is None:
        return None
    rung = timed_rung(assignment, ranking)
    if rung and any(_timing(rung, record) for record in records):
        return _measured_board(assignment, ranking, rung, records, history)
    candidates = []
    for record in records:
        value = _value(assignment, ranking, record)
        if value is not None and record.score is not None:
            candidates.append((value, record, record.score.total))
    candidates.sort(key=lambda entry: (entry[0] if ranking.ascending else -entry[0], entry[1].graded_at))
    entries: list[Entry] = []
    for _, tied in groupby(candidates, key=lambda entry: f"{entry[0]:.{_DIGITS}g}"):
        group = list(tied)
        rank = len(entries) + 1
        for value, record, total in group:
            entries.append(
                Entry(
                    rank=rank,
                    is_tied=len(group) > 1,
                    alias=record.student.public_name,
                    value=value,
                    ratio=_ratio(ranking, record, value),
                    score=total,
                    at=record.graded_at,
                    history=_points(assignment, ranking, history(record)),
                )
            )
    reference = next((found for _, record, _ in candidates if (found := _reference(record)) is not None), None)
    return Board(
        assignment=assignment.id,
        title=assignment.title,
        metric=ranking.metric,
        rung=ranking.rung,
        ascending=ranking.ascending,
        reference=reference,
        entries=tuple(entries),
    )


def timed_rung(assignment: Assignment, ranking: Ranking) -> str:
    """The rung whose measured time is ranked: the board's own, else the last that is timed, else none."""
    timed = [criterion.rung for criterion in assignment.criteria if criterion.timing]
    if ranking.metric != "microseconds" or not timed:
        return ""
    return ranking.rung if ranking.rung in timed else timed[-1]


def _measured_board(
    assignment: Assignment,
    ranking: Ranking,
    rung: str,
    records: Sequence[Record],
    history: Callable[[Record], Sequence[Record]],
) -> Board:
    found = []
    for record in records:
        timing = _timing(rung, record)
        if timing is not None and record.score is not None and _may_be_ranked(assignment, ranking, record):
            found.append((timing, record, record.score.total))
    found.sort(key=lambda entry: (-entry[0].speed, entry[1].graded_at))
    entries: list[Entry] = []
    for _, tied in groupby(found, key=lambda entry: f"{entry[0].speed:.{_MEASURED_DIGITS}g}"):
        group = list(tied)
        rank = len(entries) + 1
        for timing, record, total in group:
            points = [
                Point(old.graded_at, earlier.microseconds)
                for old in history(record)
                if (earlier := _timing(rung, old)) is not None and _may_be_ranked(assignment, ranking, old)
            ]
            entries.append(
                Entry(
                    rank=rank,
                    is_tied=len(group) > 1,
                    alias=record.student.public_name,
                    value=timing.microseconds,
                    ratio=timing.speed,
                    score=total,
                    at=record.graded_at,
                    history=tuple(points),
                )
            )
    gpus = dict.fromkeys(record.result.device.name for _, record, _ in found if record.result)
    return Board(
        assignment=assignment.id,
        title=assignment.title,
        metric="measured microseconds",
        rung=rung,
        ascending=True,
        reference=found[0][0].reference_microseconds if found else None,
        entries=tuple(entries),
        measured_on=", ".join(gpus),
    )


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


def _value(assignment: Assignment, ranking: Ranking, record: Record) -> float | None:
    """The record's metric, where it may be ranked at all."""
    result = record.result
    if result is None or not _may_be_ranked(assignment, ranking, record):
        return None
    value = result.leaderboard.value if result.leaderboard else None
    return value if value is not None and value > 0 else None  # a time of zero is no time


def _may_be_ranked(assignment: Assignment, ranking: Ranking, record: Record) -> bool:
    if record.result is None or record.score is None:
        return False
    core = [test for test in record.result.tests if not test.is_evidence and not assignment.is_bonus_rung(test.rung)]
    if not core or any(test.verdict != "PASS" for test in core):
        return False
    # A fast time by other means than the rung's is no entry: its evidence has to be there too.
    timed = {criterion.id for criterion in assignment.criteria if criterion.timing}
    own = [criterion for criterion in record.score.criteria if criterion.rung == ranking.rung]
    return all(criterion.is_full for criterion in own if criterion.id not in timed)


def _reference(record: Record) -> float | None:
    ranked = record.result.leaderboard if record.result else None
    return ranked.reference if ranked else None


def _ratio(ranking: Ranking, record: Record, value: float) -> float | None:
    reference = _reference(record)
    if not reference:
        return None
    return reference / value if ranking.ascending else value / reference


def _points(assignment: Assignment, ranking: Ranking, records: Sequence[Record]) -> tuple[Point, ...]:
    points = []
    for record in records:
        value = _value(assignment, ranking, record)
        if value is not None:
            points.append(Point(record.graded_at, value))
    return tuple(points)
