"""Whose submission is it? Students are looked up by what platforms and people write of them.

`Matcher` indexes a roster once, so that looking somebody up costs the same in a class of 20 and of 2,000. Rules go from
sure to less sure: the platform's id, the student id, e-mail, login, the roster's folder column, then names in any order
without accents, then names written with initials. The first rule that finds anybody decides, and where it finds
several, nobody is matched: a person decides then.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache

from rapidfuzz import fuzz, process

from grader.intake.handin import Who
from grader.model.roster import Student

_SHORTEST_ID = 3  # that is looked for among other words
_NEAREST = 3
_MOST_FITTING = 8
_LEAST_ALIKE = 60.0
_MOST_WORDS = 8
_LOST = "\ufffd"  # stands for what could not be shown: names that differ there look the same, so none is matched
# Letters that lose no accent when they are decomposed, and how they are written without them.
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ß": "ss"})
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})

Index = dict[str, list[Student]]


class Matcher:
    """A roster, ready to be asked."""

    def __init__(self, roster: Sequence[Student]) -> None:
        """Indexes every student; a line that is there twice is one student."""
        self.roster = list(dict.fromkeys(roster))
        self._platform_ids = _index(self.roster, lambda one: [one.platform_id])
        self._folders = _index(self.roster, lambda one: [one.folder])
        self._sids = _index(self.roster, lambda one: [one.sid])
        self._emails = _index(self.roster, lambda one: [one.email])
        self._logins = _index(self.roster, lambda one: [one.login, one.login.partition("@")[0]])
        self._local_parts = _index(self.roster, lambda one: [one.email.partition("@")[0]])
        self._names = _index(
            self.roster, lambda one: [_key(spelt) for name in _names(one) for spelt in _spellings(name)]
        )
        self._run_together = _index(self.roster, lambda one: [run for name in _names(one) for run in _runs(name)])
        self._teams = _index(self.roster, lambda one: map(_together, _groups(one)))
        self._by_word = _index(self.roster, lambda one: {word for name in _names(one) for word in words(name)})

    def find(self, who: Who) -> Student | None:
        """The one student that fits; None where nobody or more than one does."""
        for found in self._found(who):
            if found:
                return found[0] if len(found) == 1 else None
        return None

    def of_team(self, team: str) -> list[Student]:
        """The members of a team, by the roster's column of teams or groups."""
        return self._teams.get(_together(team), [])

    def nearest(self, who: Who) -> tuple[str, ...]:
        """Students with their ids, whom a person should think of: all whom it fits, else whose names come closest."""
        several = self._fitting(who)
        if len(several) > 1:
            return tuple(dict.fromkeys(map(named, several[:_MOST_FITTING])))
        asked = " ".join(sorted(words(who.name or who.text)))
        if not asked or not self.roster:
            return ()
        best = process.extract(
            asked, self._spelt, scorer=fuzz.WRatio, limit=_NEAREST, score_cutoff=_LEAST_ALIKE, processor=None
        )
        return tuple(dict.fromkeys(named(self.roster[index]) for _, _, index in best))

    def _fitting(self, who: Who) -> list[Student]:
        """All whom the first rule finds that finds anybody; then those whose name is a word: smithjohn_40049."""
        found = next(filter(None, self._found(who)), [])
        parts = words(who.text)
        return found or _unique(one for part in parts for one in self._run_together.get(part, []))

    @cached_property
    def _spelt(self) -> list[str]:
        return [" ".join(sorted(words(one.name))) for one in self.roster]

    def _found(self, who: Who) -> Iterator[list[Student]]:
        text = "" if _LOST in who.text else _folded(who.text)
        yield self._platform_ids.get(_folded(who.platform_id), [])
        yield self._sids.get(_folded(who.sid), [])
        yield self._emails.get(_folded(who.email), [])
        for login in who.logins:
            yield self._logins.get(_folded(login), []) or self._local_parts.get(_folded(login), [])
        for index in (self._folders, self._sids, self._emails, self._logins, self._local_parts):
            yield index.get(text, [])
        for name in (who.name, who.text):
            yield _unique(student for spelt in _spellings(name) for student in self._names.get(_key(spelt), []))
        yield _unique(student for run in _alone(text) for student in self._run_together.get(run, []))
        yield self._with_id(text)
        for name in (who.name, who.text):
            yield self._with_initials(name)

    def _with_id(self, text: str) -> list[Student]:
        """Students whose id stands in the text as a word beside others: 1815 in lovelace_1815, 1 not in +1 or 1.5.

        Short numbers count things, as in homework_1.
        """
        parts = [part for part in re.split(r"[\s_,;()\[\]-]+", text) if part]
        found: list[Student] = []
        for part in parts:
            if len(part) >= _SHORTEST_ID and any(any(map(str.isalpha, other)) for other in parts if other != part):
                found += self._sids.get(part, [])
        return _unique(found)

    def _with_initials(self, name: str) -> list[Student]:
        """Students whose name it is with some words cut to their first letter: J. von Neumann, Lovelace A."""
        asked = words(name)
        whole = [word for word in asked if len(word) > 1]
        initials = [word for word in asked if len(word) == 1]
        if not whole or not initials or _LOST in name or len(asked) > _MOST_WORDS:
            return []
        candidates = self._by_word.get(max(whole, key=len), [])
        return [one for one in candidates if any(_abbreviates(whole, initials, words(spelt)) for spelt in _names(one))]


def named(student: Student) -> str:
    """A student as a person is asked about one: with the id, where there is one."""
    return f"{student.name} ({student.sid or student.email})" if student.sid or student.email else student.name


@lru_cache(maxsize=1 << 15)
def words(name: str) -> tuple[str, ...]:
    """The words of a name, without accents and case."""
    text = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return tuple(re.findall(r"[^\W_]+", text.casefold().translate(_PLAIN)))


def _names(student: Student) -> list[str]:
    return [name for name in (student.name, *student.other_names.split("|")) if name.strip()]


def _groups(student: Student) -> list[str]:
    return [student.team, *re.split(r"[,;|]", f"{student.team};{student.section}")]


def _together(team: str) -> str:
    """A team's name as Canvas writes it into a file's name: without what is no letter or digit."""
    return re.sub(r"[\W_]+", "", _folded(team))


def _spellings(name: str) -> list[str]:
    """A name as it is, with ä written ae, and without apostrophes, which some platforms drop."""
    lower = unicodedata.normalize("NFC", name).casefold()
    both = (lower, lower.translate(_GERMAN))
    return list(dict.fromkeys((*both, *(re.sub("['’`´ʼ]", "", one) for one in both))))


def _key(name: str) -> str:
    """What two spellings of one name share: its words in any order."""
    return "" if _LOST in name else " ".join(sorted(set(words(name))))


def _runs(name: str) -> set[str]:
    """A name written without anything between its words, as in Canvas's file names, beginning with any of them."""
    runs: set[str] = set()
    if _LOST in name:
        return runs
    for spelt in (name.casefold(), *(" ".join(words(one)) for one in _spellings(name))):
        for plain in (spelt, spelt.encode("ascii", "ignore").decode()):
            parts = re.findall(r"\w+", plain)[:_MOST_WORDS]
            runs |= {"".join(parts[place:] + parts[:place]) for place in range(len(parts))} if len(parts) > 1 else set()
    return runs


def _alone(text: str) -> list[str]:
    """The text where it is one word."""
    return [text] if re.fullmatch(r"\w+", text) else []


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
