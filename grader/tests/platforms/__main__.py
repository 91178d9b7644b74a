"""Makes a download of a class in a platform's form: python grader/tests/platforms --platform canvas CLASS OUT.zip."""

import argparse
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from grader.authoring.sample_class import laid_out
from platforms.canvas import canvas_gradebook
from platforms.classes import WAYS
from platforms.people import Class, Upload, load_class, write_roster

ROSTERS = {  # what each platform calls its table of students; the others have the course's own list
    "git": "classroom_roster.csv", "canvas": "canvas-gradebook.csv", "moodle": "moodle-worksheet.csv",
    "gradescope": "gradescope-roster.csv", "blackboard": "blackboard-gradebook.csv",
    "brightspace": "brightspace-grades.csv", "autolab": "autolab-roster.csv",
}  # fmt: skip


def only(upload: Upload, names: list[str]) -> Upload:
    """The upload with these files only; all of them where none is named."""
    return replace(upload, files={name: data for name, data in upload.files.items() if not names or name in names})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python grader/tests/platforms", description=__doc__)
    parser.add_argument("--platform", choices=sorted(WAYS), required=True)
    parser.add_argument("--file", action="append", default=[], help="only files of this name, such as reduction.cu")
    parser.add_argument("--late", action="append", default=[], metavar="NAME", help="this student was late; repeatable")
    parser.add_argument("--title", default="Reduction", help="what Canvas calls the assignment")
    parser.add_argument("source", type=Path, metavar="CLASS", help="a folder like reference/sample_class")
    parser.add_argument("out", type=Path, metavar="OUT", help="a folder, or OUT.zip, OUT.tar.gz, OUT.tar")
    options = parser.parse_args()
    with laid_out(options.source) as folder:
        course = load_class(folder)
    uploads = []
    for upload in course.uploads:
        own = only(upload, options.file)
        if any(word.casefold() in own.person.name.casefold() for word in options.late):
            own = replace(own, late=True, at=own.at + timedelta(hours=30))
        if own.files:
            uploads.append(own)
    way = WAYS[options.platform]
    print(f"{way.make(options.out, uploads)}: {len(uploads)} submissions")
    path = options.out.parent / ROSTERS.get(options.platform, "students.csv")
    if options.platform == "plain":
        path = write_roster(path.with_name("roster.csv"), course.people)
    else:
        is_canvas = options.platform == "canvas"
        text = canvas_gradebook(course.people, f"{options.title} (2231)") if is_canvas else ""
        path.write_text(text or way.roster(Class(course.people, tuple(uploads))), encoding="utf-8", newline="")
    print(f"{path}: {len(course.people)} students")


main()
