"""The leaderboard: who solved everything, ranked by the assignment's metric, under aliases.

An entry is a graded run: its inputs came from a seed that no student had seen, and all its outputs were checked. Only
submissions whose results are all right are ranked. Real names and points never appear.

A board is about one assignment on one device. Modelled and measured times are never on one board: they are not
comparable, and a submission with both would appear twice. On a GPU the speed relative to the reference is ranked,
because both were timed in the same minute.

Entries share a rank if their figures are indistinguishable: each has an interval, from the measurement or the model's
error, and all intervals that overlap the best one of a group belong to that group.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from grader.model.assignment import Assignment, Ranking
from grader.model.ranking import may_be_ranked
from grader.model.record import Record
from grader.model.result import Timing
from grader.model.roster import Student

# The relative difference from which two modelled times are ranked apart: a little more than the median error of a
# modelled ratio between versions of one kernel whose times differ by less than a half. test_leaderboard.py computes
# that error from gpu-time.md.
MODEL_ERROR = 0.10
_COUNTING_ERROR = 1e-4
TIME = "microseconds"

History = Callable[[Record], Sequence[Record]]


@dataclass(frozen=True)
class Point:
    """A submission's figure, and when it was graded (UTC, ISO 8601)."""

    at: str
    value: float


@dataclass(frozen=True)
class Entry:
    """One line of the board. `ratio` compares it with the reference (higher is better), between `low` and `high`.

    `is_tied` marks a shared rank. `students` are the people behind it, and are never written anywhere.
    """

    rank: int
    is_tied: bool
    alias: str
    value: float
    ratio: float | None
    low: float | None
    high: float | None
    at: str
    history: tuple[Point, ...]
    students: tuple[Student, ...] = ()


@dataclass(frozen=True)
class Board:
    """One assignment's ranking on one device: a GPU, or the virtual GPU as a model of one."""

    assignment: str
    title: str
    device: str
    is_measured: bool
    metric: str
    rung: str
    rung_title: str
    ascending: bool
    reference: float | None
    entries: tuple[Entry, ...]

    @property
    def is_time(self) -> bool:
        """Whether the figures are times."""
        return self.metric == TIME


@dataclass(frozen=True)
class _Candidate:
    """A record that may be ranked; the greatest `merit` is best, and its true value lies from `low` to `high`.

    `ratio` compares it with the reference (higher is better).
    """

    record: Record
    device: str
    value: float
    reference: float | None
    ratio: float | None
    merit: float
    low: float
    high: float


_Find = Callable[[Record], _Candidate | None]


def make_boards(assignment: Assignment, records: Sequence[Record], history: History) -> list[Board]:
    """Ranks the records on each device that they ran on, GPUs first; without an entry there is one empty board.

    No boards if the assignment has no leaderboard. `history` gives all results of a record's folder, oldest first.
    """
    ranking = assignment.ranking
    if ranking is None:
        return []
    timed = timed_rung(assignment, ranking)
    boards = []
    if timed:
        boards += _boards(assignment, replace(ranking, rung=timed, ascending=True), True, records, history)
    boards += _boards(assignment, ranking, False, records, history)
    if not boards:
        figures = [record.result.leaderboard for record in records if record.result]
        profile = next((figure.profile for figure in figures if figure), "")
        boards.append(_board(assignment, ranking, False, _model(profile), []))
    return boards


def timed_rung(assignment: Assignment, ranking: Ranking) -> str:
    """The rung whose measured time is ranked: the board's own, else the last timed one, else none."""
    timed = [criterion.rung for criterion in assignment.criteria if criterion.timing]
    if ranking.metric != TIME or not timed:
        return ""
    return ranking.rung if ranking.rung in timed else timed[-1]


def groups_of_equals(intervals: Sequence[tuple[float, float]]) -> list[int]:
    """Numbers the groups of intervals, best first, from 0. A group's members overlap its first interval."""
    groups: list[int] = []
    group, least = -1, math.inf
    for low, high in intervals:
        if high < least:
            group, least = group + 1, low
        groups.append(group)
    return groups


def ranks(groups: Sequence[int]) -> list[tuple[int, bool]]:
    """The rank of each member, and whether it is shared: 1, 2=, 2=, 4."""
    return [(groups.index(group) + 1, groups.count(group) > 1) for group in groups]


