"""A downloaded class: its platform, who handed in, and the student of each submission.

`open_class` recognises the platform and matches everybody to the roster once; `ClassDownload.submissions` then gives
the submissions for one assignment. Nobody is lost: a submission that matches no student keeps a row of its own and is
reported, and every student of the roster who handed in nothing has a row too. Nobody appears twice: all attempts of a
student share `Submission.folder` and are numbered from 1.
"""

import contextlib
import hashlib
import io
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import ModuleType

from grader.base.counted import listed
from grader.base.errors import GraderError
from grader.base.files import FileError
from grader.base.names import fingerprint, shown
from grader.intake import git_clones, gradescope, plain
from grader.intake.archive import CLASS, archive_tree, is_archive
from grader.intake.by_rule import found, hand_ins
from grader.intake.disk import disk_tree
from grader.intake.handin import Found, HandIn, Who, find_source, is_for
from grader.intake.matches import Matches, read_matches
from grader.intake.matching import Matcher
from grader.intake.presets import PRESETS, Preset
from grader.intake.settings import Settings, read_settings
from grader.intake.times import read_times, tell_times
from grader.intake.tree import FILE, FOLDER, Branch, Node, readable
from grader.intake.whose import settled
from grader.model.course_folder import COURSE, MATCHES, TIMES, course_folder
from grader.model.discovery import Submission, Wanted
from grader.model.handed import Handed
from grader.model.roster import CLASSROOM_ROSTER, ROSTER, Roster, Student, read_table, table_from, with_logins

_LARGEST_ROSTER = 16 << 20
_MOST_WRAPPERS = 3
_MOST_PARTS = 20  # archives that one class may consist of
_LARGEST_PARTS = 1 << 30  # bytes, in total
_OWN = (ROSTER, CLASSROOM_ROSTER, MATCHES, TIMES)


@dataclass
class Owner:
    """A student, a team, or somebody unknown, with all attempts, oldest first."""

    folder: str
    student: Student
    attempts: list[HandIn]
    group: tuple[Student, ...] = ()
    is_matched: bool = True
    nearest: tuple[str, ...] = ()
    rule: str = ""  # the rule that found the student
    doubt: str = ""  # why nobody was chosen, although somebody fits

    @property
    def members(self) -> tuple[Student, ...]:
        """All students whose work it is."""
        return self.group or (self.student,)

    @property
    def is_resubmitted(self) -> bool:
        """Whether there was an earlier attempt, in this download or according to the platform."""
        return len(self.attempts) > 1 or any(one.again for one in self.attempts)


