"""Makes hand-ins by a platform's rules: finds matches, chooses each path's reading, collects each attempt's files."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from grader.base.counted import counted
from grader.base.names import distinct, fingerprint, shown
from grader.intake.handin import HandIn, Who
from grader.intake.matching import Matcher, named
from grader.intake.moments import moment
from grader.intake.places import Places
from grader.intake.presets import CANVAS, MOODLE, Preset, Told, is_missing, spelt, told
from grader.intake.rules import IDENTITY, Hit, Reading, Rule
from grader.intake.tree import FOLDER, Branch, Node, Renamed, readable
from grader.model.roster import Student

_AGAIN = re.compile(r"(?P<stem>.+)-(?P<number>[1-9]\d?)")
FILE_NAMES = "file names"
_MOST_ATTEMPTS = 20  # graded per person: the newest ones


@dataclass(frozen=True)
class _Meant:
    """A hit with the chosen reading; `rivals` are students who fit equally well, so that a person must choose."""

    hit: Hit
    rule: Rule
    reading: Reading
    rivals: tuple[Student, ...] = ()
    is_doubtful: bool = False


@dataclass
class _Attempt:
    """The files of one attempt of one person or team."""

    meant: list[_Meant] = field(default_factory=list)
    told: Told = field(default_factory=Told)


def found(preset: Preset, top: Node) -> list[tuple[Rule, Hit]]:
    """The matches of the rules: each node once, by the first rule that fits."""
    hits: dict[str, tuple[Rule, Hit]] = {}
    is_one: dict[str, bool] = {}
    for rule in preset.rules:
        for hit in rule.hits(top):
            if hit.top not in is_one:
                entry = top.child(hit.top)
                is_one[hit.top] = entry is not None and not is_missing(preset, entry)
            if is_one[hit.top]:
                hits.setdefault(hit.path, (rule, hit))
    return list(hits.values())


def hand_ins(preset: Preset, top: Node, matcher: Matcher, zone: tzinfo) -> tuple[list[HandIn], list[Node]]:
    """All hand-ins by the preset's rules, and the entries that match none."""
    hits = found(preset, top)
    tops = {hit.top for _, hit in hits}
    rest = [one for one in top.visible() if one.name not in tops and not preset.beside.fullmatch(one.name)]
    own: dict[object, dict[object, _Attempt]] = {}
    for meant in _meant(preset, hits, matcher):
        reading = meant.reading
        which = (reading.get("time", ""), int(reading.get("attempt", 0)))
        key: object = ("?", meant.hit.top) if meant.rivals or meant.is_doubtful else _key(reading)
        own.setdefault(key, {}).setdefault(which, _Attempt()).meant.append(meant)
    labels = Counter(_label(next(iter(attempts.values())).meant[0].reading) for attempts in own.values())
    marks = preset.marks_late and any("late" in one.meant[0].reading for each in own.values() for one in each.values())
    made: list[HandIn] = []
    for key, attempts in own.items():
        for attempt in attempts.values():
            attempt.told = told(preset, top, attempt.meant[0].hit, attempt.meant[0].reading, zone)
        kept = [one for one in attempts.values() if not one.told.is_void] or list(attempts.values())
        void = [
            f"{readable(one.meant[0].hit.path)}: {one.told.is_void}" for one in attempts.values() if one.told.is_void
        ]
        ordered = sorted(kept, key=lambda one: _order(one, zone))
        older = ordered[:-_MOST_ATTEMPTS]
        void += [f"{counted(len(older), 'older attempt')}: the newest {_MOST_ATTEMPTS} are graded"] if older else []
        for place, attempt in enumerate(ordered[-_MOST_ATTEMPTS:]):
            label = _label(attempt.meant[0].reading)
            if labels[label] > 1:
                label = f"{label} {fingerprint(repr(key))}"
            one = _hand_in(preset, label, attempt, zone, order=place, marks=marks)
            made.append(replace(one, unused=(*one.unused, *void)) if place + 1 == len(ordered) - len(older) else one)
    return sorted(_behind_groups(made, matcher), key=lambda one: one.label), rest


