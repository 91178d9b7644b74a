"""Pages for staff on submissions that share long pieces of code: a list of pairs, and each pair side by side.

They point a person to similar code, and say nothing about its cause. Only names and numbers of an assignment are kept
in memory when the next one is compared.
"""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from grader.base.files import write_atomic
from grader.base.names import fingerprint, shown_block, slug
from grader.course.people import Identity, identity
from grader.model.assignment import Assignment
from grader.model.record import Record
from grader.model.similarity import Pair, Tokens, identical, line_marks, similar_pairs, tokenise
from grader.pages.cards import STAFF
from grader.pages.highlight import highlight

PAGE = f"{STAFF}/similar.html"
_PAIRS = f"{STAFF}/similar"
_MOST_PAIRS = 50  # per assignment
_MOST_CHARS, _MOST_LINES = 100_000, 4000
_LONGEST = 1000  # characters per line in an excerpt
_AROUND = 5  # lines of context around shared code
_SECONDS = 2.0
_COLOURS = 6


@dataclass(frozen=True)
class Work:
    """A submission to compare: its source, its students (all members of a team), and its displayed name.

    `is_earlier` marks one of an earlier class, which is compared only with the current class.
    """

    name: str
    folder: str
    people: frozenset[Identity]
    source: str
    is_earlier: bool = False


@dataclass(frozen=True)
class Alike:
    """Two submissions by name, the number of others with the same code as each, and what they share.

    `page` shows them side by side.
    """

    first: str
    first_more: int
    second: str
    second_more: int
    pair: Pair
    page: str


@dataclass(frozen=True)
class Likeness:
    """One assignment: groups of names with the same tokens, and pairs that share much.

    `compared` counts different sources; `more` pairs are not listed.
    """

    assignment: Assignment
    submissions: int
    compared: int
    groups: tuple[tuple[str, ...], ...]
    pairs: tuple[Alike, ...]
    more: int


def works(records: Iterable[Record]) -> list[Work]:
    """The last attempt of each folder, in full; attempts without code are left out."""
    return [
        Work(
            record.student.name,
            record.folder,
            frozenset(
                identity(student, is_matched=record.handed.is_matched)
                for student in record.handed.group or (record.student,)
            ),
            record.source,
        )
        for record in records
        if record.source.strip()
    ]


def state_of(assignment: str, attempts: Iterable[Record]) -> str:
    """A hash that changes when an assignment has new submissions to compare, or new names to show."""
    lines = [
        "\0".join((record.folder, str(record.handed.number), record.provenance.submission, record.student.name))
        for record in attempts
    ]
    return f"{assignment}-{fingerprint(chr(10).join(sorted(lines)), 32)}"


def settle_similar(environment: Environment, out: Path, states: Sequence[str]) -> None:
    """Removes an outdated comparison, of other submissions or names, and says how to make a new one."""
    path, state = out / PAGE, " ".join(sorted(states))
    if path.is_file() and f'content="{state}"' in path.read_text(encoding="utf-8", errors="replace"):
        return
    shutil.rmtree(out / _PAIRS, ignore_errors=True)
    text = environment.get_template("similar.html.j2").render(found=None, state=state, least=0.0, out=str(out))
    write_atomic(path, text)


