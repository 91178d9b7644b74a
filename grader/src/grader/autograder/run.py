"""Grades one submission in a platform's container: what the zip's script starts.

    python3 -m grader.autograder.run --home /opt/lockstep --autograder /autograder    Gradescope
    python3 -m grader.autograder.run --home /opt/lockstep --prairielearn /grade
    python3 -m grader.autograder.run --home /opt/lockstep --autolab FOLDER
    python3 -m grader.autograder.run --home /opt/lockstep --self-test FILE.cu

Only the standard library is used here. Root runs it, with a umask of 077: the submission runs as another user, and what
it must not read is closed to that user (see `base.user_box`).

Where the harness fails, no results.json is written: Gradescope says that the autograder failed, and gives no score. The
same happens shortly before Gradescope's own time limit: a run that exceeds it gets 0. Gradescope shows standard output
to staff only. Autolab shows it to students, so it has only what they may read, and in its last line the score.
"""

import argparse
import json
import math
import os
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.autograder import shapes
from grader.autograder.handed_in import METADATA, Metadata, NotHandedInError, find_source, read_metadata
from grader.base import sandbox, user_box
from grader.base.errors import GraderError, InfrastructureError
from grader.base.files import write_atomic
from grader.base.layout import Layout
from grader.base.names import shown_block
from grader.base.process import CancelledError
from grader.base.schema import Fields, SchemaError
from grader.base.secret import NAME as SECRET
from grader.base.secret import open_secret
from grader.base.toolchain import find_toolchain
from grader.exports.gradescope import RESULTS, missing_results, results, results_text
from grader.model.assignment import Assignment, load_assignment
from grader.model.discovery import Submission, Wanted
from grader.model.handed import Handed
from grader.model.record import Record
from grader.model.roster import Student
from grader.running.bench import prepare
from grader.running.pipeline import Desk, grade_one
from grader.running.progress import Quiet
from grader.running.run import RunSettings
from grader.running.store import Journal

PRIVATE, SETTINGS = "private", "settings.json"
_WORK = "work"
_FAILED, _WRONG = 3, 1
_MOST_THREADS = 8
_MOST_SAID = 4000


@dataclass(frozen=True)
class Settings:
    """The zip's settings: the assignment, Gradescope's points for it, and the time limit in minutes."""

    assignment: str
    points: float
    minutes: float
    problem: str = ""  # Autolab's name for the score


def read_settings(home: Path) -> Settings:
    """The zip's settings; raises GraderError."""
    path = home / PRIVATE / SETTINGS
    try:
        fields = Fields(json.loads(path.read_text(encoding="utf-8")), SETTINGS)
        return Settings(
            fields.text("assignment"), fields.number("points"), fields.number("minutes"), fields.text("problem", "")
        )
    except (OSError, ValueError, SchemaError) as error:
        raise GraderError(f"{path} can't be read: {error}.\nMake the zip again") from error


def processors() -> int:
    """The number of processors this container may use: a quota can be lower than the machine's count."""
    count = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        count = min(count, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError):
        pass  # no quota, or an older kernel's files
    return max(1, min(count, _MOST_THREADS))


def choose_box() -> str:
    """Chooses bubblewrap if it works, else a separate user, and says which. Raises GraderError if neither works."""
    reason = sandbox.why_no_sandbox()
    if not reason:
        return "bubblewrap"
    other = user_box.why_not()
    if other:
        raise GraderError(f"no sandbox for student code: {reason}; {other}")
    sandbox.choose(sandbox.Kind.USER)
    return f"a user of its own, because {reason}"


def grade(home: Path, settings: Settings, source: bytes, metadata: Metadata) -> tuple[Assignment, Record]:
    """Grades one file; raises GraderError or InfrastructureError, and CancelledError when time is up."""
    layout = Layout(home, home / "build")
    assignment = load_assignment(layout.assignment(settings.assignment))
    secret, _, _ = open_secret(home / PRIVATE, home / PRIVATE / SECRET)
    run = RunSettings(0, "vgpu", processors(), sandboxed=True, secret=secret)
    work = home / _WORK
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o711)
    work.chmod(0o711)
    stop = threading.Event()
    alarm = threading.Timer(settings.minutes * 60, stop.set)
    alarm.daemon = True
    alarm.start()
    with tempfile.TemporaryDirectory(dir=home / PRIVATE) as folder:
        journal = Journal(Path(folder) / "journal.sqlite")
        try:
            bench = prepare(layout, find_toolchain(layout), assignment, run, work, stop)
            submission = Submission("submission", metadata.student, source, handed=metadata.handed)
            return assignment, grade_one(Desk(bench, journal, Quiet(), "grader grade submissions"), submission, stop)
        finally:
            alarm.cancel()
            journal.close()
            sandbox.end_boxes()
            shutil.rmtree(work, ignore_errors=True)


