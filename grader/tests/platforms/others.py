"""Blackboard, Brightspace, Sakai, ILIAS, Microsoft Teams, Autolab and Submitty: what each lets staff download.

A function makes the download, another the table of students that the platform exports. Names have the forms that public
scripts for grading expect; each function names one. `Upload.earlier` are attempts an hour apart, the newest an hour
before `Upload.at`.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from platforms.packing import pack
from platforms.people import Person, Upload

TITLE = "Week 4"


def attempts(upload: Upload) -> Iterator[tuple[int, datetime, Mapping[str, bytes]]]:
    """All attempts with their number from 1 and their time, oldest first."""
    every = (*upload.earlier, upload.files)
    for number, files in enumerate(every, 1):
        yield number, upload.at - timedelta(hours=len(every) - number), files


def _table(rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue()


def make_blackboard(path: Path, uploads: Sequence[Upload]) -> Path:
    """`{column}_{username}_attempt_{time}_{file}`, all attempts, and a .txt for each: kwurst/bb-file-cleanup."""
    files: dict[str, bytes] = {}
    for upload in uploads:
        for one in upload.people[:1]:
            for _, at, own in attempts(upload):
                prefix = f"{TITLE}_{one.login}_attempt_{at:%Y-%m-%d-%H-%M-%S}"
                said = f"Name: {one.name} ({one.login})\nAssignment: {TITLE}\nDate Submitted: {at:%A, %B %d, %Y}\n"
                files[f"{prefix}.txt"] = said.encode()
                files |= {f"{prefix}_{name.replace('/', '_')}": data for name, data in own.items()}
    return pack(path, files)


def blackboard_gradebook(people: Sequence[Person]) -> str:
    """ "Download results": tabs, and UTF-16 when it is called .xls (nbeaver/offline-grades-upload)."""
    rows = [(one.last, one.first, one.login, one.sid, "2026-11-20 10:00:00", "Yes", "") for one in people]
    titles = ("Last Name", "First Name", "Username", "Student ID", "Last Access", "Availability",
              f"{TITLE} [Total Pts: 100 Score] |4711")  # fmt: skip
    return _table([titles, *rows], "\t")


def make_brightspace(path: Path, uploads: Sequence[Upload], *, flat: bool = False) -> Path:
    """`{user}-{folder} - {name} - {time}`, a folder or a prefix for each submission: squell/bb-scripts#64."""
    files: dict[str, bytes] = {"index.html": b"<html></html>"}
    for upload in uploads:
        for _, at, own in attempts(upload):
            local = at.astimezone(ZoneInfo("UTC"))
            clock = f"{local:%b} {local.day}, {local.year} {local.hour % 12 or 12}{local:%M} {local:%p}"
            name = re.sub(r'[\\/:*?"<>|]', "", upload.team or upload.person.name)
            prefix = f"{upload.person.number}-2557369 - {name} - {clock}"
            divider = " - " if flat else "/"
            files |= {
                f"{prefix}{divider}{file.replace('/', '_') if flat else file}": data for file, data in own.items()
            }
    return pack(path, files)


def brightspace_grades(people: Sequence[Person]) -> str:
    """The export of grades: usernames and ids with # before them."""
    rows = [(f"#{one.sid}", f"#{one.login}", one.last, one.first, one.email, "", "#") for one in people]
    titles = ("OrgDefinedId", "Username", "Last Name", "First Name", "Email", f"{TITLE} Points Grade",
              "End-of-Line Indicator")  # fmt: skip
    return _table([titles, *rows])


def make_sakai(path: Path, uploads: Sequence[Upload]) -> Path:
    """`{assignment}/{Last, First}({login})/Submission attachment(s)/`, with grades.csv and timestamp.txt above it."""
    files = {f"{TITLE}/grades.csv": b'"Week 4","Points"\n\n"Display ID","ID","Last Name","First Name","grade"\n'}
    for upload in uploads:
        one = upload.person
        own = f"{TITLE}/{one.sortable.replace('/', '_')}({one.login})"
        files |= {f"{own}/Submission attachment(s)/{name}": data for name, data in upload.files.items()}
        files[f"{own}/timestamp.txt"] = f"{upload.at:%Y%m%d%H%M%S}000".encode()
        files[f"{own}/comments.txt"] = b""
        files[f"{own}/Feedback Attachment(s)/old.cu"] = b"// a grader's"
    return pack(path, files)


