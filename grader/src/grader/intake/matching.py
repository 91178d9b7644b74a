"""Finds the student of a submission from what platforms and people write.

`Matcher` indexes a roster once, so that a lookup costs the same in a class of 20 and of 2,000. Data asserted by the
platform (its number, an id, an address, a login) takes precedence over a name, which its owner chose; a chosen name is
never read as an id or a login. If two of them point to different students, nobody is matched, `Match.doubt` says why,
and a person decides.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from rapidfuzz import fuzz, process

from grader.intake.handin import Who
from grader.model.handed import ADDRESS, FOLDER, LOGIN, NAME, NUMBER, SID
from grader.model.roster import Student

_SHORTEST_ID = 3  # when searched for among other words
_NEAREST = 3
_MOST_FITTING = 8
_LEAST_ALIKE = 60.0
_MOST_WORDS = 8
_LOST = "\ufffd"  # marks undecodable text: names that differ there look the same, so none is matched
# Letters that don't decompose into a base letter and an accent, with their plain spelling.
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ß": "ss"})
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})

Index = dict[str, list[Student]]
Found = tuple[str, list[Student]]  # a rule, and the students it finds


@dataclass(frozen=True)
class Match:
    """The student and the rule that found them; None with a reason in `doubt` if `several` fit."""

    student: Student | None = None
    rule: str = ""
    doubt: str = ""
    several: tuple[Student, ...] = ()


class Matcher:
    """A roster indexed for lookups."""

    def __init__(self, roster: Sequence[Student]) -> None:
        """Indexes every student; duplicate lines count once."""
        self.roster = list(dict.fromkeys(roster))
        self._platform_ids = _index(self.roster, lambda one: [one.platform_id])
        self._folders = _index(self.roster, lambda one: [one.folder])
        self._sids = _index(self.roster, lambda one: [one.sid])
        self._short_sids = _index(self.roster, lambda one: [one.sid.lstrip("0")])
        self._emails = _index(self.roster, lambda one: [one.email])
        self._logins = _index(self.roster, lambda one: [one.login, one.login.partition("@")[0]])
        self._local_parts = _index(self.roster, lambda one: [one.email.partition("@")[0]])
        self._names = _index(
            self.roster, lambda one: [_key(spelt) for name in _names(one) for spelt in _spellings(name)]
        )
        self._run_together = _index(self.roster, lambda one: [run for name in _names(one) for run in _runs(name)])
        self._teams = _index(self.roster, lambda one: map(_together, one.groups))
        self._cut = _index(self.roster, lambda one: [cut for name in _names(one) for cut in _cuts(name)])
        self._by_word = _index(self.roster, lambda one: {word for name in _names(one) for word in words(name)})

    def match(self, who: Who) -> Match:
        """The one student who fits; if several do, or none, why that is unclear."""
        sure = self._sure(who)
        by_name = self._by_name(who.name)
        if sure:
            common = [one for one in sure[0][1] if all(one in found for _, found in sure)]
            if len(common) > 1:  # the roster gives two people the same number
                common = [one for one in common if one in by_name] or common
            if len(common) == 1 and (not by_name or common[0] in by_name):
                return Match(common[0], sure[0][0])
            several = _unique(one for _, found in (*sure, (NAME, by_name)) for one in found)
            return _doubtful([*sure, *([(NAME, by_name)] if by_name else [])], several)
        by_name = by_name or self._with_initials(who.name)
        if by_name:
            return Match(by_name[0], NAME) if len(by_name) == 1 else _doubtful([(NAME, by_name)], by_name)
        return self._by_text(who.text)

    def find(self, who: Who) -> Student | None:
        """The one student who fits; None if there is none, or more than one."""
        return self.match(who).student

    def of_team(self, team: str) -> list[Student]:
        """The members of a team, by the roster's column of teams or groups; empty if two teams fit."""
        members = self._teams.get(_together(team), [])
        spelt = {name for one in members for name in one.groups if _together(name) == _together(team)}
        exact = {name for name in spelt if _folded(name) == _folded(team)}
        meant = exact or spelt
        return [one for one in members if meant & set(one.groups)] if len(meant) == 1 else []

    def of_part(self, text: str) -> list[Student]:
        """Students whose names contain all words of this text."""
        asked = words(text)
        some = self._by_word.get(max(asked, key=len), []) if asked else []
        return [one for one in some if all(one in self._by_word.get(word, []) for word in asked)]

    def team_of(self, students: Sequence[Student]) -> str:
        """The team that all of them are in; "" if there is none, or several."""
        common = [name for name in students[0].groups if all(name in one.groups for one in students[1:])]
        return common[0] if len(common) == 1 else ""

    def whole(self, text: str, *, is_short: bool = False) -> list[Found]:
        """Finds the student with this id, address, login or name; `is_short`: an id may lack its leading zeros."""
        key = "" if _LOST in text else _folded(text)
        login = self._logins.get(key) or self._local_parts.get(key, [])
        sids = self._of_sid(key) if is_short else self._sids.get(key, [])
        ids = (SID, sids), (ADDRESS, self._emails.get(key, [])), (LOGIN, login)
        return [*ids, (NAME, self._by_name(text))]

    def has_login(self, login: str) -> bool:
        """Whether this is the login of a student or a team."""
        return bool(self._of_login(login) or self.of_team(login))

    def is_name_of(self, name: str, student: Student) -> bool:
        """Whether this is a spelling of the student's name."""
        return student in self._by_name(name)

    def nearest(self, who: Who) -> tuple[str, ...]:
        """Suggestions, with their ids: students who fit (at most 8), else those (at most 3) with the closest names."""
        several = self.match(who).several or self.words_in(who.name or who.text or who.email)
        if several:
            return tuple(dict.fromkeys(map(named, several[:_MOST_FITTING])))
        asked = " ".join(sorted(words(who.name or who.text or " ".join(who.logins[:1]))))
        if not asked or not self.roster:
            return ()
        best = process.extract(
            asked, self._spelt, scorer=fuzz.WRatio, limit=_NEAREST, score_cutoff=_LEAST_ALIKE, processor=None
        )
        return tuple(dict.fromkeys(named(self.roster[index]) for _, _, index in best))

    def words_in(self, text: str) -> list[Student]:
        """Students whose whole name, id, login or address (without domain) is a word of the text: smithjohn_40049."""
        found = [one for part in words(text) for one in self._run_together.get(part, [])]
        for part in re.findall(r"[\w.-]+|[^\W_]+|\d{4,}", f"{text} {text.replace('_', ' ')}"):
            found += [
                one for rule, own in self.whole(part) if rule != NAME and len(part) >= _SHORTEST_ID for one in own
            ]
            found += self._local_parts.get(_folded(part), []) if f"{part}@" in text else []
        return _unique(found)

    @cached_property
    def _spelt(self) -> list[str]:
        return [" ".join(sorted(words(one.name))) for one in self.roster]

    def _sure(self, who: Who) -> list[Found]:
        """The matches of the data that the platform asserts."""
        found = [
            (NUMBER, self._platform_ids.get(_folded(who.platform_id), [])),
            (SID, self._of_sid(who.sid)),
            (ADDRESS, self._emails.get(_folded(who.email), [])),
        ]
        for login in who.logins:
            if own := self._of_login(login):
                found.append((LOGIN, own))
                break
        return [(rule, students) for rule, students in found if students]

    def _of_login(self, login: str) -> list[Student]:
        """Students with a login; if the roster has no logins, the local part of an address, or an id."""
        key = _folded(login)
        index = self._logins or self._local_parts or self._sids
        return index.get(key) or self._emails.get(key, [])

    def _of_sid(self, sid: str) -> list[Student]:
        """Students with an id; it may have lost its leading zeros in a spreadsheet."""
        key = _folded(sid)
        return self._sids.get(key) or (self._short_sids.get(key.lstrip("0"), []) if key.isdecimal() else [])

    def _by_name(self, name: str) -> list[Student]:
        found = _unique(one for spelt in _spellings(name) for one in self._names.get(_key(spelt), []))
        return found or _unique(one for run in _alone(_folded(name)) for one in self._run_together.get(run, []))

    def _by_text(self, text: str) -> Match:
        """Finds the student of a folder by its name. If the roster's column `folder` has it, that alone decides."""
        key = "" if _LOST in text else _folded(text)
        if own := self._folders.get(key, []):
            return Match(own[0], FOLDER) if len(own) == 1 else _doubtful([(FOLDER, own)], own)
        for rules in (self.whole(text), list(self._among_words(key)), [(NAME, self._with_initials(text))]):
            found = [one for one in rules if one[1]]
            several = _unique(one for _, students in found for one in students)
            if len(several) == 1:
                return Match(several[0], found[0][0])
            if several:
                return _doubtful(found, several)
        return Match()

    def _among_words(self, text: str) -> Iterator[Found]:
        """Students whose id or login is a word of the text, where the other words are their name.

        It finds 1815 in lovelace_1815, but not 1 in +1, 1.5 or homework_1 (a counter). If an id belongs to one
        student and the whole name to another, a person decides.
        """
        parts = [part for part in re.split(r"[\s_,;()\[\]-]+", text) if part]
        for place, part in enumerate(parts):
            others = parts[:place] + parts[place + 1 :]
            if len(part) < _SHORTEST_ID or not any(any(map(str.isalpha, other)) for other in others):
                continue
            rest = " ".join(others)
            if students := self._sids.get(part, []):
                yield SID, students
                yield NAME, self._by_name(rest)
            for student in self._logins.get(part) or self._local_parts.get(part, []):
                if set(words(rest)) & {word for name in _names(student) for word in words(name)}:
                    yield LOGIN, [student]

    def _with_initials(self, name: str) -> list[Student]:
        """Students whose name fits with some words shortened to initials: J. von Neumann, Lovelace A, jneumann."""
        asked = words(name)
        if cut := [one for one in self._cut.get("".join(asked), []) if len(asked) < len(words(one.name))]:
            return cut
        whole = [word for word in asked if len(word) > 1]
        initials = [word for word in asked if len(word) == 1]
        if not whole or not initials or _LOST in name or len(asked) > _MOST_WORDS:
            return []
        candidates = self._by_word.get(max(whole, key=len), [])
        return [one for one in candidates if any(_abbreviates(whole, initials, words(spelt)) for spelt in _names(one))]


