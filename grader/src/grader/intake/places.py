"""Where in a class's names it stands whose each is: ``hw4_{login}``, ``{name} - {file}``, found from the roster.

Nobody wrote a rule for these names, but one made them all: a platform, a script, what students were asked for. Of
folders the places count at which most students of the roster are found, if they hold for half of them: the second word,
the last one. Of files, which are many where one student likes, it is the first word of which most values are students:
what a student writes behind it finds nobody, be it a classmate's id. A form puts the name at the end of
all files' instead, whatever stands before it.
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
_LONGEST = 8  # words of one name
_SHOWN = 40  # letters of a word that tell it apart: longer ones may have been cut
SHORTEST = 3  # letters or digits: shorter ones count things
PART = "part of a name"  # where nothing else is there: first names, last names
_KINDS = (SID, LOGIN, ADDRESS, NAME, GROUP, PART)
Place = tuple[str, bool, int]  # what stands there; whether words are counted from the end; after how many of them
_Votes = Mapping[Place, set[tuple[Student, ...]]]  # who is found at a place


@dataclass(frozen=True)
class Found:
    """Who is found in a name: by what, how it is written there, and the students, several for a group."""

    kind: str
    text: str
    students: tuple[Student, ...]
    before: str = ""
    after: str = ""


def _named_in(name: str, matcher: Matcher) -> Iterator[tuple[Place, Found]]:
    """All places of a name at which somebody is found, longer texts after shorter ones."""
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
    """The places that hold for a class's names."""

    def __init__(self, names: Sequence[str], matcher: Matcher, *, are_files: bool = False) -> None:
        """Looks at all names once; without a roster there is none."""
        self._matcher = matcher
        self._found: dict[str, dict[Place, Found]] = {}
        votes: dict[Place, set[tuple[Student, ...]]] = defaultdict(set)
        times: Counter[Place] = Counter()  # names in which somebody is found there
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
        """Whether there is any."""
        return bool(self._kept)

    def _at_the_end(self, names: Sequence[str], votes: _Votes) -> Place | None:
        """The place counted from the end at which most values are students, if there is one."""
        last = [place for place, whose in votes.items() if place[1] and len(whose) > 1]
        for place in sorted(last, key=lambda one: (_KINDS.index(one[0]), one[2])):
            unknown = [_WORD.findall(name.casefold()) for name in names if place not in self.all(name)]
            others = {words[-1 - place[2]][:_SHOWN] for words in unknown if place[2] < len(words)}
            if len(votes[place]) >= len(others):
                return place
        return None

    def all(self, name: str) -> dict[Place, Found]:
        """Whoever is found in a name, wherever."""
        if name not in self._found:
            self._found[name] = dict(_named_in(name, self._matcher)) if self._matcher.roster else {}
        return self._found[name]

    def read(self, name: str) -> list[Found]:
        """Who stands at the places of a name, the surest first; several only where they are different students."""
        there = self.all(name) if self._kept else {}
        whose: dict[tuple[Student, ...], Found] = {}
        for place in self._kept:
            if place in there:
                whose.setdefault(there[place].students, there[place])
        single = [one for one in whose.values() if one.kind != GROUP]
        return single or list(whose.values())


def _first_word(names: Sequence[str], students: Mapping[Place, int]) -> Place | None:
    """The first word of which most values are students, with what is meant by it."""
    words = [_WORD.findall(name.casefold()) for name in names]
    for offset in range(_MOST_WORDS):
        values = {one[offset] for one in words if offset < len(one)}
        most, kind = max((students.get((kind, False, offset), 0), -place) for place, kind in enumerate(_KINDS))
        if most > 1 and 2 * most >= len(values):
            return _KINDS[-kind], False, offset
    return None
