"""Where an instructor's own files about a course are: beside the submissions, or with them."""

from pathlib import Path

COURSE, ROSTER_FILE, ADJUSTMENTS, MATCHES, TIMES = (
    "course.toml", "roster.csv", "adjustments.csv", "matches.csv", "times.csv",
)  # fmt: skip
NAMES = (COURSE, ROSTER_FILE, ADJUSTMENTS, MATCHES, TIMES)


def course_folder(submissions: Path) -> Path | None:
    """The folder that holds at least one of these files: SUBMISSIONS itself, or the one that it is in; None if neither.

    A download is often an archive, and then its neighbours are what belongs to it.
    """
    for folder in (submissions, submissions.resolve().parent):
        if any((folder / name).is_file() for name in NAMES):
            return folder
    return None