def _doubtful(found: Sequence[Found], several: Sequence[Student]) -> Match:
    rules = list(dict.fromkeys(rule for rule, _ in found))
    if len(rules) == 1:
        return Match(doubt=f"{len(several)} students have this {rules[0]}", several=tuple(several))
    told = "; ".join(f"by {rule} {named(students[0])}" for rule, students in found)
    return Match(doubt=f"the rules find different students: {told}", several=tuple(several))


def named(student: Student) -> str:
    """A student as named in questions to a person: with the id, if there is one."""
    return f"{student.name} ({student.sid or student.email})" if student.sid or student.email else student.name


@lru_cache(maxsize=1 << 15)
def words(name: str) -> tuple[str, ...]:
    """The words of a name, without accents and in lower case."""
    text = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return tuple(re.findall(r"[^\W_]+", text.casefold().translate(_PLAIN)))


def _names(student: Student) -> list[str]:
    return [name for name in (student.name, *student.other_names.split("|")) if name.strip()]


def _together(team: str) -> str:
    """A team's name as Canvas writes it into a file name: only letters and digits."""
    return re.sub(r"[\W_]+", "", _folded(team))


def _spellings(name: str) -> list[str]:
    """A name as written, with ä spelled ae, and without apostrophes, which some platforms drop."""
    lower = unicodedata.normalize("NFC", name).casefold()
    both = (lower, lower.translate(_GERMAN))
    return list(dict.fromkeys((*both, *(re.sub("['’`´ʼ]", "", one) for one in both))))


