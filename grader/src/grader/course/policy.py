"""``course.toml``: deadlines, lateness, totals. Parsed strictly, so that a typo can't cost a student points."""

import difflib
import tomllib
import zoneinfo
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from types import MappingProxyType

from grader.base.errors import GraderError
from grader.base.schema import Fields, SchemaError
from grader.course.amounts import NO_TIME, Amount, Span, read_amount, read_moment, read_span

BEST, LAST = "best", "last"
DAY, HOUR, ONCE = "day", "hour", "once"
POSSIBLE, EARNED = "possible", "earned"
ALL = "all"
_YEAR = 4  # digits


@dataclass(frozen=True)
class Late:
    """The lateness rule: `penalty` per unit begun, at most `at_most` in total.

    Within `grace` it costs nothing. `accept` is how long after a student's own deadline a hand-in is accepted, or the
    moment after which none is, except from students with a longer extension.
    """

    penalty: Amount | None = None
    per: str = DAY
    of: str = POSSIBLE
    grace: Span = NO_TIME
    at_most: Amount | None = None
    accept: Span | datetime | None = None


@dataclass(frozen=True)
class Rules:
    """The rules of one assignment. `deadline` is UTC; `column` is what a platform's file calls the assignment."""

    deadline: datetime | None = None
    late: Late = Late()
    counts: str = LAST
    bonus: bool = True
    cap: Amount | None = None
    weight: float | None = None
    column: str = ""
    extra_credit: bool | None = None  # None: as assignment.toml says


@dataclass(frozen=True)
class Group:
    """A group of assignments with a common weight, or whose lowest are dropped."""

    name: str
    assignments: tuple[str, ...]
    drop_lowest: int = 0
    weight: float | None = None


@dataclass(frozen=True)
class ForStudent:
    """course.toml's entry for one student: `text` is an extension, `assignments` are excused."""

    student: str
    where: str
    text: str = ""
    assignments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Policy:
    """The whole of course.toml; the default changes no points."""

    zone: tzinfo = UTC
    has_zone: bool = False  # whether the file names it
    defaults: Rules = Rules()
    rules: Mapping[str, Rules] = field(default_factory=lambda: MappingProxyType({}))
    groups: tuple[Group, ...] = ()
    drop_lowest: int = 0
    bank: int = 0
    bank_per_assignment: int | None = None
    extensions: tuple[ForStudent, ...] = ()
    excused: tuple[ForStudent, ...] = ()
    out_of: float | None = None
    total_cap: Amount | None = None

    def of(self, assignment: str) -> Rules:
        """An assignment's rules: its own, else those for all."""
        return self.rules.get(assignment, self.defaults)

    @property
    def is_weighted(self) -> bool:
        """Whether anything has a weight; otherwise points are added up."""
        weights = [group.weight for group in self.groups] + [rules.weight for rules in self.rules.values()]
        return any(weight is not None for weight in weights)

    def group_of(self, assignment: str) -> Group | None:
        """The group that an assignment is in."""
        return next((group for group in self.groups if assignment in group.assignments), None)


def read_policy(text: str, name: str, known: Sequence[str]) -> Policy:
    """Reads a course.toml's text; `known` are all assignments. Raises GraderError naming the file and the key."""
    try:
        return _policy(Fields(tomllib.loads(text), name), known)
    except tomllib.TOMLDecodeError as error:
        raise GraderError(
            f'{name}: {error}.\nTexts need quotes, and so does a date without seconds: deadline = "2026-11-02 23:59"'
        ) from error
    except SchemaError as error:
        raise GraderError(str(error)) from error


def _policy(fields: Fields, known: Sequence[str]) -> Policy:
    fields.text("title", "")
    fields.has("matching")  # read by grader.intake.settings
    zone = _zone(fields)
    defaults = _rules(fields, Rules(), zone)
    own = fields.named_tables("assignment")
    rules = {}
    for name, entry in own.items():
        check_assignment(name, known, fields.at("assignment"))
        rules[name] = _own_rules(entry, defaults, zone)
    groups = tuple(_group(entry, known) for entry in fields.tables("group"))
    late_days, total = fields.table("late_days"), fields.table("total")
    policy = Policy(
        zone=zone or UTC,
        has_zone=zone is not None,
        defaults=defaults,
        rules=rules,
        groups=groups,
        drop_lowest=fields.whole("drop_lowest", 0),
        bank=late_days.whole("bank", 0),
        bank_per_assignment=late_days.whole("per_assignment") if late_days.has("per_assignment") else None,
        extensions=tuple(
            ForStudent(student, fields.at("extensions") + f': "{student}"', text=text)
            for student, text in fields.words("extensions", most=10_000).items()
        ),
        excused=_excused(fields, known),
        out_of=total.number("out_of", least=1) if total.has("out_of") else None,
        total_cap=_amount(total, "cap"),
    )
    for table in (late_days, total, fields):
        table.finish()
    _check(policy, fields)
    return policy


def _zone(fields: Fields) -> tzinfo | None:
    name = fields.text("time_zone", "")
    if not name:
        return None
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        every = sorted(zoneinfo.available_timezones())
        near = difflib.get_close_matches(name, every, n=1) or [one for one in every if one.endswith(f"/{name}")][:1]
        meant = f'; did you mean "{near[0]}"?' if near else ', such as "Europe/Berlin" or "America/New_York"'
        raise SchemaError(
            f'{fields.at("time_zone")}: expected a name of the time zone database, got "{name[:40]}"{meant}'
        ) from None


