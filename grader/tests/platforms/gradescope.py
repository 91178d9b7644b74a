"""Gradescope: "Export submissions" of a programming assignment, and the roster's export.

`assignment_<id>_export/submission_<id>/` holds the active submission of a student or a group, and
`submission_metadata.yml` next to them says whose it is: keys are Ruby symbols, an e-mail address may be missing,
`:history` has what came before (times and scores, no files).
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from platforms.packing import pack
from platforms.people import Person, Upload


def make_gradescope(
    path: Path, uploads: Sequence[Upload], *, first_id: int = 201_500_000, emails: bool = True, metadata: bool = True
) -> Path:
    """A download as folder or archive. `first_id`: the first submission's id; another export has other ids."""
    top = "assignment_4711_export"
    files: dict[str, bytes] = {}
    listing = "---\n"
    for index, upload in enumerate(uploads):
        own = f"submission_{first_id + 31 * index}"
        for name, data in upload.files.items():
            files[f"{top}/{own}/{name}"] = data
        listing += _metadata(own, upload, emails=emails)
    if metadata:
        files[f"{top}/submission_metadata.yml"] = listing.encode()
    return pack(path, files)


def _metadata(own: str, upload: Upload, *, emails: bool) -> str:
    lines = [f"{own}:", "  :submitters:"]
    for one in upload.people:
        lines += [f"  - :name: {json.dumps(one.name, ensure_ascii=False)}", f"    :sid: {_quoted(one.sid)}"]
        lines += [f"    :email: {one.email}"] if emails else []
    lines += [f"  :created_at: {_time(upload.at)}", "  :score: 0.0", "  :status: processed"]
    lines += ["  :results:", "    tests:", "    - name: ladder", "      max_score: 1.0", "      score: 0.0"]
    if upload.earlier:
        lines.append("  :history:")
        for number in range(len(upload.earlier), 0, -1):
            lines += [f"  - :created_at: {_time(upload.at - timedelta(hours=number))}", "    :score: 0.0"]
    else:
        lines.append("  :history: []")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _time(at: datetime) -> str:
    """As Ruby writes it: 2026-11-20 15:00:00.123456000 Z."""
    return at.strftime("%Y-%m-%d %H:%M:%S.%f") + "000 Z"


def gradescope_roster(people: Sequence[Person], sections: Mapping[Person, str] | None = None) -> str:
    """The roster's export; a member of the staff is in it too."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["First Name", "Last Name", "SID", "Email", "Role", "Sections"])
    rows.writerows(
        [one.first, one.last, one.sid, one.email, "Student", (sections or {}).get(one, "")] for one in people
    )
    rows.writerow(["Ina", "Structor", "", "ina@class.example", "Instructor", ""])
    return text.getvalue()


def submission_metadata(upload: Upload, submission: int = 7, *, seconds: float = 0.0) -> dict[str, Any]:
    """The submission_metadata.json that an autograder finds: what Gradescope documents of it."""
    at = upload.at + timedelta(seconds=seconds)
    return {
        "id": submission,
        "created_at": at.isoformat(),
        "assignment_id": 4711,
        "users": [{"id": one.number, "name": one.name, "email": one.email, "sid": one.sid} for one in upload.people],
        "previous_submissions": [
            {"submission_time": (at - timedelta(hours=number)).isoformat(), "score": 0.0, "results": {}}
            for number in range(len(upload.earlier), 0, -1)
        ],
    }