def _key(name: str) -> str:
    """A key that ignores spelling and word order."""
    return "" if _LOST in name else " ".join(sorted(set(words(name))))


def _runs(name: str) -> set[str]:
    """A name written as one word, as in Canvas's file names, starting with any of its words."""
    runs: set[str] = set()
    if _LOST in name:
        return runs
    for spelt in (name.casefold(), *(" ".join(words(one)) for one in _spellings(name))):
        for plain in (spelt, spelt.encode("ascii", "ignore").decode()):
            parts = re.findall(r"\w+", plain)[:_MOST_WORDS]
            runs |= {"".join(parts[place:] + parts[:place]) for place in range(len(parts))} if len(parts) > 1 else set()
    return runs


def _cuts(name: str) -> set[str]:
    """A name written as one word with its first names as initials, or only the first initial: jneumann, neumannj."""
    cuts: set[str] = set()
    for spelt in _spellings(name):
        parts = words(spelt)[:_MOST_WORDS]
        for place in range(1, len(parts)):
            initials, rest = "".join(one[0] for one in parts[:place]), "".join(parts[place:])
            cuts |= {initials + rest, rest + initials, initials[0] + rest, rest + initials[0]}
    return cuts


def _alone(text: str) -> list[str]:
    """The text if it is a single word; hyphens and apostrophes may be part of it."""
    plain = re.sub("['’`´ʼ-]", "", text)
    return [plain] if re.fullmatch(r"\w+", plain) else []


def _abbreviates(whole: Sequence[str], initials: Sequence[str], name: Sequence[str]) -> bool:
    left = list(name)
    for word in whole:
        if word not in left:
            return False
        left.remove(word)
    return sorted(word[0] for word in left) == sorted(initials)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().strip()


def _index(roster: Sequence[Student], keys: Callable[[Student], Iterable[str]]) -> Index:
    index: Index = {}
    for student in roster:
        for key in dict.fromkeys(_folded(one) for one in keys(student)):
            if key and _LOST not in key:
                index.setdefault(key, []).append(student)
    return index


def _unique(students: Iterable[Student]) -> list[Student]:
    return list(dict.fromkeys(students))
