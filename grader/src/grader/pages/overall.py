"""The overall leaderboard: one figure for each student from all assignments' boards on one device."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grader.model.roster import Student
from grader.pages.leaderboard import Board, Entry, groups_of_equals, ranks

# Speeds are clamped to this range; a missing entry counts as the slowest.
SLOWEST, FASTEST = 0.25, 4.0
_FEWEST_BOARDS = 2


@dataclass(frozen=True)
class Place:
    """One line: `speed` is the mean over all boards, from `low` to `high`; `boards` are those with an entry."""

    rank: int
    is_tied: bool
    alias: str
    speed: float
    low: float
    high: float
    boards: int


@dataclass(frozen=True)
class Overall:
    """All boards on one device in one ranking; `of` is their number."""

    device: str
    is_measured: bool
    of: int
    places: tuple[Place, ...]


def make_overall(boards: Sequence[Board]) -> list[Overall]:
    """For each device with several boards the mean speed of each student, relative to the reference.

    It is the geometric mean over all of the device's boards: each speed between SLOWEST and FASTEST, and SLOWEST where
    the student has no entry. So an entry never harms, leaving a board out never helps, one implausibly good figure
    can't outweigh the rest, and nothing depends on other participants.
    """
    by_device: dict[tuple[str, bool], list[Board]] = {}
    for board in boards:
        if any(entry.ratio for entry in board.entries):
            by_device.setdefault((board.device, board.is_measured), []).append(board)
    return [
        Overall(device, is_measured, len(own), tuple(_places(own)))
        for (device, is_measured), own in by_device.items()
        if len(own) >= _FEWEST_BOARDS
    ]


def _places(boards: Sequence[Board]) -> list[Place]:
    entered: dict[Student, list[Entry]] = {}
    for board in boards:
        best: dict[Student, Entry] = {}  # in order: keeps the first entry of a student with several
        for entry in board.entries:
            for student in entry.students if entry.ratio else ():
                best.setdefault(student, entry)
        for student, entry in best.items():
            entered.setdefault(student, []).append(entry)

    def mean(figures: Sequence[float | None]) -> float:
        bounded = [min(max(figure or SLOWEST, SLOWEST), FASTEST) for figure in figures]
        bounded += [SLOWEST] * (len(boards) - len(bounded))
        return math.exp(math.fsum(map(math.log, bounded)) / len(boards))

    means = [
        (
            mean([entry.ratio for entry in own]),
            mean([entry.low for entry in own]),
            mean([entry.high for entry in own]),
            student,
            len(own),
        )
        for student, own in entered.items()
    ]
    means.sort(key=lambda one: (-one[0], one[3].public_name))
    places = ranks(groups_of_equals([(low, high) for _, low, high, _, _ in means]))
    return [
        Place(rank, is_tied, student.public_name, speed, low, high, count)
        for (rank, is_tied), (speed, low, high, student, count) in zip(places, means, strict=True)
    ]
