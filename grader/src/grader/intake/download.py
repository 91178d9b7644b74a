"""A class as it was downloaded: what platform made it, who handed in, and whose submission is whose.

`open_class` recognises the platform and matches everybody to the roster once; `ClassDownload.submissions` then gives
the submissions for one assignment. Nobody is lost: what matches no student keeps a row of its own and is named, and
every student of the roster who handed in nothing has one too. Nobody is there twice: all that one student handed in
shares `Submission.folder`, as attempts numbered from 1.
"""

import contextlib
import hashlib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

from grader.base.errors import GraderError
from grader.base.files import FileError
from grader.base.names import fingerprint, shown
from grader.intake import canvas, git_clones, gradescope, moodle, plain
from grader.intake.archive import CLASS, archive_tree, is_archive
from grader.intake.disk import disk_tree
from grader.intake.handin import Found, HandIn, Who, find_source, is_for
from grader.intake.matches import Matches, read_matches
from grader.intake.matching import Matcher
from grader.intake.tree import FILE, FOLDER, Node, readable
from grader.model.course_folder import MATCHES, course_folder
from grader.model.discovery import Submission, Wanted
from grader.model.handed import Handed
from grader.model.roster import CLASSROOM_ROSTER, ROSTER, Student, read_roster, roster_from, with_logins

_PLATFORMS: tuple[ModuleType, ...] = (gradescope, moodle, canvas, git_clones)
_LARGEST_ROSTER = 16 << 20


@dataclass
class Owner:
    """A student, a team, or somebody unknown, with all attempts, oldest first."""

    folder: str
    student: Student
    attempts: list[HandIn]
    group: tuple[Student, ...] = ()
    is_matched: bool = True
    nearest: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[Student, ...]:
        """Everybody whose work it is."""
        return self.group or (self.student,)

    @property
    def is_resubmitted(self) -> bool:
        """Whether there was an earlier attempt, in this download or by what the platform says."""
        return len(self.attempts) > 1 or any(one.again for one in self.attempts)


@dataclass
class ClassDownload:
    """A download, recognised and matched. It reads the files as long as `open_class` holds it open."""

    title: str
    roster: list[Student]
    owners: list[Owner]
    ignored: list[str]
    matches_file: Path
    matches: Matches = field(default_factory=Matches)
    _sources: dict[bytes, bytes] = field(default_factory=dict)

    @property
    def unmatched(self) -> list[Owner]:
        """Who is nobody on the roster."""
        return [owner for owner in self.owners if not owner.is_matched]

    @property
    def without(self) -> list[Student]:
        """Students who handed in nothing."""
        present = {student for owner in self.owners for student in owner.members}
        return [student for student in dict.fromkeys(self.roster) if student not in present]

    def has(self, wanted: Wanted) -> bool:
        """Whether somebody handed in a file that carries the assignment's name."""
        return any(is_for(attempt, wanted) for owner in self.owners for attempt in owner.attempts)

    def submissions(self, wanted: Wanted) -> list[Submission]:
        """All submissions for one assignment, then students of the roster who handed in nothing at all."""
        found = [one for owner in self.owners for one in self._of(owner, wanted)]
        taken = {unicodedata.normalize("NFC", submission.folder) for submission in found}
        for student in self.without:
            folder = _apart(student.folder or student.sid or student.name, repr(student), taken)
            found.append(Submission(folder, student, None, "nothing was submitted"))
        return found

    def _of(self, owner: Owner, wanted: Wanted) -> Iterator[Submission]:
        """An owner's attempts. One without a file for this assignment counts only where there is no other."""
        tried = [(attempt, find_source(attempt, wanted)) for attempt in owner.attempts]
        there = [(attempt, found) for attempt, found in tried if found.source is not None or found.refused]
        for number, (attempt, found) in enumerate(there or tried[-1:], 1):
            yield Submission(
                owner.folder, owner.student, self._same(found), found.problem, found.refused,
                Handed(
                    at=attempt.at, late=attempt.late, number=number, group=owner.group,
                    platform_id=attempt.platform_id, origin=attempt.origin, is_matched=owner.is_matched,
                    nearest=owner.nearest,
                ),
            )  # fmt: skip

    def _same(self, found: Found) -> bytes | None:
        """The source; equal ones are kept once."""
        if found.source is None:
            return None
        return self._sources.setdefault(hashlib.sha256(found.source).digest(), found.source)


@contextlib.contextmanager
def open_class(path: Path, roster_path: Path | None = None) -> Iterator[ClassDownload]:
    """A folder or an archive of submissions. Raises GraderError where it can't be read as a whole."""
    with _tree(path) as root:
        title, top, hand_ins = _recognised(root, is_folder=path.is_dir())
        course = course_folder(path)
        roster = _roster(path, [root, top], roster_path, course)
        matcher = Matcher(roster)
        beside = course or (path if path.is_dir() else path.resolve().parent)
        matches = read_matches(beside / MATCHES, matcher)
        ignored = [one.label for one in hand_ins if matches.ignores(one.label)]
        owners = _owners([one for one in hand_ins if not matches.ignores(one.label)], matcher, matches)
        yield ClassDownload(title, roster, owners, ignored, beside / MATCHES, matches)


@contextlib.contextmanager
def _tree(path: Path) -> Iterator[Node]:
    with contextlib.ExitStack() as stack:
        try:
            if path.is_dir():
                yield stack.enter_context(disk_tree(path))
                return
            file = stack.enter_context(path.open("rb"))
        except OSError as error:
            raise GraderError(
                f"{path}: {error.strerror}.\nType:  grader grade PATH      with the folder or the archive of a class"
            ) from error
        try:
            tree = stack.enter_context(archive_tree(file, path.name, CLASS))
        except FileError as error:
            raise GraderError(f"{error}.\nDownload it again, or unpack it and type:  grader grade FOLDER") from error
        yield tree


