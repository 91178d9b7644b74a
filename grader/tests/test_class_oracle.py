"""Random classes over several downloads: an independent oracle, without platforms and journal, computes the same
grades.

A class is made of people, teams, resubmissions, late hand-ins, extensions, times that a person wrote down, and two or
three downloads, the later ones with only new hand-ins or with everything. Each is written in a platform's layout,
matched, merged with earlier results, and adopted by the ledger; only the judge's run is replaced by points computed
from the file. The oracle below works on people, files and moments.
"""

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from grader.base.files import sha256_bytes
from grader.course.due_moments import due_moments
from grader.course.grades import compute_grades
from grader.course.kept import merge
from grader.course.ledger import Ledger
from grader.course.policy import BEST, read_policy
from grader.course.ruling import Course
from grader.course.times import HandInTime
from grader.intake.download import open_class
from grader.model.assignment import Assignment
from grader.model.discovery import Submission, Wanted
from grader.model.record import GRADED, MISSING, Provenance, Record
from grader.model.score import Score
from grader.running.store import Journal
from made_class import made_assignment
from platforms.classes import WAYS, in_teams, lay_out, random_class
from platforms.git_clones import github_login
from platforms.people import DUE, Class, Person, Upload

NAME, FILE = "04_reduction", "ladder.cu"
COUNT = 500 if os.environ.get("LOCKSTEP_ALL") else 40
GRADED_AT = DUE + timedelta(days=60)


def points_of(source: bytes) -> float:
    """A file's points: from 40 to 100, the same for the same file."""
    return 40 + int(sha256_bytes(source)[:6], 16) % 61


@dataclass
class Story:
    """A class and its events. `downloads`: the contents of each; `replaced`: those graded with --replace."""

    made: Class
    downloads: list[list[Upload]]
    replaced: list[bool]
    counts: str
    bank: int
    accept_days: int
    extensions: dict[Person, int]  # days
    written: dict[Person, datetime] = field(default_factory=dict)  # times.csv


def make_story(chance: random.Random, way: str) -> Story:
    seed = chance.randrange(1 << 30)
    made = random_class(seed, chance.choice((3, 6, 10)), file=FILE)
    # Some attempts never reach a download: each download has the last one that was made before it.
    made = replace(made, uploads=tuple(replace(one, earlier=()) for one in made.uploads))
    if WAYS[way].teams and chance.random() < 0.4:
        made = in_teams(made, seed)
    if not made.uploads:
        made = replace(made, uploads=(Upload((made.people[0],), {FILE: b"// only one\n"}),))
    downloads: list[list[Upload]] = []
    before: list[Upload] = []
    for round_ in range(chance.choice((1, 2, 3))):
        now = []
        for upload in made.uploads:
            first = chance.random() < 0.6
            had = any(one.person == upload.person for one in before)
            if (had and chance.random() < 0.4) or (not had and first):
                late = timedelta(minutes=chance.choice((-3000, -60, 30, 1500, 4000)) + 7 * round_)
                source = f"// who {upload.person.number} {round_} {chance.random()}\n".encode()
                now.append(replace(upload, files={FILE: source}, at=DUE + late, late=late > timedelta()))
            elif had and chance.random() < 0.5:
                now.append(next(one for one in before if one.person == upload.person))
        if now or not downloads:
            downloads.append(now or list(made.uploads))
            now = downloads[-1]
            before = [*now, *(one for one in before if all(one.person != other.person for other in now))]
    everyone = [one for upload in made.uploads for one in upload.people]
    return Story(
        made,
        downloads,
        [chance.random() < 0.2 for _ in downloads],
        chance.choice(("best", "last")),
        chance.choice((0, 0, 2)),
        chance.choice((1, 3, 30)),
        {one: chance.choice((1, 2)) for one in everyone if chance.random() < 0.2},
    )


# The oracle: about a hundred lines that share only the files' points with the grader.


@dataclass(frozen=True)
class Try:
    """One person's attempt: its points before lateness, and when it was handed in, if known."""

    points: float
    at: datetime | None
    marked: bool  # marked late by the platform