@dataclass
class ClassDownload:
    """A recognised download, matched to the roster. It reads files lazily, inside the `open_class` block."""

    title: str
    roster: list[Student]
    owners: list[Owner]
    ignored: list[str]
    matches_file: Path
    matches: Matches = field(default_factory=Matches)
    has_zone: bool = True  # false: a time without an offset was read as UTC
    # When a repository's state may count for an assignment and a student: deadlines, and the late days after.
    moments: Callable[[str, Student], Sequence[datetime]] = lambda _assignment, _student: ()
    _sources: dict[bytes, bytes] = field(default_factory=dict)

    @property
    def unmatched(self) -> list[Owner]:
        """Owners who match nobody on the roster."""
        return [owner for owner in self.owners if not owner.is_matched]

    @property
    def without(self) -> list[Student]:
        """Students who handed in nothing."""
        present = {student for owner in self.owners for student in owner.members}
        return [student for student in dict.fromkeys(self.roster) if student not in present]

    def has(self, wanted: Wanted) -> bool:
        """Whether somebody handed in a file with the assignment's name."""
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
        """An owner's attempts. One without a file for this assignment counts only if there is no other."""
        tried = [one for attempt in owner.attempts for one in self._states(owner, attempt, wanted)]
        there = [one for one in tried if one[1].source is not None or one[1].refused]
        begun = [one for one in there if not (one[0].is_repository and wanted.is_stub(one[1].source))]
        first = [one for one in begun if not one[0].is_spare]
        left = [f"{one.origin}: a second repository; the first one is graded" for one, _ in there if one.is_spare]
        there = first or begun or there[-1:]
        sections = dict.fromkeys(one.section for one, _ in there)
        if len(sections) > 1 and not all(one.at for one, _ in there):
            problem = f"it is in {listed(list(sections))}, and it is unclear which one counts: grade one of the folders"
            there = [(there[-1][0], Found(None, problem, refused=True))]
        if not there:  # the newest attempt; a person is told if the student has to be asked
            there = [(one, replace(source, refused=source.asks)) for one, source in tried[-1:]]
        for number, (attempt, source) in enumerate(there, 1):
            spare = tuple(left) if first and number == len(there) else ()
            yield Submission(
                owner.folder, owner.student, self._same(source), source.problem, source.refused,
                Handed(
                    at=attempt.at, late=attempt.late, number=number, group=owner.group,
                    platform_id=attempt.platform_id, origin=attempt.origin, is_matched=owner.is_matched,
                    nearest=owner.nearest, source=attempt.source, extended=attempt.extended,
                    is_version=attempt.is_version and len(there) > 1, matched=owner.rule,
                    unused=(*source.unused, *attempt.unused, *spare),
                ),
            )  # fmt: skip

    def _states(self, owner: Owner, attempt: HandIn, wanted: Wanted) -> Iterator[tuple[HandIn, Found]]:
        """The contents of an attempt; for a repository, its states at the moments that may count for its owner."""
        moments = [one for member in owner.members for one in self.moments(wanted.assignment, member)]
        if attempt.history is None or not moments:
            yield attempt, find_source(attempt, wanted)
            return
        states = attempt.history.states(moments)
        before: Found | None = None
        for place, state in enumerate(states):
            is_newest = place + 1 == len(states)
            own = replace(attempt, at=state.at.isoformat(timespec="seconds"), is_version=len(states) > 1)
            if not is_newest:
                own = replace(
                    own, nodes=(attempt.history.files(state),), origin=f"{attempt.origin} at {state.commit[:8]}"
                )
            held = find_source(own, wanted)
            if before is None or held.source != before.source:  # else only another assignment's file changed
                yield own, held
            before = held

    def _same(self, found: Found) -> bytes | None:
        """The source; equal ones share one copy in memory."""
        if found.source is None:
            return None
        return self._sources.setdefault(hashlib.sha256(found.source).digest(), found.source)


@contextlib.contextmanager
def open_class(path: Path, roster_path: Path | None = None) -> Iterator[ClassDownload]:
    """Opens a folder or an archive of submissions. Raises GraderError if it can't be read as a whole."""
    with contextlib.ExitStack() as stack:
        root = stack.enter_context(_tree(path))
        course = course_folder(path)
        beside = course or (path if path.is_dir() else path.resolve().parent)
        settings = read_settings(beside / COURSE)
        tops = _tops(root)
        roster = _roster(path, tops, roster_path, course)
        matcher = Matcher(roster.students)
        title, hand_ins = _recognised(root, tops, matcher, settings, is_folder=path.is_dir())
        if (
            matcher.roster
            and not _students(hand_ins, matcher)
            and (parts := stack.enter_context(_parts(tops[-1]))) is not None
        ):
            of_parts = _recognised(parts, _tops(parts), matcher, settings, is_folder=True)
            title, hand_ins = of_parts if _students(of_parts[1], matcher) else (title, hand_ins)
        matches = read_matches(beside / MATCHES, matcher)
        ignored = [one.label for one in hand_ins if matches.ignores(one.label)]
        taken = [one for one in hand_ins if not matches.ignores(one.label) and not _is_test(one, roster, matcher)]
        owners = _owners(taken, matcher, matches)
        times = read_times(beside / TIMES, matcher, settings.zone, {one.label for one in hand_ins})
        tell_times(owners, times, roster.told, settings.zone)
        yield ClassDownload(
            title, matcher.roster, owners, ignored, beside / MATCHES, matches, has_zone=settings.has_zone
        )


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