def _recognised(root: Node, *, is_folder: bool) -> tuple[str, Node, list[HandIn]]:
    """The platform's title, the folder that has the submissions, and the hand-ins."""
    tops = [root, *_only_folder(root)]
    for top in tops:
        entries = [node for node in top.visible() if node.name not in (ROSTER, CLASSROOM_ROSTER, MATCHES)]
        counts = [(platform.fits(entries), platform) for platform in _PLATFORMS]
        most, platform = max(counts, key=lambda one: one[0])
        if most and 2 * most >= sum(1 for node in entries if _is_work(node)):
            rest = [one for node in platform.leftovers(top) if (one := plain.hand_in(node)) is not None]
            return platform.TITLE, top, [*platform.hand_ins(top), *rest]
    top = root
    if not is_folder and len(tops) > 1 and not any(_is_source(node) for node in tops[1].visible()):
        top = tops[1]
    what = plain.TITLE if is_folder else "Archive of plain folders"
    return what, top, plain.hand_ins(top)


def _only_folder(root: Node) -> list[Node]:
    """The folder that everything else is in: archives often have one."""
    inner = [node for node in root.visible() if node.kind == FOLDER or _is_work(node)]
    return inner if len(inner) == 1 and inner[0].kind == FOLDER else []


def _is_work(node: Node) -> bool:
    return node.kind != FILE or _is_source(node) or is_archive(node.name) or node.name.endswith(".html")


def _is_source(node: Node) -> bool:
    return node.kind == FILE and node.name.endswith(plain.SOURCES)


def _roster(path: Path, tops: Sequence[Node], given: Path | None, course: Path | None) -> list[Student]:
    """The roster that was given, or is with the submissions or beside them; none otherwise."""
    students: list[Student] = []
    within = {name: node for top in tops for name in (ROSTER, CLASSROOM_ROSTER) if (node := top.child(name))}
    if given is not None:
        students = read_roster(given)
    elif ROSTER in within:
        students = _inner_roster(path, within[ROSTER])
    elif course is not None and (course / ROSTER).is_file():
        students = read_roster(course / ROSTER)
    beside = (course or path.resolve().parent) / CLASSROOM_ROSTER
    if CLASSROOM_ROSTER in within:
        classroom = _inner_roster(path, within[CLASSROOM_ROSTER])
    elif (beside.is_file() and given is None) or (beside.is_file() and given is not None and given.name == ROSTER):
        classroom = read_roster(beside)
    else:
        classroom = []
    return with_logins(students, classroom) if students else classroom


def _inner_roster(path: Path, node: Node) -> list[Student]:
    try:
        return roster_from(node.read(_LARGEST_ROSTER), f"{path}/{node.name}")
    except FileError as error:
        raise GraderError(f"{path}: {error}") from error


def _owners(hand_ins: Sequence[HandIn], matcher: Matcher, matches: Matches) -> list[Owner]:
    """Everybody who handed in, in the order of the download, with the attempts in the order of their time."""
    owners: dict[object, Owner] = {}
    taken: set[str] = set()
    for hand_in in hand_ins:
        students, is_matched = _students(hand_in, matcher, matches)
        key: object = frozenset(students) if is_matched and matcher.roster else hand_in.label
        owner = owners.get(key)
        if owner is None:
            folder = _apart(hand_in.label, hand_in.origin, taken)
            group = students if len(students) > 1 else ()
            student = students[0] if len(students) == 1 else _team(hand_in, students)
            nearest = () if is_matched else _nearest(hand_in, matcher)
            owners[key] = owner = Owner(folder, student, [], group, is_matched, nearest)
        owner.attempts.append(replace(hand_in, origin=shown(readable(hand_in.origin), 300)))
    for owner in owners.values():
        owner.attempts.sort(key=lambda one: (one.at, one.order))
    return list(owners.values())


def _students(hand_in: HandIn, matcher: Matcher, matches: Matches) -> tuple[tuple[Student, ...], bool]:
    """Whose it is, and whether all of them are on the roster (or there is none)."""
    decided = matches.decided.get(hand_in.label)
    if decided is not None:
        return (decided,), True
    members = matcher.of_team(hand_in.team) if hand_in.team else []
    if members and (len(members) > 1 or matcher.find(hand_in.people[0]) is None):
        return tuple(sorted(members, key=lambda one: one.name)), True
    found = [(matcher.find(who), who) for who in hand_in.people]
    students = tuple(dict.fromkeys(student or _stranger(who, hand_in) for student, who in found))
    return students, not matcher.roster or all(student is not None for student, _ in found)


def _stranger(who: Who, hand_in: HandIn) -> Student:
    """Somebody who is on no roster, by what the download tells."""
    name = who.name or who.text or hand_in.label
    return Student(name, who.sid, who.email, login=who.logins[0] if who.logins else "", platform_id=who.platform_id)


def _team(hand_in: HandIn, members: Sequence[Student]) -> Student:
    """Under whose name a team's submission is shown."""
    return Student(name=hand_in.team or " + ".join(one.name for one in members))


def _nearest(hand_in: HandIn, matcher: Matcher) -> tuple[str, ...]:
    nobody = [who for who in hand_in.people if matcher.find(who) is None]
    return tuple(dict.fromkeys(name for who in nobody for name in matcher.nearest(who)))


def _apart(folder: str, name: str, taken: set[str]) -> str:
    """`folder`, with a hash behind it where another one looks the same; `taken` is added to."""
    if unicodedata.normalize("NFC", folder) in taken:
        folder = f"{folder} {fingerprint(name, 16)}"
    taken.add(unicodedata.normalize("NFC", folder))
    return folder
