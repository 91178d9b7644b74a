"""One hand-in never changes another's, whatever its owner, login or files are called, on every platform.

Classes are generated from fixed seeds; in each, Mallory chooses names like a classmate's or the platform's own. The
class is read with and without her hand-in: everybody else's result must be the same.
"""

import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from grader.intake.download import ClassDownload, open_class
from grader.model.discovery import Wanted
from platforms.classes import WAYS, lay_out, random_class
from platforms.git_clones import git_team_roster, github_login, make_git_clones
from platforms.people import DUE, Class, Person, Upload

pytestmark = pytest.mark.in_turn

WANTED = Wanted("90_fake", "ladder.cu", frozenset({"91_other", "other.cu"}))
MINE = b"// mallory\n"
Outcome = dict[str, list[tuple[bytes | None, int, str, bool, str, int]]]


def names_like(victim: Person) -> list[str]:
    """Names for somebody who wants a classmate's place, or words of the platform."""
    number = victim.number
    return [
        victim.name, victim.sortable, victim.sid, victim.login, victim.email, str(number), f"{victim.name}_{number}",
        f"{victim.sortable}_{number}", f"{victim.name}_{number}_99",
        f"{victim.last}{victim.first}_{number}_99_ladder.cu",
        f"LATE_{number}", f"{victim.name}_LATE_{number}", f"{victim.name}_{number}_assignsubmission_file",
        f"{victim.name} - Nov 20, 2026 900 PM", f"{victim.name}({victim.login})", f"x_{victim.login}",
        f"{victim.login}_attempt_2026-11-20-10-00-00", f"{victim.email}_9", "Team 1", "Default group", "Participant",
        "CS 101 Section 1", "week4", "ladder.cu", "roster.csv", "matches.csv", "times.csv", "anon", "index.html",
        "Submitted files", "Abgaben", "Test Student", "Student, Test", ".git", "submission_metadata.yml", "-", "?",
        "A" * 300, f"{victim.first[:1]}. {victim.last}", "Week 4", "90_fake", "91_other",
    ]  # fmt: skip


def files_like(victim: Person, chance: random.Random) -> dict[str, bytes]:
    """Possible files in her hand-in."""
    odd = [
        f"x_{victim.number}_99_ladder.cu", f"{victim.number}_ladder.cu", f"{victim.number}_9_ladder.cu",
        f"{victim.email}_9_ladder.cu", f"{victim.login}_attempt_2026-11-21-10-00-00_ladder.cu", "roster.csv",
        "user_assignment_settings.json", "timestamp.txt", f"LATE_{victim.number}_9_ladder.cu", "matches.csv",
        f"{victim.name}_{victim.number}_assignsubmission_file_ladder.cu", "submission_metadata.yml", "course.toml",
        f"{victim.login}/ladder.cu", "times.csv", "90_fake/ladder.cu", "ladder-99.cu",
    ]  # fmt: skip
    files = dict.fromkeys(chance.sample(odd, 4), b"student,name,sid\nx,y,z\n")
    if chance.random() < 0.3:
        files |= {f"ladder-{number}.cu": MINE for number in range(1, 99)}
    return {"ladder.cu": MINE, **files}


def outcome(download: ClassDownload, but: Person) -> Outcome:
    """The results of all students of the roster except one."""
    found: Outcome = {}
    for one in download.submissions(WANTED):
        for student in one.handed.group or (one.student,):
            if but.sid not in (student.sid, student.name) and but.email != student.email and one.handed.is_matched:
                what = (one.source, one.handed.number, one.handed.at, one.handed.late, one.handed.matched,
                        len(one.handed.group))  # fmt: skip
                found.setdefault(student.sid or student.email or student.login or student.name, []).append(what)
    return found


@pytest.mark.parametrize("name", WAYS)
def test_nobody_takes_anothers_place(tmp_path: Path, name: str) -> None:
    way = WAYS[name]
    is_git = name.startswith("git")
    for seed in range(4 if is_git else 25):
        chance = random.Random(seed)
        made = random_class(seed, 6)
        victim = chance.choice(made.people)
        called = chance.choice(names_like(victim))
        if name in ("teams", "name-file", "form") and set(called.replace(",", " ").split()) == set(victim.name.split()):
            continue  # two folders of one name: not even a person could tell
        login = chance.choice(["mallory", f"x_{victim.login}", f"{victim.login}_1", victim.sid, f"{victim.login}x"])
        login = "mallory" if name == "plain" else login  # its folders are made by a person
        mallory = Person("", called, "666001", f"{login}@x.example", 7300)
        at = DUE + timedelta(minutes=chance.choice((-90, 30, 600)))
        hers = Upload((mallory,), files_like(victim, chance), at=at, late=at > DUE)
        listed = (*made.people, mallory) if chance.random() < 0.7 else made.people
        without = Class(listed, made.uploads)
        place = chance.randrange(len(made.uploads) + 1)
        both = Class(listed, (*made.uploads[:place], hers, *made.uploads[place:]))
        found = []
        for part, one in (("without", without), ("with", both)):
            download, roster = lay_out(name, tmp_path / str(seed) / part, one, ".zip")
            with open_class(download, roster) as opened:
                found.append(outcome(opened, mallory))
                lost = {nearest for owner in opened.unmatched for nearest in owner.nearest}
                assert all(what[0] != MINE for whose in found[-1].values() for what in whose), (
                    f"seed {seed}: {called!r} got into another's place"
                )
        before, after = found
        if name == "form":  # names at the front of one's files may leave all to a person; nobody has hers
            continue
        if way.names_alone and before != after:
            # If there are only names, two equal ones are left to a person, and are listed.
            changed = {who for who in before if before[who] != after.get(who)}
            assert changed <= {victim.sid, victim.email, victim.login}, f"seed {seed}: {called!r}"
            assert any(victim.name in one for one in lost), f"seed {seed}: {called!r}"
        else:
            assert after == before, f"seed {seed}: {called!r}, {login!r}"


@pytest.mark.parametrize("is_linked", [True, False])
@pytest.mark.parametrize("form", ["{}-1", "x-{}", "{}-x", "week4-{}", "{}-2"])
def test_a_login_like_anothers_takes_no_repository(tmp_path: Path, form: str, is_linked: bool) -> None:
    made = random_class(5, 6)
    victim = made.uploads[0].person
    login = form.format(github_login(victim))
    hers = Upload((Person("", "Mallory", "666001", "m@x.example", 7300),), {"ladder.cu": MINE}, team=login)
    roster = git_team_roster(made.people, {}) + (f",666001,{login},7300,Mallory\n" if is_linked else "")
    (tmp_path / "students.csv").write_text(roster)
    found = []
    for part, uploads in (("without", made.uploads), ("with", (*made.uploads, hers))):
        download = make_git_clones(tmp_path / part, uploads)
        with open_class(download, tmp_path / "students.csv") as opened:
            found.append(outcome(opened, hers.person))
            mine = [one for one in opened.submissions(WANTED) if one.source == MINE]
    assert found[0] == found[1]
    assert [one.student.sid for one in mine if one.handed.is_matched] == (["666001"] if is_linked else [])


def test_hostile_mallory_is_tried_in_every_way() -> None:
    made = random_class(1, 6)
    assert len(set(names_like(made.people[0]))) > 35
    assert replace(made.people[0], number=1) != made.people[0]