def _boards(
    assignment: Assignment, ranking: Ranking, is_measured: bool, records: Sequence[Record], history: History
) -> list[Board]:
    find = partial(_timed if is_measured else _counted, assignment, ranking)
    by_device: dict[str, list[_Candidate]] = {}
    for record in records:
        if (found := find(record)) is not None:
            by_device.setdefault(found.device, []).append(found)
    boards = []
    for device, candidates in by_device.items():
        candidates.sort(key=_order)
        places = ranks(groups_of_equals([(one.low, one.high) for one in candidates]))
        entries = [
            _entry(one, place, _points(find, one, history(one.record)))
            for one, place in zip(candidates, places, strict=True)
        ]
        reference = next((one.reference for one in candidates if one.reference is not None), None)
        boards.append(_board(assignment, ranking, is_measured, device, entries, reference))
    return boards


def _order(one: _Candidate) -> tuple[object, ...]:
    """Best first, then earliest hand-in. Grading order is accidental, and names must not matter."""
    handed = one.record.handed.at
    return (-one.merit, not handed, handed, one.record.run, one.record.student.public_name)


def _board(
    assignment: Assignment,
    ranking: Ranking,
    is_measured: bool,
    device: str,
    entries: Sequence[Entry],
    reference: float | None = None,
) -> Board:
    rung = assignment.rung(ranking.rung)
    return Board(
        assignment=assignment.id,
        title=assignment.title,
        device=device,
        is_measured=is_measured,
        metric=ranking.metric,
        rung=ranking.rung,
        rung_title=rung.title if rung else ranking.rung,
        ascending=ranking.ascending,
        reference=reference,
        entries=tuple(entries),
    )


def _entry(one: _Candidate, place: tuple[int, bool], history: tuple[Point, ...]) -> Entry:
    students = one.record.handed.group or (one.record.student,)
    return Entry(
        rank=place[0],
        is_tied=place[1],
        alias=" + ".join(student.public_name for student in students),
        value=one.value,
        ratio=one.ratio,
        low=one.ratio and one.ratio * one.low / one.merit,
        high=one.ratio and one.ratio * one.high / one.merit,
        at=one.record.graded_at,
        history=history,
        students=students,
    )


def _points(find: _Find, now: _Candidate, results: Sequence[Record]) -> tuple[Point, ...]:
    """The history of the folder's submissions on the same device.

    A regraded file counts once. So does a run that was scored again, for new points or new comments in the file.
    """
    reached: dict[str, Point] = {}
    runs: dict[str, str] = {}  # the file that each run was last scored for
    for record in results:
        earlier = find(record)
        if earlier is not None and earlier.device == now.device:
            file = record.provenance.submission
            for one in (file, runs.get(record.run, file)):
                reached.pop(one, None)
            reached[file] = Point(record.graded_at, earlier.value)
            runs[record.run] = file
    return tuple(reached.values())


def _timed(assignment: Assignment, ranking: Ranking, record: Record) -> _Candidate | None:
    """The candidate of a submission, with its speed on a GPU relative to the reference; None if it has none."""
    if not may_be_ranked(assignment, ranking, record) or record.result is None:
        return None
    timing = _timing(ranking.rung, record)
    if timing is None or not timing.value:
        return None
    # The judge's interval is for the criterion's figure, which has the same relative error as the submission's time.
    low, high = timing.low / timing.value, timing.high / timing.value
    time, reference, speed = timing.microseconds, timing.reference_microseconds, timing.speed
    return _Candidate(record, record.result.device.name, time, reference, speed, speed, speed * low, speed * high)


def _timing(rung: str, record: Record) -> Timing | None:
    """The rung's measured time, if it counts."""
    timings = record.result.timings if record.result else ()
    good = (timing for timing in timings if timing.rung == rung and timing.verdict in ("PASS", "SLOW"))
    return next((timing for timing in good if timing.microseconds > 0 and timing.reference_microseconds > 0), None)


def _counted(assignment: Assignment, ranking: Ranking, record: Record) -> _Candidate | None:
    """The entry from the judge's figure."""
    ranked = record.result.leaderboard if record.result else None
    if ranked is None or ranked.value is None or ranked.value <= 0:  # a time of zero is not a measurement
        return None
    is_same = (ranked.rung, ranked.metric) == (ranking.rung, ranking.metric)  # an older result may use another metric
    if not is_same or not may_be_ranked(assignment, ranking, record):
        return None
    merit = 1 / ranked.value if ranking.ascending else ranked.value
    ratio = None
    if ranked.reference:
        ratio = ranked.reference / ranked.value if ranking.ascending else ranked.value / ranked.reference
    # Two intervals overlap if the figures differ by no more than the error.
    error = math.sqrt(1 + (MODEL_ERROR if ranking.metric == TIME else _COUNTING_ERROR))
    device = _model(ranked.profile)
    return _Candidate(record, device, ranked.value, ranked.reference, ratio, merit, merit / error, merit * error)


def _model(profile: str) -> str:
    return f"virtual GPU, {profile.upper()} model" if profile else "virtual GPU"
