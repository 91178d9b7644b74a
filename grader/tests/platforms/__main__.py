"""Makes a download of a class in a platform's form: python grader/tests/platforms --platform canvas CLASS OUT.zip."""

import argparse
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from grader.authoring.sample_class import laid_out
from platforms.canvas import canvas_gradebook, make_canvas
from platforms.git_clones import classroom_roster, make_git_clones
from platforms.gradescope import gradescope_roster, make_gradescope
from platforms.moodle import make_moodle, moodle_worksheet
from platforms.others import (
    autolab_roster,
    blackboard_gradebook,
    brightspace_grades,
    logins_roster,
    make_autolab,
    make_blackboard,
    make_brightspace,
    make_ilias,
    make_sakai,
    make_submitty,
    make_teams,
)
from platforms.people import Upload, load_class, write_roster
from platforms.plain import make_plain

MAKERS = {
    "plain": make_plain,
    "git": make_git_clones,
    "canvas": make_canvas,
    "moodle": make_moodle,
    "gradescope": make_gradescope,
    "blackboard": make_blackboard,
    "brightspace": make_brightspace,
    "sakai": make_sakai,
    "ilias": make_ilias,
    "teams": make_teams,
    "autolab": make_autolab,
    "submitty": make_submitty,
}
ROSTERS = {
    "git": ("classroom_roster.csv", classroom_roster),
    "canvas": ("canvas-gradebook.csv", canvas_gradebook),
    "moodle": ("moodle-worksheet.csv", moodle_worksheet),
    "gradescope": ("gradescope-roster.csv", gradescope_roster),
    "blackboard": ("blackboard-gradebook.csv", blackboard_gradebook),
    "brightspace": ("brightspace-grades.csv", brightspace_grades),
    "autolab": ("autolab-roster.csv", autolab_roster),
    **dict.fromkeys(("sakai", "ilias", "teams", "submitty"), ("students.csv", logins_roster)),
}


def only(upload: Upload, names: list[str]) -> Upload:
    """The upload with these files only; all of them where none is named."""
    return replace(upload, files={name: data for name, data in upload.files.items() if not names or name in names})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python grader/tests/platforms", description=__doc__)
    parser.add_argument("--platform", choices=sorted(MAKERS), required=True)
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
    made = MAKERS[options.platform](options.out, uploads)
    print(f"{made}: {len(uploads)} submissions")
    beside = options.out.resolve().parent
    if options.platform in ROSTERS:
        name, text = ROSTERS[options.platform]
        exported = (
            text(course.people) if options.platform != "moodle" else moodle_worksheet(course.people, uploads=uploads)
        )
        if options.platform == "canvas":
            exported = canvas_gradebook(course.people, f"{options.title} (2231)")
        (beside / name).write_text(exported, encoding="utf-8", newline="")
        print(f"{options.out.parent / name}: what the platform exports of {len(course.people)} students")
    else:
        print(f"{write_roster(beside / 'roster.csv', course.people)}: {len(course.people)} students")


main()