def make_ilias(path: Path, uploads: Sequence[Upload]) -> Path:
    """`{assignment}/Abgaben/{Last}_{First}_{login}_{id}/`, a team's in `Team {id}/`: Slandy95/eCampus-…"""
    files: dict[str, bytes] = {}
    for upload in uploads:
        team = f"Team {300 + sum(upload.team.encode()) % 97}/" if upload.team else ""
        for one in upload.people:
            folder = f"{TITLE}/Abgaben/{team}{one.last}_{one.first}_{one.login}_{one.number}".replace(" ", "_")
            handed = upload.files if one == upload.person else {"thanks.txt": b"Ada handed it in"}
            files |= {f"{folder.replace(TITLE.replace(' ', '_'), TITLE)}/{name}": data for name, data in handed.items()}
    return pack(path, files)


def make_teams(path: Path, uploads: Sequence[Upload]) -> Path:
    """`Submitted files/{name}/{assignment}/Version {n}/`: lwchkg/teams_assignment_explorer."""
    files: dict[str, bytes] = {}
    for upload in uploads:
        for number, _, own in attempts(upload):
            folder = f"Submitted files/{upload.person.name.replace('/', '_')}/{TITLE}/Version {number}"
            files |= {f"{folder}/{name}": data for name, data in own.items()}
    return pack(path, files)


def make_autolab(path: Path, uploads: Sequence[Upload]) -> Path:
    """`{address}_{version}_{handin}`: autolab/Autolab#693."""
    files: dict[str, bytes] = {}
    for upload in uploads:
        for number, _, own in attempts(upload):
            files |= {f"{upload.person.email}_{number}_{name.replace('/', '_')}": data for name, data in own.items()}
    return pack(path, files)


def autolab_roster(people: Sequence[Person]) -> str:
    """The export of a course's users."""
    rows = [("f26", one.email, one.last, one.first, "", "", "", "", "1", "A") for one in people]
    titles = ("Semester", "Email", "Last Name", "First Name", "School", "Major", "Year", "Grading Policy", "Lecture",
              "Section")  # fmt: skip
    return _table([titles, *rows])


def make_submitty(path: Path, uploads: Sequence[Upload], *, active: int = 0) -> Path:
    """`{user}/{version}/`, with user_assignment_settings.json naming the active one; `active` 0: the newest."""
    files: dict[str, bytes] = {}
    for upload in uploads:
        own, history = upload.team or upload.person.login, []
        for number, at, handed in attempts(upload):
            files |= {f"{own}/{number}/{name}": data for name, data in handed.items()}
            files[f"{own}/{number}/.submit.timestamp"] = f"{at:%Y-%m-%d %H:%M:%S%z}".encode()
            history.append({"version": number, "time": f"{at:%Y-%m-%d %H:%M:%S%z}", "who": own, "type": "upload"})
        settings = {"active_version": active or len(history), "history": history}
        files[f"{own}/user_assignment_settings.json"] = json.dumps(settings).encode()
    return pack(path, files)


def make_shaped(path: Path, uploads: Sequence[Upload], *, shape: str) -> Path:
    """No platform's: paths of any shape that a script or an assignment asks for, such as `{login}/{time}/{file}`."""
    files: dict[str, bytes] = {}
    for upload in uploads:
        one = upload.person
        name = re.sub(r"[\\/]", "_", upload.team or one.name)
        for number, at, own in attempts(upload):
            keys = {"login": upload.team or one.login, "name": name, "sid": one.sid, "time": f"{at:%Y-%m-%d-%H-%M-%S}",
                    "number": number, "lab": one.number % 2}  # fmt: skip
            for file, data in own.items():
                plain = file.replace("/", "_")
                keys |= {"stem": Path(plain).stem, "suffix": Path(plain).suffix}
                files[shape.format(**keys, file=plain)] = data
    return pack(path, files)


def logins_roster(people: Sequence[Person], teams: Mapping[Person, str] | None = None) -> str:
    """A table with everything that platforms without an export of their own know."""
    rows = [(one.last, one.first, one.login, one.sid, one.email, (teams or {}).get(one, "")) for one in people]
    return _table([("last name", "first name", "login", "sid", "email", "team"), *rows])


def classroom50_roster(people: Sequence[Person]) -> str:
    """Classroom 50's students.csv: foundation50/classroom50#611. Only the username has to be there."""
    from platforms.git_clones import github_login  # noqa: PLC0415 - it imports packing too

    rows = [(github_login(one), one.first, one.last, one.email, "1", 9_000_000 + one.number) for one in people]
    return _table([("username", "first_name", "last_name", "email", "section", "github_id"), *rows])