def _behind_groups(made: Sequence[HandIn], matcher: Matcher) -> list[HandIn]:
    """The hand-ins; if most names match nobody, as in "Group 1-Ada Lovelace", a part of each name is looked up."""
    names = [one.people[0].name for one in made if len(one.people) == 1]
    unknown = sum(matcher.find(Who(name=name)) is None and not matcher.of_team(name) for name in names)
    places = Places(names if 2 * unknown > len(names) else (), matcher)
    found = list(made)
    for number, one in enumerate(made if places else ()):
        there = places.read(one.people[0].name) if len(one.people) == 1 else []
        if len(there) == 1:
            found[number] = replace(one, people=(replace(one.people[0], name=there[0].text),))
    return found


def _key(reading: Reading) -> object:
    if "group" in reading:
        return "group", reading["group"]
    return tuple((name, reading[name]) for name in (*IDENTITY, "code") if name in reading)


def _label(reading: Reading) -> str:
    """The name of a hand-in, which is the same in every download."""
    if "code" in reading:
        return f"anon_{reading['code']}"
    parts = ("group",) if "group" in reading else IDENTITY
    text = "_".join(reading[name] for name in parts if name in reading)
    return distinct(shown(readable(text)), text) if text == readable(text) else shown(readable(text))


def _order(attempt: _Attempt, zone: tzinfo) -> tuple[str, int]:
    reading = attempt.meant[0].reading
    return attempt.told.at or moment(reading.get("time", ""), zone), int(reading.get("attempt", 0))


def _hand_in(preset: Preset, label: str, attempt: _Attempt, zone: tzinfo, *, order: int, marks: bool) -> HandIn:
    first = attempt.meant[0]
    reading = first.reading
    at = attempt.told.at or moment(reading.get("time", ""), zone)
    nodes, is_again = _nodes(preset, label, attempt.meant)
    people = tuple(dict.fromkeys(_who(one.reading) for one in attempt.meant))
    source = attempt.told.source or (FILE_NAMES if at or marks else "")
    team = reading.get("group") or (reading.get("name") or reading.get("login", "") if len(people) == 1 else "")
    doubt = ""
    if first.rivals:
        doubt = f"its name can be read as {' and as '.join(named(one) for one in first.rivals)}"
    elif first.is_doubtful:
        doubt = "its name can also be read as somebody else's"
    return HandIn(
        label, people, nodes, _origin(preset, attempt), at=at, order=order,
        late=any("late" in one.reading for one in attempt.meant),
        again=is_again, platform_id=reading.get("number", reading.get("code", "")),
        team=shown(readable(team)), source=source, doubt=doubt, rivals=first.rivals,
    )  # fmt: skip


def _origin(preset: Preset, attempt: _Attempt) -> str:
    seen = [one for one in attempt.meant if not preset.unseen.fullmatch(one.hit.node.name)]
    return (seen or attempt.meant)[-1].hit.path


def _who(reading: Reading) -> Who:
    own = {name: shown(readable(value)) for name, value in reading.items()}
    return Who(
        name=own.get("name", ""), sid=own.get("id", ""), email=own.get("address", ""),
        logins=(own["login"],) if "login" in own else (), platform_id=own.get("number", own.get("code", "")),
    )  # fmt: skip


def _nodes(preset: Preset, label: str, meant: Sequence[_Meant]) -> tuple[tuple[Node, ...], bool]:
    """The files of an attempt, under the student's own names for them, and whether Canvas marks one as resubmitted."""
    seen = [one for one in meant if not preset.unseen.fullmatch(one.hit.node.name)]
    if any(one.hit.node.kind == FOLDER for one in seen):
        return tuple(one.hit.node for one in seen), False
    named_files = [(one.reading.get("file", one.hit.node.name), one.hit.node) for one in seen]
    if preset is not CANVAS:
        return (Branch(label, [Renamed(node, name) for name, node in named_files]),), False
    newest: dict[str, tuple[int, str]] = {}
    for name, _ in named_files:
        base, number = _base(name)
        newest[base] = max(newest.get(base, (-1, "")), (number, name))
    # A resubmitted file has a number after its name: the newest one gets the name without it.
    files: list[Node] = []
    for name, node in named_files:
        base, _ = _base(name)
        stem, dot, suffix = name.rpartition(".")
        earlier = f"{stem} (earlier){dot}{suffix}" if dot and name == base else name
        files.append(Renamed(node, base if newest[base][1] == name else earlier))
    return (Branch(label, files),), any(_base(name)[1] for name, _ in named_files)