@contextlib.contextmanager
def _parts(top: Node) -> Iterator[Node | None]:
    """Archives that are not one student's, such as one per section, opened as one folder; None if there are none."""
    archives = [node for node in top.visible() if node.kind == FILE and is_archive(node.name)]
    whole, left = Branch(""), _LARGEST_PARTS
    with contextlib.ExitStack() as stack:
        for one in archives[:_MOST_PARTS]:
            with contextlib.suppress(FileError):
                file = io.BytesIO(one.read(left))
                left -= file.getbuffer().nbytes
                for node in stack.enter_context(archive_tree(file, one.name, CLASS)).visible():
                    whole.add(node)
        yield whole if whole.children() else None


def _recognised(
    root: Node, tops: Sequence[Node], matcher: Matcher, settings: Settings, *, is_folder: bool
) -> tuple[str, list[HandIn]]:
    """The platform's title and the hand-ins: by the course's own rule, else by the platform that fits most entries."""
    if settings.matching:
        for top in tops:
            made, rest = hand_ins(settings.matching, top, matcher, settings.zone)
            if made:
                return settings.matching.title, [*made, *plain.hand_ins(plain.level_of(rest, matcher), settings.zone)]
        raise GraderError(
            f"{settings.path}: [matching] fits nothing in {root.name or 'the archive'}.\n"
            f"Its first entries: {listed([readable(one.name) for one in tops[-1].visible()][:3]) or 'none'}.\n"
            "Write the rule as their paths are, and look what it finds with:  grader match"
        )
    level = plain.best_level(root, matcher)
    for top in tops:  # deeper files may belong to students
        platform = _fitting(top)
        if platform is None:
            continue
        if isinstance(platform, Preset):
            made, rest = hand_ins(platform, top, matcher, settings.zone)
            title = platform.title
        else:
            made, rest, title = platform.hand_ins(top, matcher), platform.leftovers(top), platform.TITLE
        # Names may look like a platform's by accident: then the reading that finds more students is used.
        if 2 * len(_students(made, matcher)) < len(level.students):
            break
        return title, [*made, *plain.hand_ins(plain.level_of(rest, matcher), settings.zone)]
    title = plain.TITLE if is_folder else "Archive of plain folders"
    if not level.students:
        is_wrapped = len(tops) > 1 and not is_folder and not _is_one_hand_in(tops[1], matcher)
        level = plain.level_of((tops[1] if is_wrapped else root).visible(), matcher)
    return title, plain.hand_ins(level, settings.zone)


def _students(made: Sequence[HandIn], matcher: Matcher) -> set[Student]:
    """The students found in hand-ins, including candidates."""
    found = [matcher.match(who) for hand_in in made for who in hand_in.people]
    people = {student for one in found for student in (one.student, *one.several) if student}
    return people | {one for hand_in in made if hand_in.team for one in matcher.of_team(hand_in.team)}


def _fitting(top: Node) -> Preset | ModuleType | None:
    """The platform that fits most entries of a folder, and at least half of the work in it."""
    entries = [node for node in top.visible() if node.name not in _OWN]
    work = sum(1 for node in entries if _is_work(node))
    # On a tie the first in this list wins: a .git may be inside another platform's folders.
    counts: list[tuple[int, Preset | ModuleType]] = [
        (len({hit.top for _, hit in found(one, top)}), one) for one in PRESETS
    ]
    counts += [(one.fits(entries), one) for one in (gradescope, git_clones)]
    most, platform = max(counts, key=lambda one: one[0])
    return platform if most and 2 * most >= work else None


def _is_one_hand_in(folder: Node, matcher: Matcher) -> bool:
    """Whether the only folder of an archive is a student's: judged by its name, or a source in it."""
    return (
        any(_is_source(node) for node in folder.visible()) or matcher.find(Who(text=readable(folder.name))) is not None
    )


def _tops(root: Node) -> list[Node]:
    """The root, and the single folder (or up to three nested ones) that often contains everything in an archive."""
    tops = [root]
    while len(tops) <= _MOST_WRAPPERS:
        inner = [node for node in _once(tops[-1].visible()) if node.kind == FOLDER or _is_work(node)]
        if len(inner) != 1 or inner[0].kind != FOLDER:
            break
        tops.append(inner[0])
    return tops


