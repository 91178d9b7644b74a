"""Assigns hand-ins to students for a whole class: by hand, by the platform's data, by a name, by a group.

A hand-in may belong to a person or a group, and two may claim the same student. The more reliable claim wins; the other
hand-in stays unassigned, with the reason, and a person decides. So nobody can take another's place by choosing their
name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.intake.handin import HandIn, Who
from grader.intake.matches import Matches
from grader.intake.matching import Match, Matcher, named
from grader.model.handed import ADDRESS, BY_HAND, FOLDER, GROUP, LOGIN, NAME, NUMBER, SID
from grader.model.roster import Student

_RANK = {BY_HAND: 0, NUMBER: 1, SID: 1, ADDRESS: 1, LOGIN: 1, FOLDER: 1, NAME: 2, GROUP: 3, "": 4}

_COLUMNS = {NUMBER: "platform_id", SID: "sid", ADDRESS: "email", LOGIN: "login"}


@dataclass(frozen=True)
class Whose:
    """The student of a hand-in. If not `is_matched`, `doubt` says why and `nearest` who it may be."""

    students: tuple[Student, ...]
    is_matched: bool
    rule: str = ""
    nearest: tuple[str, ...] = ()
    doubt: str = ""


def settled(hand_ins: Sequence[HandIn], matcher: Matcher, matches: Matches) -> Iterator[tuple[HandIn, Whose]]:
    """Each hand-in with its student."""
    holding = _holding(hand_ins, matcher)
    first = [(one, _denied(one, _whose(one, matcher, matches), holding)) for one in hand_ins]
    claims: dict[Student, list[tuple[HandIn, Whose]]] = {}
    for one, whose in first:
        for student in whose.students if whose.is_matched and matcher.roster else ():
            claims.setdefault(student, []).append((one, whose))
    for one, whose in first:
        doubt = _contested(one, whose, claims) if whose.is_matched and matcher.roster else ""
        if doubt:
            nearest = tuple(map(named, whose.students))
            yield one, Whose(_strangers(one), is_matched=False, nearest=nearest, doubt=doubt)
        else:
            yield one, whose


def _holding(hand_ins: Sequence[HandIn], matcher: Matcher) -> set[str]:
    """The roster columns by which most hand-ins are found: an unknown number or login there means somebody else.

    Other columns may not fit: Moodle's numbers differ by assignment, and a roster may have another platform's logins.
    """
    holding: set[str] = set()
    for rule, column in _COLUMNS.items():
        known = [who for one in hand_ins for who in one.people if _said(who, rule)]
        there = {getattr(student, column).casefold() for student in matcher.roster}
        if known and 2 * sum(_said(who, rule).casefold() in there for who in known) > len(known):
            holding.add(rule)
    return holding


def _said(who: Who, rule: str) -> str:
    return {NUMBER: who.platform_id, SID: who.sid, ADDRESS: who.email, LOGIN: "".join(who.logins[:1])}[rule]


def _denied(one: HandIn, whose: Whose, holding: set[str]) -> Whose:
    """Rejects a match by name alone if the platform gives another number, id, address or login for the student."""
    if whose.rule != NAME or not whose.is_matched:
        return whose
    for who, student in zip(one.people, whose.students, strict=False):
        for rule in sorted(holding):
            said, own = _said(who, rule), getattr(student, _COLUMNS[rule])
            if said and own and said.casefold() != own.casefold():
                return _nobodys(one, f"the name is {student.name}'s, and the {rule} is not", (student,))
    return whose


def _agreement(one: HandIn, student: Student) -> int:
    """How many ids, addresses and the like of the hand-in's best-fitting person are the student's on the roster."""
    return max(
        sum(
            bool(own := str(getattr(student, column)).casefold()) and _said(who, rule).casefold() == own
            for rule, column in _COLUMNS.items()
        )
        for who in one.people
    )


def _contested(one: HandIn, whose: Whose, claims: dict[Student, list[tuple[HandIn, Whose]]]) -> str:
    """Why a hand-in can't belong to these students, because another one claims them."""
    rank = _RANK[whose.rule]
    for student in whose.students:
        for other, claim in claims[student]:
            if other.label == one.label:
                continue
            if _RANK[claim.rule] < rank:
                return f"{other.label} is {student.name}'s by {claim.rule}, and this one only by {whose.rule}"
            # Different platform numbers: two people (or groups) have the same name.
            is_apart = bool(one.platform_id and other.platform_id and one.platform_id != other.platform_id)
            is_apart = is_apart or (one.is_only and other.is_only and len(one.people) == len(other.people))
            if _RANK[claim.rule] == rank and is_apart and _agreement(other, student) >= _agreement(one, student):
                return f"{other.label} has the same {whose.rule}"
    return ""