def _base(name: str) -> tuple[str, int]:
    """Splits ladder-2.cu into "ladder.cu" and 2; the number is 0 if there is none."""
    stem, dot, suffix = name.rpartition(".")
    again = _AGAIN.fullmatch(stem if dot else name)
    return (f"{again['stem']}{dot}{suffix if dot else ''}", int(again["number"])) if again else (name, 0)


# --- choosing a reading


def _meant(preset: Preset, hits: Sequence[tuple[Rule, Hit]], matcher: Matcher) -> list[_Meant]:
    """Chooses the reading of each match."""
    spelt_hits = [(rule, hit, tuple(spelt(preset, one) for one in hit.readings)) for rule, hit in hits]
    starts = {rule.text: best_start([hit.top for one, hit in hits if one is rule], rule.shared, matcher)
              for rule in preset.rules if rule.shared}  # fmt: skip
    digits = {rule.text: _usual_digits(hits, rule) for rule in preset.rules}
    single = {_key(readings[0]) for _, _, readings in spelt_hits if len(readings) == 1}
    meant: list[_Meant] = []
    for rule, hit, readings in spelt_hits:
        own = readings[:1] if preset is MOODLE else readings  # Moodle removes each _ from a name
        if rule.shared:
            start = starts[rule.text]
            fitting = [one for one in readings if one["*"] + rule.shared == start]
            own = tuple(fitting or readings)[:1]
        own = tuple(one for one in own if len(one.get("digits", "")) == digits[rule.text]) or own
        if len(own) == 1:
            meant.append(_Meant(hit, rule, own[0]))
        elif matcher.roster:
            meant.append(_by_roster(hit, rule, own, matcher))
        else:
            meant.append(_Meant(hit, rule, own[0], is_doubtful=any(_key(one) in single for one in own[1:])))
    return meant


def _usual_digits(hits: Sequence[tuple[Rule, Hit]], rule: Rule) -> int:
    """The usual length of the platform's own file numbers, from paths with only one reading."""
    lengths = Counter(
        len(hit.readings[0].get("digits", "")) for one, hit in hits if one is rule and len(hit.readings) == 1
    )
    return lengths.most_common(1)[0][0] if lengths else 0


def _by_roster(hit: Hit, rule: Rule, readings: Sequence[Reading], matcher: Matcher) -> _Meant:
    """The reading of the name that best matches a student on the roster."""
    best: dict[Student, tuple[int, Reading]] = {}
    unlikely = False
    for place, reading in enumerate(readings):
        who = _who(reading)
        student = matcher.find(who)
        if student is not None:
            score = bool(who.platform_id or who.logins or who.email) + matcher.is_name_of(who.name, student)
            # A reading after the first may match by text that the student wrote: both login or id and name must fit.
            is_likely = score > 1 or "name" not in reading or not (place or "login" in reading)
            unlikely |= not is_likely
            if is_likely and score > best.get(student, (0, reading))[0]:
                best[student] = (score, reading)
    if not best:
        return _Meant(hit, rule, readings[0], is_doubtful=bool(unlikely))
    most = max(score for score, _ in best.values())
    likeliest = [(student, reading) for student, (score, reading) in best.items() if score == most]
    if len(likeliest) == 1:
        return _Meant(hit, rule, likeliest[0][1])
    return _Meant(hit, rule, likeliest[0][1], tuple(student for student, _ in likeliest))


def best_start(names: Iterable[str], divider: str, matcher: Matcher) -> str:
    """The prefix that names share before a login: the one after which most names are logins on the roster.

    Without a roster, the prefix common to all names. A single login can't change the result for the others.
    """
    names = list(names)
    votes: Counter[str] = Counter()
    for name in names:
        places = [place + 1 for place, char in enumerate(name) if char == divider]
        votes.update(name[:place] for place in places if not matcher.roster or _is_somebody(name[place:], matcher))
    if not votes:
        return ""
    most = max(votes.values())
    if matcher.roster:
        return min((start for start, count in votes.items() if count == most), key=len)
    whole = [start for start, count in votes.items() if count == len(names) > 1]
    return max(whole, key=len, default="")


def _is_somebody(rest: str, matcher: Matcher) -> bool:
    """Whether the rest of a name begins with a login, up to where the platform's own suffix begins."""
    return matcher.has_login(rest) or matcher.has_login(rest.partition("_attempt_")[0])