class SimilarPages:
    """Writes staff/similar.html and a page for each pair, instead of an earlier run's."""

    def __init__(self, environment: Environment, out: Path, least: float) -> None:
        """Lists pairs where one shares at least the fraction `least` of its code with the other."""
        self._environment = environment
        self._out = out
        self._least = least
        self._found: list[Likeness] = []
        shutil.rmtree(out / _PAIRS, ignore_errors=True)

    def add(self, assignment: Assignment, submissions: Sequence[Work]) -> Likeness:
        """Compares all submissions of an assignment and writes the pairs' pages."""
        stub = _stub(assignment)
        tokens = [tokenise(one.source, is_python=assignment.is_python) for one in submissions]
        groups = identical(tokens, stub)
        repeats = {index for group in groups for index in group[1:]}
        members = {group[0]: [submissions[index] for index in group] for group in groups}
        unlike = [index for index in range(len(tokens)) if index not in repeats and len(tokens[index].exact)]
        groups_of = [members.get(index, [submissions[index]]) for index in unlike]
        pairs = similar_pairs(
            [tokens[index] for index in unlike],
            stub,
            self._least,
            may_pair=lambda one, other: _strangers(groups_of[one], groups_of[other]) is not None,
        )
        alike = tuple(self._alike(assignment, groups_of, pair) for pair in pairs[:_MOST_PAIRS])
        likeness = Likeness(
            assignment,
            sum(not one.is_earlier for one in submissions),
            len(unlike),
            tuple(names for group in members.values() if _is_of_now(group) and len(names := _names(group)) > 1),
            alike,
            max(0, len(pairs) - _MOST_PAIRS),
        )
        self._found.append(likeness)
        return likeness

    def _alike(self, assignment: Assignment, groups: Sequence[Sequence[Work]], pair: Pair) -> Alike:
        both = _strangers(groups[pair.first], groups[pair.second])
        first, second = both or (groups[pair.first][0], groups[pair.second][0])
        # Names may be long; the hash keeps file names unique.
        name = f"{slug(first.folder)[:40]}-{fingerprint(f'{first.folder}/{second.folder}')}"
        same = [
            [one.name for one in groups[index] if one not in (first, second)] for index in (pair.first, pair.second)
        ]
        alike = Alike(
            first.name, len(same[0]), second.name, len(same[1]), pair, f"{_PAIRS}/{assignment.id}/{name}.html"
        )

        def lines(work: Work, ranges: Sequence[tuple[int, int]]) -> list[_Line]:
            return _lines(work.source, ranges, is_python=assignment.is_python)

        text = self._environment.get_template("similar_pair.html.j2").render(
            assignment=assignment,
            alike=alike,
            sides=(
                (first.name, same[0], pair.first_share, lines(first, [one.first for one in pair.regions])),
                (second.name, same[1], pair.second_share, lines(second, [one.second for one in pair.regions])),
            ),
        )
        write_atomic(self._out / alike.page, text)
        return alike

    def finish(self, states: Sequence[str]) -> Path:
        """Writes the page that lists all pairs, and returns its path; `states`: of the compared assignments."""
        path = self._out / PAGE
        text = self._environment.get_template("similar.html.j2").render(
            found=self._found, state=" ".join(sorted(states)), least=self._least, out=str(self._out)
        )
        write_atomic(path, text)
        return path


def _strangers(group: Sequence[Work], other: Sequence[Work]) -> tuple[Work, Work] | None:
    """One submission from each group, without a common student, and not both from an earlier class; None if none."""
    pairs = ((one, two) for one in group for two in other if not (one.is_earlier and two.is_earlier))
    return next(((one, two) for one, two in pairs if not one.people & two.people), None)


def _is_of_now(group: Sequence[Work]) -> bool:
    return not all(one.is_earlier for one in group)


def _names(group: Sequence[Work]) -> tuple[str, ...]:
    """The names in a group, without repeats for resubmissions and teams."""
    seen: set[Identity] = set()
    names = []
    for one in group:
        if not one.people & seen:
            names.append(one.name)
        seen |= one.people
    return tuple(names)


def _stub(assignment: Assignment) -> Tokens | None:
    path = assignment.path.parent / assignment.submission
    if not path.is_file():
        return None
    return tokenise(path.read_text(encoding="utf-8", errors="replace"), is_python=assignment.is_python)


@dataclass(frozen=True)
class _Line:
    number: int
    code: Markup
    region: int
    starts: bool

    @property
    def colour(self) -> int:
        return (self.region - 1) % _COLOURS + 1 if self.region else 0


def _lines(source: str, ranges: Sequence[tuple[int, int]], *, is_python: bool) -> list[_Line]:
    """The source's lines; of a long one only shared lines with context, under their original numbers."""
    every = source.rstrip().split("\n")
    marks = line_marks(ranges)
    numbers: Sequence[int] = range(1, len(every) + 1)
    if len(source) > _MOST_CHARS or len(every) > _MOST_LINES:
        near = {number + by for number in marks for by in range(-_AROUND, _AROUND + 1)}
        numbers = [number for number in numbers if number in near or number <= _AROUND]
    text = shown_block("\n".join(every[number - 1][:_LONGEST] for number in numbers[:_MOST_LINES]), _MOST_CHARS)
    seen: set[int] = set()
    lines = []
    for number, code in zip(numbers, highlight(text, _SECONDS, is_python=is_python).lines, strict=False):
        region = marks.get(number, 0)
        lines.append(_Line(number, code, region, region not in seen and region > 0))
        seen.add(region)
    return lines
