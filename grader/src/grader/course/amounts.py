"""Amounts as an instructor writes them: "10 %", "5 points", "2 days 12 hours", "2026-11-02 23:59"."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from grader.base.counted import counted
from grader.base.schema import SchemaError
from grader.model.score import points_text

_NUMBER = r"(\d+(?:\.\d+)?)"
_AMOUNT = re.compile(rf"{_NUMBER}\s*(%|percent|points?)")
_PART = re.compile(r"(\d+)\s*(weeks?|days?|hours?|h|minutes?|min)\b[\s,]*(?:and\s+)?")
_DAYS = {"w": 7, "d": 1}
_SECONDS = {"h": 3600, "m": 60}
_MOST_DAYS = 3660
_DAY, _HOUR, _MINUTE = 86400, 3600, 60


@dataclass(frozen=True)
class Amount:
    """Points, or a percentage of something."""

    value: float
    is_percent: bool

    def of(self, whole: float) -> float:
        """In points; `whole` is what the percentage refers to."""
        return self.value * whole / 100 if self.is_percent else self.value

    def text(self, whole: float) -> str:
        """Formatted as "10 % of 100" or "5 points"."""
        if self.is_percent:
            return f"{points_text(self.value)} % of {points_text(whole)}"
        return f"{points_text(self.value)} {'point' if self.value == 1 else 'points'}"


@dataclass(frozen=True)
class Span:
    """A length of time. Days are calendar days: one has 23 or 25 hours when clocks change."""

    days: int = 0
    seconds: int = 0

    def text(self) -> str:
        """Formatted as "2 days 12 hours"."""
        hours, minutes = divmod(self.seconds // _MINUTE, 60)
        parts = [(self.days, "day"), (hours, "hour"), (minutes, "minute")]
        return " ".join(counted(number, unit) for number, unit in parts if number) or "0 minutes"


NO_TIME = Span()


def read_amount(text: str, where: str) -> Amount:
    """Reads "10 %" or "5 points"; raises SchemaError."""
    found = _AMOUNT.fullmatch(text.strip().lower())
    if not found:
        raise SchemaError(f'{where}: expected something like "10 %" or "5 points", got "{text[:40]}"')
    return Amount(float(found[1]), not found[2].startswith("point"))


def read_span(text: str, where: str) -> Span:
    """Reads "2 days 12 hours" and its like; raises SchemaError."""
    plain = text.strip().lower()
    days = seconds = position = 0
    while position < len(plain):
        found = _PART.match(plain, position)
        if not found:
            break
        unit = found[2][0]
        days += int(found[1]) * _DAYS.get(unit, 0)
        seconds += int(found[1]) * _SECONDS.get(unit, 0)
        position = found.end()
    if not plain or position < len(plain) or days + seconds // _DAY > _MOST_DAYS:
        raise SchemaError(
            f'{where}: expected something like "2 days", "12 hours" or "1 day 6 hours", got "{text[:40]}"'
        )
    return Span(days, seconds)


def read_moment(value: datetime | str, zone: tzinfo | None, where: str) -> datetime:
    """A moment in UTC, from a date and time with an offset, or in `zone`; raises SchemaError."""
    if isinstance(value, str):
        text = value.strip()
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            moment = None
        if moment is None or not re.search(r"\d[T ]\d", text):
            raise SchemaError(f'{where}: expected a date and a time, such as "2026-11-02 23:59", got "{text[:40]}"')
    else:
        moment = value
    if moment.tzinfo is not None:
        return moment.astimezone(UTC)
    if zone is None:
        raise SchemaError(
            f"{where}: in which time zone?\n"
            'Add  time_zone = "Europe/Berlin"  at the top of the file, or write the offset: "2026-11-02 23:59+01:00"'
        )
    return from_wall(moment, zone)


def from_wall(wall: datetime, zone: tzinfo) -> datetime:
    """The moment at which a clock in `zone` shows `wall`, in UTC: the later of two when clocks are set back."""
    return max(wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))


def after(start: datetime, span: Span, zone: tzinfo) -> datetime:
    """`span` after `start`: days later at the same time of day, plus the hours."""
    wall = start.astimezone(zone).replace(tzinfo=None) + timedelta(days=span.days)
    moment = from_wall(wall, zone) if span.days else start
    return moment + timedelta(seconds=span.seconds)


def late_text(seconds: float) -> str:
    """How late something is, in its two largest units: "1 day 3 hours", "26 minutes"."""
    for large, small in ((("day", _DAY), ("hour", _HOUR)), (("hour", _HOUR), ("minute", _MINUTE))):
        if seconds >= large[1]:
            whole, rest = divmod(int(seconds), large[1])
            more = rest // small[1]
            return counted(whole, large[0]) + (f" {counted(more, small[0])}" if more else "")
    return counted(int(seconds) // _MINUTE, "minute") if seconds >= _MINUTE else "less than a minute"
