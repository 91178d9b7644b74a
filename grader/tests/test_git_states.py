"""Which state of a repository counts: the last before the deadline, ignoring a README; which of two repositories."""

import hashlib
import re
import subprocess
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grader.intake.download import open_class
from grader.model.discovery import Submission, Wanted
from platforms.git_clones import _git, classroom_roster, git_team_roster, github_login, make_git_clones, team_slug
from platforms.people import Upload, person

STUB = b"// TODO\n"
WANTED = Wanted("90_fake", "ladder.cu", stub=STUB)
DUE = datetime(2026, 11, 20, 23, 0, tzinfo=UTC)
ADA, ALAN = person("Ada Lovelace", 4200), person("Alan Turing", 4201)


def clone(folder: Path, name: str, commits: list[tuple[float, dict[str, bytes]]]) -> None:
    """A clone with commits at these hours relative to the deadline."""
    repository = folder / name
    repository.mkdir(parents=True)
    _git(repository, "init", "-q", "-b", "main", "--template=")
    for hours, files in commits:
        for path, data in files.items():
            (repository / path).parent.mkdir(parents=True, exist_ok=True)
            (repository / path).write_bytes(data)
        _git(repository, "add", "-A")
        stamp = f"{int((DUE + timedelta(hours=hours)).timestamp())} +0000"
        _git(
            repository,
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@x",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "x",
            stamp=stamp,
        )


def take(folder: Path, roster: str, *, moments: tuple[datetime, ...] = (DUE,)) -> list[Submission]:
    (folder.parent / "students.csv").write_text(roster)
    with open_class(folder, folder.parent / "students.csv") as download:
        download.moments = lambda *_: moments
        assert download.unmatched == []
        return [one for one in download.submissions(WANTED) if one.source is not None]


@pytest.mark.parametrize(
    ("commits", "expected"),
    [
        # A README after the deadline changes no time.
        ([(-20, {"ladder.cu": STUB}), (-3, {"ladder.cu": b"a"}), (30, {"README.md": b"x"})], [(b"a", -3)]),
        # Work after it is an attempt of its own, and so is what was there before it.
        ([(-3, {"ladder.cu": b"a"}), (30, {"ladder.cu": b"b"})], [(b"a", -3), (b"b", 30)]),
        # The stub counts as nothing handed in, so the late state counts.
        ([(-200, {"ladder.cu": STUB}), (30, {"ladder.cu": b"b"})], [(b"b", 30)]),
        ([(-9, {"ladder.cu": b"a"}), (-3, {"ladder.cu": b"b"})], [(b"b", -3)]),
        # A file of another assignment does not count.
        ([(-9, {"ladder.cu": b"a"}), (5, {"other.cu": b"b"})], [(b"a", -9)]),
        # A header is part of the work.
        ([(-9, {"ladder.cu": b'#include "x.h"\n', "x.h": b"1\n"}), (5, {"x.h": b"2\n"})],
         [(b"// ---- x.h\n1\n// ---- ladder.cu\n", -9), (b"// ---- x.h\n2\n// ---- ladder.cu\n", 5)]),
        ([(-9, {"ladder.cu": STUB}), (5, {"README.md": b"b"})], [(STUB, -9)]),
    ],
)  # fmt: skip
def test_the_state_at_the_deadline(
    tmp_path: Path, commits: list[tuple[float, dict[str, bytes]]], expected: list[tuple[bytes, float]]
) -> None:
    clone(tmp_path / "repos", f"week4-{github_login(ADA)}", commits)
    found = take(tmp_path / "repos", classroom_roster([ADA, ALAN]))
    times = [(one.source, (datetime.fromisoformat(one.handed.at) - DUE).total_seconds() / 3600) for one in found]
    assert times == expected
    assert [one.handed.is_version for one in found] == [len(found) > 1] * len(found)
    assert {one.handed.source for one in found} == {"commits"}


def test_each_moment_that_may_count_is_tried(tmp_path: Path) -> None:
    clone(
        tmp_path / "repos",
        f"week4-{github_login(ADA)}",
        [(hours, {"ladder.cu": b"%d" % hours}) for hours in range(-30, 99, 9)],
    )
    moments = tuple(DUE + timedelta(days=day) for day in range(3))
    found = take(tmp_path / "repos", classroom_roster([ADA]), moments=moments)
    assert [one.source for one in found] == [b"-3", b"24", b"42", b"96"]
    assert [one.handed.number for one in found] == [1, 2, 3, 4]
    assert found[0].handed.origin.startswith(f"week4-{github_login(ADA)} at ")
    assert [one.source for one in take(tmp_path / "repos", classroom_roster([ADA]), moments=())] == [b"96"]