def _whose(hand_in: HandIn, matcher: Matcher, matches: Matches) -> Whose:
    decided = matches.decided.get(hand_in.label)
    if decided is not None:
        return Whose((decided,), is_matched=True, rule=BY_HAND)
    if hand_in.doubt:
        return _nobodys(hand_in, hand_in.doubt, hand_in.rivals)
    found = [matcher.match(who) for who in hand_in.people]
    members = matcher.of_team(hand_in.team) if hand_in.team else []
    if members and (doubt := _no_group(hand_in, members, found, matcher)):
        if found[0].student is not None and doubt == _PERSON:
            members = []
        else:
            several = [*(one.student for one in found if one.student), *members]
            return _nobodys(hand_in, doubt, tuple(dict.fromkeys(several)))
    if members and members != [found[0].student]:
        whole = dict.fromkeys([*members, *(one.student for one in found if one.student)])
        return Whose(tuple(sorted(whole, key=lambda one: one.name)), is_matched=True, rule=GROUP)
    if not matcher.roster:
        return Whose(tuple(dict.fromkeys(_strangers(hand_in))), is_matched=True)
    return _persons(hand_in, found, matcher)


def _persons(hand_in: HandIn, found: Sequence[Match], matcher: Matcher) -> Whose:
    """Finds the student of a hand-in that belongs to no group on the roster."""
    lost = [(match, who) for match, who in zip(found, hand_in.people, strict=True) if match.student is None]
    if lost:
        nearest = tuple(dict.fromkeys(name for _, who in lost for name in matcher.nearest(who)))
        doubt = next((match.doubt for match, _ in lost if match.doubt), "")
        students = tuple(
            dict.fromkeys(match.student or stranger for match, stranger in zip(found, _strangers(hand_in), strict=True))
        )
        return Whose(students, is_matched=False, nearest=nearest, doubt=doubt)
    students = tuple(dict.fromkeys(match.student for match in found if match.student))
    return Whose(students, is_matched=True, rule=max((match.rule for match in found), key=lambda rule: _RANK[rule]))


_PERSON = "a person's"


def _no_group(hand_in: HandIn, members: Sequence[Student], found: Sequence[Match], matcher: Matcher) -> str:
    """Why a hand-in named like a group may not be the group's; "" if it is."""
    student = found[0].student
    if student is None or len(hand_in.people) > 1:
        if found[0].several and not set(found[0].several) <= set(members):
            return f"{hand_in.team} is a group, and a student too"
        return ""
    is_own_name = matcher.is_name_of(hand_in.people[0].name or hand_in.people[0].text, student)
    if student not in members:
        if is_own_name or not hand_in.people[0].name:
            return _PERSON
        return f"it has the name of the group {hand_in.team}, but is from {student.name}, who is not in it"
    if is_own_name and len(members) > 1:
        return f"{hand_in.team} is a group, and a student in it too"
    return ""


def _nobodys(hand_in: HandIn, doubt: str, several: Sequence[Student]) -> Whose:
    return Whose(_strangers(hand_in), is_matched=False, nearest=tuple(map(named, several)), doubt=doubt)


def _strangers(hand_in: HandIn) -> tuple[Student, ...]:
    """People on no roster, from the download's data."""
    return tuple(_stranger(who, hand_in) for who in hand_in.people)


def _stranger(who: Who, hand_in: HandIn) -> Student:
    name = who.name or who.text or hand_in.label
    return Student(name, who.sid, who.email, login=who.logins[0] if who.logins else "", platform_id=who.platform_id)