def _rules(fields: Fields, base: Rules, zone: tzinfo | None) -> Rules:
    """Rules that the course and each assignment can set; an assignment's override the course's."""
    return replace(
        base,
        late=_late(fields.table("late"), base.late, zone),
        counts=fields.choice("counts", (BEST, LAST), base.counts),
        bonus=fields.flag("bonus", base.bonus),
        cap=_amount(fields, "cap") or base.cap,
    )


def _own_rules(fields: Fields, defaults: Rules, zone: tzinfo | None) -> Rules:
    """An assignment's rules: its changes of the course's, and those that only an assignment can set."""
    rules = replace(
        _rules(fields, defaults, zone),
        deadline=_moment(fields, "deadline", zone),
        weight=fields.number("weight", least=0) if fields.has("weight") else None,
        column=fields.text("column", ""),
        extra_credit=fields.flag("extra_credit", False) if fields.has("extra_credit") else None,
    )
    fields.finish()
    return rules


def _late(fields: Fields, base: Late, zone: tzinfo | None) -> Late:
    penalty, per = base.penalty, base.per
    if fields.has("penalty"):
        penalty, per = _penalty(fields)
    accept = base.accept
    if fields.has("accept_until"):
        accept = _span_or_moment(fields, "accept_until", zone)
    late = Late(
        penalty=penalty,
        per=per,
        of=fields.choice("of", (POSSIBLE, EARNED), base.of),
        grace=read_span(fields.text("grace"), fields.at("grace")) if fields.has("grace") else base.grace,
        at_most=_amount(fields, "at_most") or base.at_most,
        accept=accept,
    )
    fields.finish()
    return late


def _penalty(fields: Fields) -> tuple[Amount, str]:
    """Reads "10 % per day", "5 points per hour", "20 % once"."""
    text, where = fields.text("penalty"), fields.at("penalty")
    words = text.lower().split()
    per = words[-1] if words else ""
    cut = 1 if per == ONCE else 2
    if per not in (DAY, HOUR, ONCE) or (per != ONCE and words[-2:-1] != ["per"]):
        raise SchemaError(
            f'{where}: expected "10 % per day", "5 points per hour", "20 % once" or alike, got "{text[:40]}"'
        )
    return read_amount(" ".join(words[:-cut]), where), per


def _span_or_moment(fields: Fields, key: str, zone: tzinfo | None) -> Span | datetime:
    value = fields.moment(key)
    if isinstance(value, str) and not value.strip()[:_YEAR].isdecimal():
        return read_span(value, fields.at(key))
    return read_moment(value, zone, fields.at(key))


def _moment(fields: Fields, key: str, zone: tzinfo | None) -> datetime | None:
    return read_moment(fields.moment(key), zone, fields.at(key)) if fields.has(key) else None


def _amount(fields: Fields, key: str) -> Amount | None:
    return read_amount(fields.text(key), fields.at(key)) if fields.has(key) else None


def _group(fields: Fields, known: Sequence[str]) -> Group:
    group = Group(
        name=fields.text("name"),
        assignments=fields.texts("assignments"),
        drop_lowest=fields.whole("drop_lowest", 0),
        weight=fields.number("weight", least=0) if fields.has("weight") else None,
    )
    fields.finish()
    for name in group.assignments:
        check_assignment(name, known, fields.at("assignments"))
    if not group.assignments:
        raise SchemaError(f"{fields.at('assignments')}: the group has none")
    return group


def _excused(fields: Fields, known: Sequence[str]) -> tuple[ForStudent, ...]:
    inner = fields.table("excused")
    entries = []
    for student in fields.names("excused"):
        where = f'{fields.at("excused")}: "{student}"'
        chosen = (ALL,) if inner.is_text(student) and inner.text(student) == ALL else inner.texts(student)
        for name in chosen:
            if name != ALL:
                check_assignment(name, known, where)
        entries.append(ForStudent(student, where, assignments=chosen))
    return tuple(entries)


def check_assignment(name: str, known: Sequence[str], where: str) -> None:
    """Raises SchemaError for an unknown assignment, suggesting the nearest name."""
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        meant = f'; did you mean "{near[0]}"?' if near else f".\nThere are: {', '.join(known) or 'none'}"
        raise SchemaError(f'{where}: there is no assignment "{name[:60]}"{meant}')


def _check(policy: Policy, fields: Fields) -> None:
    """Checks across keys: rules that contradict each other."""
    named = [name for group in policy.groups for name in group.assignments]
    for name in named:
        if named.count(name) > 1:
            raise SchemaError(f"{fields.at('group')}: {name} is in several groups; an assignment can be in one")
    for group in policy.groups:
        own = [name for name in group.assignments if policy.of(name).weight is not None]
        if group.weight is not None and own:
            raise SchemaError(
                f'{fields.at("group")}: "{group.name}" has a weight and so has its {own[0]}.\n'
                "Give the weight to the group or to its assignments"
            )
    if policy.bank and not any(one.late.penalty for one in (policy.defaults, *policy.rules.values())):
        raise SchemaError(
            f"{fields.at('late_days')}: late days save a penalty, and there is none.\n"
            'Add one, such as  [late]  penalty = "10 % per day"'
        )


def assignments_without_weight(policy: Policy, graded: Sequence[str]) -> list[str]:
    """The graded assignments without a weight, if others have one: the instructor must add them."""
    if not policy.is_weighted:
        return []
    without = []
    for name in graded:
        group = policy.group_of(name)
        if policy.of(name).weight is None and (group is None or group.weight is None):
            without.append(name)
    return without
