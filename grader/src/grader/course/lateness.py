"""How late an attempt is, and what that costs. Pure functions."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from grader.base.counted import counted
from grader.course.amounts import Span, after, late_text
from grader.course.policy import DAY, HOUR, ONCE, POSSIBLE, Late
from grader.model.score import points_text

_HOURS_OF_A_DAY = 24


@dataclass(frozen=True)
class Lateness:
    """How late an attempt is; `days` and `hours` are rounded up."""

    seconds: float
    days: int
    hours: int
    is_in_grace: bool
    is_accepted: bool


@dataclass(frozen=True)
class Penalty:
    """The points deducted for lateness, the late days spent, and the sentence that explains both."""

    points: float
    late_days: int
    step: str


def lateness(at: datetime, due: datetime, late: Late, zone: tzinfo) -> Lateness:
    """How late `at` is. Days are calendar days in `zone`, an hour has 3600 seconds."""
    seconds = max(0.0, (at - due).total_seconds())
    if not seconds:
        return Lateness(0.0, 0, 0, is_in_grace=False, is_accepted=True)
    days = math.ceil(seconds / 86400)
    while days > 1 and at <= after(due, Span(days=days - 1), zone):
        days -= 1
    while at > after(due, Span(days=days), zone):
        days += 1
    is_in_grace = at <= after(due, late.grace, zone)
    return Lateness(seconds, days, math.ceil(seconds / 3600), is_in_grace, at <= _last(due, late, zone))


def _last(due: datetime, late: Late, zone: tzinfo) -> datetime:
    """The last moment at which something is accepted."""
    if late.accept is None:
        return datetime.max.replace(tzinfo=UTC)
    last = after(due, late.accept, zone) if isinstance(late.accept, Span) else max(late.accept, due)
    return max(last, after(due, late.grace, zone))


def penalty(found: Lateness, late: Late, earned: float, possible: float, bank: int) -> Penalty:
    """The deduction from `earned` points for lateness, with `bank` late days to offset it."""
    said = f"Late by {late_text(found.seconds)}"
    if found.is_in_grace:
        return Penalty(0.0, 0, f"{said}, within the grace period of {late.grace.text()}: no penalty")
    if late.penalty is None or not late.penalty.value:
        return Penalty(0.0, 0, f"{said}: no penalty")
    spent = min(bank, found.days)
    begun, left = _units(found, late.per, spent)
    whole = possible if late.of == POSSIBLE else earned
    unit = late.penalty.text(whole)
    points = left * late.penalty.of(whole)
    if late.per != ONCE:
        said += f", {counted(begun, late.per)} begun"
    if spent:
        said += f", {counted(spent, 'late day')} spent"
    if not left:
        return Penalty(0.0, spent, f"{said}: no penalty")
    said += f": {unit}" if late.per == ONCE else f": {left} × {unit}"
    if late.at_most is not None and points > late.at_most.of(whole):
        points = late.at_most.of(whole)
        said += f", at most {late.at_most.text(whole)}"
    points = round(points, 2)
    taken = min(points, earned)
    said += f" = −{points_text(points)}"
    if taken < points:
        said += f", but no further than 0: −{points_text(taken)}"
    return Penalty(round(taken, 2), spent, said)


def _units(found: Lateness, per: str, spent: int) -> tuple[int, int]:
    """The number of units begun, and how many of them late days don't cover."""
    if per == HOUR:
        return found.hours, max(0, found.hours - _HOURS_OF_A_DAY * spent)
    if per == DAY:
        return found.days, max(0, found.days - spent)
    return 1, int(spent < found.days)