def run_autograder(home: Path, autograder: Path) -> int:
    """Grades the hand-in and writes results.json; returns the exit status."""
    began = time.monotonic()
    target = autograder / "results" / RESULTS
    target.unlink(missing_ok=True)  # an old file there belongs to another submission
    settings = read_settings(home)
    print(f"Sandbox: {choose_box()}")
    metadata = read_metadata(autograder / METADATA)
    _compare_points(settings, metadata)
    assignment = load_assignment(home / "assignments" / settings.assignment)
    try:
        source = find_source(
            autograder / "submission",
            Wanted(assignment.id, assignment.submission, takes=assignment.takes).given_by(assignment.path.parent),
        )
    except NotHandedInError as problem:
        print(f"Nothing to grade: {problem}")
        write_atomic(target, results_text(missing_results(assignment, str(problem), extra=metadata.extra_data())))
        return 0
    assignment, record = grade(home, settings, source, metadata)
    document = results(
        assignment,
        record,
        points=settings.points,
        seconds=time.monotonic() - began,
        extra=metadata.extra_data() | {"sandbox": "user" if sandbox.is_of_user() else "bwrap"},
    )
    _tell_staff(record)
    if document is None:
        return _give_up(f"not graded: {record.message}")
    write_atomic(target, results_text(document))
    return 0


def graded_in(home: Path, settings: Settings, folder: Path) -> dict[str, Any] | None:
    """The results of the hand-in in a folder, in Gradescope's format; None if the harness failed."""
    began = time.monotonic()
    assignment = load_assignment(home / "assignments" / settings.assignment)
    try:
        source = find_source(folder, Wanted(assignment.id, assignment.submission, takes=assignment.takes))
    except NotHandedInError as problem:
        return missing_results(assignment, str(problem))
    nobody = Metadata(Student(name="unknown"), Handed(), None, ())
    assignment, record = grade(home, settings, source, nobody)
    return results(assignment, record, points=settings.points, seconds=time.monotonic() - began)


def run_prairielearn(home: Path, folder: Path) -> int:
    """Grades what is in PrairieLearn's folder `student`, and writes results/results.json; the exit status."""
    target = folder / "results" / RESULTS
    target.unlink(missing_ok=True)
    settings = read_settings(home)
    print(f"Sandbox: {choose_box()}")
    document = graded_in(home, settings, folder / "student")
    if document is None:
        return _give_up("not graded: the harness failed")
    write_atomic(target, results_text(shapes.prairielearn(document, settings.points)))
    return 0


def run_autolab(home: Path, folder: Path) -> int:
    """Grades the hand-in in a folder, and prints what Autolab reads; the exit status."""
    settings = read_settings(home)
    choose_box()
    document = graded_in(home, settings, folder)
    if document is None:
        print("Not graded: the grading system failed, not your program. Your instructor can run it again.")
        return _FAILED
    print(shapes.autolab(document, settings.problem or "autograded"), end="")
    return 0


def _tell_staff(record: Record) -> None:
    """Prints the staff's report, with hidden tests."""
    print(f"Verdict: {record.shown_verdict}")
    for test in record.result.tests if record.result else ():
        if test.verdict != "PASS":
            print(f"\n{shown_block(test.said, _MOST_SAID)}")


def _compare_points(settings: Settings, metadata: Metadata) -> None:
    total = metadata.total_points
    if total is not None and total != settings.points:
        print(
            f"Gradescope's assignment has {total:g} points, and this autograder gives {settings.points:g}. "
            "That is right where the rest is graded by hand; else set the assignment's points, or make the zip "
            f"with --points {total:g}"
        )


def _give_up(reason: str) -> int:
    print(f"{reason}\nNo {RESULTS} is written, so that Gradescope gives no score. Run the autograder again.")
    return _FAILED


def self_test(home: Path, file: Path) -> int:
    """Grades the reference as a submission, when the image is built: it has to get all points."""
    print(f"Sandbox: {choose_box()}")
    settings = read_settings(home)
    began = time.monotonic()
    nobody = Metadata(Student(name="self-test"), Handed(), None, ())
    assignment, record = grade(home, settings, file.read_bytes(), nobody)
    document: dict[str, Any] = results(assignment, record, points=settings.points) or {}
    print(f"The reference: {record.verdict}, score {document.get('score')}, {time.monotonic() - began:.0f} s")
    if document and all(test["status"] == "passed" for test in document["tests"]):
        return 0
    print(record.message)
    _tell_staff(record)
    return _WRONG


def main(words: list[str]) -> int:
    """The command line; the exit status."""
    parser = argparse.ArgumentParser(prog="run_autograder")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--autograder", type=Path, default=Path("/autograder"))
    parser.add_argument("--self-test", type=Path)
    parser.add_argument("--prairielearn", type=Path, metavar="FOLDER")
    parser.add_argument("--autolab", type=Path, metavar="FOLDER")
    options = parser.parse_args(words)
    os.umask(0o077)
    try:
        if options.self_test:
            return self_test(options.home, options.self_test)
        if options.prairielearn:
            return run_prairielearn(options.home, options.prairielearn)
        if options.autolab:
            return run_autolab(options.home, options.autolab)
        return run_autograder(options.home, options.autograder)
    except CancelledError:
        return _give_up("not graded: time is up. Give the container more processors, or more minutes")
    except (GraderError, InfrastructureError, OSError) as error:
        return _give_up(f"not graded: {error}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