def _once(nodes: Sequence[Node]) -> list[Node]:
    """The nodes, without archives that were unpacked into a folder of the same name next to them."""
    folders = {node.name for node in nodes if node.kind == FOLDER}
    return [one for one in nodes if not (is_archive(one.name) and plain.without_suffix(one.name) in folders)]


def _is_work(node: Node) -> bool:
    return node.kind != FILE or _is_source(node) or is_archive(node.name) or node.name.endswith(".html")


def _is_source(node: Node) -> bool:
    return node.kind == FILE and node.name.endswith(plain.SOURCES)


def _roster(path: Path, tops: Sequence[Node], given: Path | None, course: Path | None) -> Roster:
    """The roster that was given, or is in or next to the submissions; else an empty one."""
    roster = Roster([])
    # Deeper than in the archive's top folder, a file may be a student's.
    within = {
        name: node
        for top in tops[:2]
        for name in (ROSTER, CLASSROOM_ROSTER)
        if (node := top.child(name)) and node.kind == FILE
    }
    if given is not None:
        roster = read_table(given)
    elif ROSTER in within:
        roster = _inner_roster(path, within[ROSTER])
    elif course is not None and (course / ROSTER).is_file():
        roster = read_table(course / ROSTER)
    beside = (course or path.resolve().parent) / CLASSROOM_ROSTER
    if CLASSROOM_ROSTER in within:
        classroom = _inner_roster(path, within[CLASSROOM_ROSTER])
    elif (beside.is_file() and given is None) or (beside.is_file() and given is not None and given.name == ROSTER):
        classroom = read_table(beside)
    else:
        return roster
    if not roster.students:
        return classroom
    return replace(roster, students=with_logins(roster.students, classroom.students))


def _inner_roster(path: Path, node: Node) -> Roster:
    try:
        return table_from(node.read(_LARGEST_ROSTER), f"{path}/{node.name}")
    except FileError as error:
        raise GraderError(f"{path}: {error}") from error


def _is_test(hand_in: HandIn, roster: Roster, matcher: Matcher) -> bool:
    """Whether it is the platform's preview student, or a staff member."""
    if hand_in.platform_id and hand_in.platform_id in roster.strangers:
        return True
    who = hand_in.people[0]
    return bool(matcher.roster) and who.name in ("studenttest", "Test Student") and matcher.find(who) is None


def _owners(hand_ins: Sequence[HandIn], matcher: Matcher, matches: Matches) -> list[Owner]:
    """Everybody who handed in, in the order of the download, with attempts sorted by time."""
    owners: dict[object, Owner] = {}
    taken: set[str] = set()
    for hand_in, whose in settled(hand_ins, matcher, matches):
        students = whose.students
        key: object = frozenset(students) if whose.is_matched and matcher.roster else hand_in.label
        owner = owners.get(key)
        if owner is None:
            folder = _apart(hand_in.label, hand_in.origin, taken)
            group = students if len(students) > 1 else ()
            student = students[0] if len(students) == 1 else _team(hand_in, students)
            owners[key] = owner = Owner(
                folder, student, [], group, whose.is_matched, whose.nearest, whose.rule, whose.doubt
            )
        owner.attempts.append(replace(hand_in, origin=shown(readable(hand_in.origin), 300)))
    for owner in owners.values():
        owner.attempts.sort(key=lambda one: (one.at, one.order))
    return list(owners.values())


def _team(hand_in: HandIn, members: Sequence[Student]) -> Student:
    """The name under which a team's submission is shown."""
    return Student(name=hand_in.team or " + ".join(one.name for one in members))


def _apart(folder: str, name: str, taken: set[str]) -> str:
    """`folder`, with a hash appended if another one looks the same; adds the result to `taken`."""
    if unicodedata.normalize("NFC", folder) in taken:
        folder = f"{folder} {fingerprint(name, 16)}"
    taken.add(unicodedata.normalize("NFC", folder))
    return folder
