"""Canvas: "Download submissions" of an assignment, and the gradebook's export.

File names follow what Canvas's source does: the sortable name in lower case, `_LATE`, the user's id, then everything
that is no letter, mark, digit or underscore is dropped; the attachment's id and its name follow. A file that is handed
in again under the same name gets `-1`, `-2` before its suffix, and names that are taken in the zip do too.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from platforms.packing import pack
from platforms.people import Person, Upload


def make_canvas(
    path: Path,
    uploads: Sequence[Upload],
    *,
    anonymous: bool = False,
    keep_earlier: bool = False,
    ascii_only: bool = False,
) -> Path:
    """A download as folder or archive. Canvas keeps the last attempt only; `keep_earlier` adds those before it.

    `ascii_only` is how older versions dropped accented letters.
    """
    files: dict[str, bytes] = {}
    attachment = 880_000
    for upload in uploads:
        prefix = canvas_prefix(upload, anonymous=anonymous, ascii_only=ascii_only)
        attempts = [*upload.earlier, upload.files]
        for number, attempt in enumerate(attempts):
            if number + 1 < len(attempts) and not keep_earlier:
                continue
            for name, data in attempt.items():
                attachment += 13
                display = again(name, number) if number else name
                safe = re.sub(r'[\x00/\\:*?"<>|]+', "_", display)
                files[_unique(f"{prefix}_{attachment}_{safe}", files)] = data
        if upload.text:
            files[_unique(f"{prefix}_text.html", files)] = f"<html><body>{upload.text}</body></html>".encode()
        if upload.link:
            files[_unique(f"{prefix}_link.html", files)] = f'<a href="{upload.link}">{upload.link}</a>'.encode()
    return pack(path, files)


def canvas_prefix(upload: Upload, *, anonymous: bool = False, ascii_only: bool = False) -> str:
    """What a student's files begin with."""
    who = upload.person
    name = re.sub(r"_(\d+)_", r"\1", upload.team or who.sortable).lower()
    late = "LATE" if upload.late else ""
    parts = [late, f"anon_{anonymous_id(who)}"] if anonymous else [name, late, str(who.number)]
    text = "_".join(part for part in parts if part)
    return re.sub(r"\W", "", text, flags=re.ASCII if ascii_only else 0)


def anonymous_id(who: Person) -> str:
    """Five letters and digits, as Canvas draws them."""
    digits, number = "", who.number * 7919 + 60_466_176
    while len(digits) < 5:
        number, digit = divmod(number, 36)
        digits += "0123456789abcdefghijklmnopqrstuvwxyz"[digit]
    return digits


def again(name: str, number: int) -> str:
    """ladder.cu, handed in for the second time, is ladder-1.cu."""
    stem, dot, suffix = name.rpartition(".")
    return f"{stem}-{number}.{suffix}" if dot else f"{name}-{number}"


def _unique(name: str, taken: dict[str, bytes]) -> str:
    number, free = 0, name
    while free in taken:
        number += 1
        free = again(name, number)
    return free


def canvas_gradebook(people: Sequence[Person], assignment: str = "Reduction (2231)") -> str:
    """The export of the whole gradebook, with the row of points and the test student."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", assignment, "Final Score"])
    rows.writerow(["    Points Possible", "", "", "", "", "100.0", "(read only)"])
    for one in people:
        rows.writerow([one.sortable, one.number, one.sid, one.email, "CS 101 Section 1", "", ""])
    rows.writerow(["Student, Test", 99999, "", "0123456789abcdef", "CS 101 Section 1", "", ""])
    return "\ufeff" + text.getvalue()


def canvas_groups(people: Sequence[Person], teams: Mapping[Person, str]) -> str:
    """The export of a group set: who is in which group."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["name", "canvas_user_id", "user_id", "login_id", "sections", "group_name", "canvas_group_id"])
    rows.writerows(
        [one.sortable, one.number, one.sid, one.email, "CS 101 Section 1", teams.get(one, ""), 31] for one in people
    )
    return text.getvalue()
