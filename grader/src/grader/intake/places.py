"""Where the names of a class identify students, learned from the roster: ``hw4_{login}``, ``{name} - {file}``.

No rule was given for these names, but one produced them: a platform, a script, or the instructions to students. For
folders, the position is chosen at which most students of the roster are found (the second word, the last one), if that
is at least half of them. For files, of which one student may have many, it is the first word whose values are mostly
students: text that a student adds after it is ignored, even a classmate's id. A web form instead puts the name at
the end of every file name, after arbitrary text.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.intake.matching import Matcher
from grader.model.handed import ADDRESS, GROUP, LOGIN, NAME, SID
from grader.model.roster import Student

_WORD = re.compile(r"[^\s_,;()\[\]+~=.-]+")
_MOST_WORDS = 16
_LONGEST = 8  # words in one name
_SHOWN = 40  # letters of a word to compare: longer ones may have been truncated
SHORTEST = 3  # letters or digits: shorter words are usually counters
PART = "part of a name"  # the last resort: first names, last names
_KINDS = (SID, LOGIN, ADDRESS, NAME, GROUP, PART)
Place = tuple[str, bool, int]  # the kind of value; whether words are counted from the end; the index of the word
_Votes = Mapping[Place, set[tuple[Student, ...]]]  # the students found at a position


@dataclass(frozen=True)
class Found:
    """A student found in a name: by what kind of value, how it is written, and the students (several for a group)."""

    kind: str
    text: str
    students: tuple[Student, ...]
    before: str = ""
    after: str = ""


def _named_in(name: str, matcher: Matcher) -> Iterator[tuple[Place, Found]]:
    """All positions of a name at which somebody is found, shorter texts first."""
    words = list(_WORD.finditer(name))
    if len(words) > _MOST_WORDS:
        return
    for count in range(1, min(_LONGEST, len(words)) + 1):
        for first in range(len(words) - count + 1):
            start, end = words[first].start(), words[first + count - 1].end()
            text = name[start:end]
            if len(text) < SHORTEST and text.isascii():
                continue
            part = matcher.of_part(text) if count == 1 else []
            for kind, students in (*matcher.whole(text, is_short=True), (GROUP, matcher.of_team(text)), (PART, part)):
                if students and (kind == GROUP or len(students) == 1):
                    found = Found(kind, text, tuple(students), name[:start], name[end:])
                    yield (kind, False, first), found
                    yield (kind, True, len(words) - first - count), found


class Places:
    """The positions that identify students in the names of a class."""

    def __init__(self, names: Sequence[str], matcher: Matcher, *, are_files: bool = False) -> None:
        """Examines all names once; without a roster there are no positions."""
        self._matcher = matcher
        self._found: dict[str, dict[Place, Found]] = {}
        votes: dict[Place, set[tuple[Student, ...]]] = defaultdict(set)
        times: Counter[Place] = Counter()  # number of names in which somebody is found there
        for name in names if matcher.roster else ():
            for place, found in self.all(name).items():
                votes[place].add(found.students)
                times[place] += 1
        weak = {place: len(whose) for place, whose in votes.items()}
        strong = {place: count for place, count in weak.items() if place[0] != PART}
        first: Place | None = None
        if are_files:
            first = _first_word(names, strong) or self._at_the_end(names, votes) or _first_word(names, weak)
        kept = [place for place, count in weak.items() if count > 1 and 2 * times[place] >= len(names)]
        kept = [one for one in kept if one[0] != PART] or kept
        kept.sort(key=lambda one: (-weak[one], _KINDS.index(one[0]), one[1:]))
        self._kept = [first] if first else [one for one in kept if 2 * weak[one] > weak[kept[0]]]

    def __bool__(self) -> bool:
        """Whether there is a position."""
        return bool(self._kept)

    def _at_the_end(self, names: Sequence[str], votes: _Votes) -> Place | None:
        """The position counted from the end at which most values are students, if there is one."""
        last = [place for place, whose in votes.items() if place[1] and len(whose) > 1]
        for place in sorted(last, key=lambda one: (_KINDS.index(one[0]), one[2])):
            unknown = [_WORD.findall(name.casefold()) for name in names if place not in self.all(name)]
            others = {words[-1 - place[2]][:_SHOWN] for words in unknown if place[2] < len(words)}
            if len(votes[place]) >= len(others):
                return place
        return None

    def all(self, name: str) -> dict[Place, Found]:
        """Everybody found in a name, at any position."""
        if name not in self._found:
            self._found[name] = dict(_named_in(name, self._matcher)) if self._matcher.roster else {}
        return self._found[name]

    def read(self, name: str) -> list[Found]:
        """The students at the positions of a name, most reliable first; several only if they are different students."""
        there = self.all(name) if self._kept else {}
        whose: dict[tuple[Student, ...], Found] = {}
        for place in self._kept:
            if place in there:
                whose.setdefault(there[place].students, there[place])
        single = [one for one in whose.values() if one.kind != GROUP]
        return single or list(whose.values())


def _first_word(names: Sequence[str], students: Mapping[Place, int]) -> Place | None:
    """The first word of a name at which at least half of the values are students, with its kind of value."""
    words = [_WORD.findall(name.casefold()) for name in names]
    for offset in range(_MOST_WORDS):
        values = {one[offset] for one in words if offset < len(one)}
        most, kind = max((students.get((kind, False, offset), 0), -place) for place, kind in enumerate(_KINDS))
        if most > 1 and 2 * most >= len(values):
            return _KINDS[-kind], False, offset
    return None