def test_of_two_repositories_the_one_with_work(tmp_path: Path) -> None:
    name = f"week4-{github_login(ADA)}"
    clone(tmp_path / "a", name, [(-50, {"ladder.cu": STUB})])
    clone(tmp_path / "a", f"{name}-1", [(-50, {"ladder.cu": STUB}), (-2, {"ladder.cu": b"work"})])
    clone(tmp_path / "a", f"week4-{github_login(ALAN)}", [(-2, {"ladder.cu": b"alan"})])
    found = take(tmp_path / "a", classroom_roster([ADA, ALAN]))
    assert {one.student.name: one.source for one in found} == {"Ada Lovelace": b"work", "Alan Turing": b"alan"}
    clone(tmp_path / "b", name, [(-50, {"ladder.cu": STUB}), (-3, {"ladder.cu": b"first"})])
    clone(tmp_path / "b", f"{name}-1", [(-2, {"ladder.cu": b"second"})])
    clone(tmp_path / "b", f"week4-{github_login(ALAN)}", [(-2, {"ladder.cu": b"alan"})])
    ada, _ = take(tmp_path / "b", classroom_roster([ADA, ALAN]))
    assert (ada.source, ada.handed.unused) == (b"first", (f"{name}-1: a second repository; the first one is graded",))


def test_teams_whose_names_begin_alike(tmp_path: Path) -> None:
    people = [person(f"Student{number} Family{number}", 4200 + number) for number in range(6)]
    teams = dict(
        zip(people, ["Team Red", "Team Red", "Team Red 2", "Team Red 2", "Team Rose", "Team Rose"], strict=True)
    )
    uploads = [
        Upload(tuple(one for one in people if teams[one] == team), {"ladder.cu": team.encode()}, team=team)
        for team in dict.fromkeys(teams.values())
    ]
    made = make_git_clones(tmp_path / "repos", uploads)
    assert sorted(path.name for path in made.iterdir()) == [
        f"week4-{team_slug(team)}" for team in ("Team Red", "Team Red 2", "Team Rose")
    ]
    found = take(made, git_team_roster(people, teams))
    assert {student.sid: one.source for one in found for student in one.handed.group} == {
        one.sid: team.encode() for one, team in teams.items()
    }


def test_two_assignments_in_one_folder_of_clones(tmp_path: Path) -> None:
    uploads = [Upload((one,), {"ladder.cu": one.name.encode()}) for one in (ADA, ALAN)]
    make_git_clones(tmp_path / "repos", uploads, assignment="week4-lab")
    make_git_clones(tmp_path / "repos", uploads[:1], assignment="hw-3")
    found = take(tmp_path / "repos", classroom_roster([ADA, ALAN]))
    assert {one.student.name: one.source for one in found} == {
        "Ada Lovelace": b"Ada Lovelace",
        "Alan Turing": b"Alan Turing",
    }


def test_what_git_can_not_read_has_no_time(tmp_path: Path) -> None:
    clone(tmp_path / "repos", f"week4-{github_login(ADA)}", [(-3, {"ladder.cu": b"a"}), (3, {"ladder.cu": b"b"})])
    for pack in (tmp_path / "repos").glob("*/.git/objects/??"):
        subprocess.run(["rm", "-rf", str(pack)], check=True)  # noqa: S607
    (one,) = take(tmp_path / "repos", classroom_roster([ADA]))
    assert (one.source, one.handed.at, one.handed.source) == (b"b", "", "")


@pytest.mark.parametrize("time", [b"100000000000", b"-5"])
def test_a_commit_whose_time_is_none_is_late(tmp_path: Path, time: bytes) -> None:
    clone(tmp_path / "repos", f"week4-{github_login(ADA)}", [(-3, {"ladder.cu": b"a"})])
    git = tmp_path / "repos" / f"week4-{github_login(ADA)}" / ".git"
    main = git / "refs" / "heads" / "main"
    commit = main.read_text().strip()
    text = zlib.decompress((git / "objects" / commit[:2] / commit[2:]).read_bytes()).partition(b"\0")[2]
    text = re.sub(rb"> \d+ ", b"> " + time + b" ", text)
    data = b"commit %d\0" % len(text) + text
    name = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    (git / "objects" / name[:2]).mkdir(exist_ok=True)
    (git / "objects" / name[:2] / name[2:]).write_bytes(zlib.compress(data))
    main.write_text(name)
    (one,) = take(tmp_path / "repos", classroom_roster([ADA]))
    assert datetime.fromisoformat(one.handed.at) > DUE


@pytest.mark.parametrize("way", ["alternates", "link"])
def test_a_clone_cannot_have_another_repositorys_commit_read(tmp_path: Path, way: str) -> None:
    clone(tmp_path / "private", "other", [(-3, {"ladder.cu": b"secret"})])
    clone(tmp_path / "class", "hw-ada", [(-2, {"ladder.cu": b"own"})])
    theirs, own = tmp_path / "private" / "other" / ".git", tmp_path / "class" / "hw-ada" / ".git"
    (own / "HEAD").write_text((theirs / "refs" / "heads" / "main").read_text())
    if way == "link":
        for folder in theirs.glob("objects/??"):
            if not (own / "objects" / folder.name).exists():
                (own / "objects" / folder.name).symlink_to(folder)
    else:
        (own / "objects" / "info").mkdir(exist_ok=True)
        (own / "objects" / "info" / "alternates").write_text(f"{theirs / 'objects'}\n")
    taken = take(tmp_path / "class", "name,sid,login\nAda,1,ada\n")
    assert [one.source for one in taken] == [b"own"]
