"""GitHub Classroom: a folder of clones, `{assignment}-{login}`, each with its .git, and the classroom's roster."""

import csv
import io
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from platforms.packing import pack
from platforms.people import Person, Upload


def make_git_clones(path: Path, uploads: Sequence[Upload], *, assignment: str = "week4") -> Path:
    """Clones as folder or archive, with one commit for each attempt, made when the upload says."""
    files: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for index, upload in enumerate(uploads):
            repository = Path(scratch) / str(index)
            _commit_all(repository, upload)
            name = f"{assignment}-{team_slug(upload.team) or github_login(upload.person)}"
            for file in sorted(one for one in repository.rglob("*") if one.is_file()):
                files[f"{name}/{file.relative_to(repository)}"] = file.read_bytes()
            if not path.suffix:
                (path / name / ".git" / "refs" / "tags").mkdir(parents=True, exist_ok=True)
    return pack(path, files)


def _commit_all(repository: Path, upload: Upload) -> None:
    repository.mkdir()
    _git(repository, "init", "-q", "-b", "main", "--template=")
    every = (*upload.earlier, upload.files)
    for place, attempt in enumerate(every, 1):
        at = upload.at - timedelta(hours=len(every) - place)
        for name, data in attempt.items():
            (repository / name).parent.mkdir(parents=True, exist_ok=True)
            (repository / name).write_bytes(data)
        _git(repository, "add", "-A")
        _git(
            repository, "-c", f"user.name={upload.person.name}", "-c", f"user.email={upload.person.email}",
            "commit", "-q", "--allow-empty", "-m", "hand in", stamp=f"{int(at.timestamp())} +0000",
        )  # fmt: skip


def _git(repository: Path, *words: str, stamp: str = "") -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": stamp,
        "GIT_COMMITTER_DATE": stamp,
    }
    subprocess.run(["git", *words], cwd=repository, env=environment, check=True, capture_output=True)  # noqa: S607


def team_slug(team: str) -> str:
    """A team's name as a part of a repository's name."""
    return re.sub(r"[^a-z0-9]+", "-", team.lower()).strip("-")


def github_login(who: Person) -> str:
    """A login that says little about the name."""
    return f"{who.last[:1].lower() or 'x'}-coder{who.number}".encode("ascii", "replace").decode().replace("?", "x")


def classroom_roster(people: Sequence[Person]) -> str:
    """The roster that GitHub Classroom exports. Who has not accepted the assignment yet has no login."""
    text = io.StringIO()
    rows = csv.writer(text, quoting=csv.QUOTE_ALL)
    rows.writerow(["identifier", "github_username", "github_id", "name"])
    rows.writerows([one.sid, github_login(one), 9_000_000 + one.number, one.name] for one in people)
    return text.getvalue()


def git_team_roster(people: Sequence[Person], teams: Mapping[Person, str]) -> str:
    """Teams with their members, as teachers of team assignments keep them: education/classroom#1350."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["Group Name", "Member Identifier", "Member Github Username", "Member Github ID", "Member Name"])
    rows.writerows([teams.get(one, ""), one.sid, github_login(one), one.number, one.name] for one in people)
    return text.getvalue()