def lateness_cost(story: Story, who: Person, one: Try) -> float | None:
    """A try's points; None if it came too late."""
    due = DUE + timedelta(days=story.extensions.get(who, 0))
    if one.at is None or one.at <= due:
        return one.points
    if one.at > due + timedelta(days=story.accept_days):
        return None
    days = -((due - one.at) // timedelta(days=1))  # begun
    return max(0.0, one.points - 10 * max(0, days - story.bank))


def worth(story: Story, who: Person, tries: Sequence[Try]) -> float:
    """A person's points for these tries, oldest first."""
    values = [lateness_cost(story, who, one) for one in tries]
    if story.counts == "best":
        return max((value for value in values if value is not None), default=0.0)
    taken = [value for value in values if value is not None]
    return taken[-1] if taken else 0.0


def oracle(story: Story, *, knows_times: bool) -> dict[Person, float]:
    """Everybody's points in the end."""
    standing: dict[Person, list[Try]] = {}
    for download, replaced in zip(story.downloads, story.replaced, strict=True):
        new: dict[Person, list[Try]] = {}
        for upload in download:
            for who in upload.people:
                at = upload.at if knows_times else None
                new[who] = [Try(points_of(upload.files[FILE]), story.written.get(who, at), upload.late)]
        if replaced:
            standing = new
            continue
        for who, tries in new.items():
            old = standing.get(who, [])
            both = [*(one for one in old if one.points != tries[0].points), *tries] if story.counts == "best" else tries
            if not old or worth(story, who, both) >= worth(story, who, old):
                standing[who] = both
    return {who: worth(story, who, standing[who]) if who in standing else 0.0 for who in story.made.people}


# The grader, without a judge.


def record_of(submission: Submission) -> Record:
    source = submission.source
    status = GRADED if source is not None or submission.refused else MISSING
    points = points_of(source) if source is not None else 0.0
    made = Provenance(sha256_bytes(source) if source else "", "", "", "", "", "", "", "", "vgpu", 1, True, "")
    key = sha256_bytes(source if source is not None else submission.problem.encode())
    return Record(
        NAME, submission.folder, submission.student, key, status, submission.problem,
        Score(points, 0, 100, "PASS", "", ()), None, (source or b"").decode(), made, "2026-12-01T00:00:00+00:00",
        submission.handed, run=key,
    )  # fmt: skip


def course_of(story: Story) -> Course:
    toml = (
        f"counts = '{story.counts}'\n[late]\npenalty = '10 points per day'\naccept_until = '{story.accept_days} days'\n"
        f"[late_days]\nbank = {story.bank}\n[assignment.{NAME}]\ndeadline = {DUE.isoformat()}\n[extensions]\n"
        + "".join(f'"{who.name}" = "{days} days"\n' for who, days in story.extensions.items())
    )
    times = tuple(HandInTime(who.name, NAME, at, 0, "times.csv") for who, at in story.written.items())
    return Course(read_policy(toml, "course.toml", [NAME]), (), (NAME,), times)


def graded(story: Story, way: str, folder: Path) -> dict[str, float]:
    """Points by student id, after all downloads."""
    assignment: Assignment = made_assignment(NAME)
    course = course_of(story)
    journal = Journal(folder / "journal.sqlite")
    best = course.policy.of(NAME).counts == BEST
    for number, (uploads, replaced) in enumerate(zip(story.downloads, story.replaced, strict=True)):
        made = replace(story.made, uploads=tuple(uploads))
        path, roster = lay_out(way, folder / str(number), made)
        with open_class(path, roster) as download:
            assert not download.unmatched
            download.moments = due_moments(course, [one for own in download.owners for one in own.members])
            found = download.submissions(Wanted(NAME, FILE))
            merged = merge(
                journal, NAME, found, download.roster, replace_all=replaced, best_counts=best, left_out=download.ignored
            )
        records = [record_of(one) for one in merged.submissions]
        for record in records:
            journal.add(record)
        Ledger(journal, {NAME: assignment}, course, GRADED_AT, replace_all=replaced).settle(
            merged, NAME, [one.outline() for one in records], whole=True
        )
    grades = compute_grades({NAME: (assignment, journal.attempts(NAME))}, course, GRADED_AT)
    journal.close()
    found: dict[str, float] = {}
    for one in grades:
        student = one.student
        for key in {student.sid, student.email, student.login, student.name} - {""}:
            found[key] = one.assignments[NAME].points or 0.0
    return found


@pytest.mark.parametrize("number", range(COUNT))
def test_every_grade_is_the_oracles(tmp_path: Path, number: int) -> None:
    chance = random.Random(f"class {number}")
    # If only the class shows how names identify students, a download of one hand-in has to be matched by a person.
    way = chance.choice([one for one in WAYS if one not in ("login-file", "title-login", "name-file", "form")])
    story = make_story(chance, way)
    knows_times = WAYS[way].times or way.startswith("git")
    if not knows_times and chance.random() < 0.7:  # a person writes some of the last download's times down
        last = {who: upload.at for download in story.downloads for upload in download for who in upload.people}
        story.written = {who: at for who, at in last.items() if chance.random() < 0.8} if story.counts == "last" else {}
    expected = oracle(story, knows_times=knows_times)
    found = graded(story, way, tmp_path)
    handed_in = {who for download in story.downloads for upload in download for who in upload.people}
    for who in story.made.people:
        keys = (who.sid, who.email, who.login, github_login(who), who.name)
        points = next((found[key] for key in keys if key in found), None)
        assert (points or 0.0) == expected[who], (way, who)
        assert points is not None or who not in handed_in or any(story.replaced)
