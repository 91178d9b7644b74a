"""Finds an instructor's course files: in the submissions folder or next to it."""

from pathlib import Path

COURSE, ROSTER_FILE, ADJUSTMENTS, MATCHES, TIMES = (
    "course.toml", "roster.csv", "adjustments.csv", "matches.csv", "times.csv",
)  # fmt: skip
NAMES = (COURSE, ROSTER_FILE, ADJUSTMENTS, MATCHES, TIMES)


def course_folder(submissions: Path) -> Path | None:
    """The folder with at least one of these files: SUBMISSIONS itself, or its parent; None if neither has any.

    A download is often an archive, so course files next to it count.
    """
    for folder in (submissions, submissions.resolve().parent):
        if any((folder / name).is_file() for name in NAMES):
            return folder
    return None
