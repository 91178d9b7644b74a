"""`grader autograder`: packages that a learning platform runs for each submission."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from grader.autograder.pack import AUTOLAB, GRADESCOPE, PRAIRIELEARN, PROBLEM, make_zip
from grader.base.errors import GraderError
from grader.base.files import FileError, read_regular, write_atomic
from grader.base.layout import find_layout
from grader.commands.common import FOLDER, build_option, known_assignments, make_console
from grader.model.assignment import load_assignment

_MOST_SECRET = 4096
_IMAGE = "Unpack it and build the image as its Dockerfile says: docs/how-to/use-other-platforms.md"
_NEXT = {
    GRADESCOPE: "Upload it as the autograder of a programming assignment, with Ubuntu 22.04 or newer:\n"
    "docs/how-to/use-gradescope.md",
    PRAIRIELEARN: _IMAGE,
    AUTOLAB: _IMAGE,
}
_CI = (
    ("lockstep.yml", ".github/workflows/lockstep.yml"),
    ("gitlab-ci.yml", ".gitlab-ci.yml"),
    ("autograder.py", "classroom50/ASSIGNMENT/autograder.py"),
)
_SUBMITTY = (
    ("rung", "submitty/rung"),
    ("Dockerfile", "submitty/Dockerfile"),
    ("rung.py", "submitty/config/custom_validation_code/rung.py"),
)


@click.group(short_help="Makes an autograder for a learning platform.")
def autograder() -> None:
    """Makes an autograder that a learning platform runs for each submission.

    \b
    Example:
      grader autograder gradescope out --assignment 04_reduction
    """


def _made(platform: str) -> Callable[..., None]:
    """Returns a command that makes the zip for a platform."""

    def make(
        target: Path,
        name: str,
        points: float | None,
        minutes: float,
        secret: Path | None,
        build: Path | None,
        problem: str = PROBLEM,
    ) -> None:
        layout = find_layout(build)
        assignment = load_assignment(layout.assignment(known_assignments(layout, (name,))[0]))
        what = "autograder" if platform == GRADESCOPE else platform
        path = target if target.suffix == ".zip" else target / f"{assignment.id}-{what}.zip"
        names = make_zip(
            layout,
            assignment,
            path,
            points=points or assignment.points,
            minutes=minutes,
            secret=_read(secret),
            platform=platform,
            problem=problem,
        )
        console = make_console()
        console.print(
            f"{escape(str(path))}: {len(names)} files, {path.stat().st_size >> 10:,} KiB\n{_NEXT[platform]}.\n"
            "It holds the hidden tests and the reference: give it to nobody else.",
            highlight=False,
            soft_wrap=True,
        )

    return make


def _options(command: Callable[..., None], most: float) -> Callable[..., None]:
    for option in (
        build_option,
        click.option(
            "--secret",
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="Secret that seeds are derived from, as in `grader grade`.  [default: a new one]",
        ),
        click.option(
            "--minutes",
            type=click.FloatRange(1, most),
            default=9.0,
            show_default=True,
            help="Give up, without a score, after this time; choose it below the platform's limit.",
        ),
        click.option(
            "--points",
            type=click.FloatRange(0, min_open=True),
            help="The assignment's points on the platform; scores are scaled to them.  [default: its own points]",
        ),
        click.option("--assignment", "name", required=True, metavar="ID", help="The assignment that it grades."),
        click.argument("target", metavar="DIR_OR_ZIP", type=click.Path(path_type=Path)),
    ):
        command = option(command)
    return command


@autograder.command()
@partial(_options, most=60)
def gradescope(**given: Any) -> None:
    """Makes the zip that Gradescope builds its autograder from.

    It holds the hidden tests, the reference and the secret: give it to nobody but Gradescope. Gradescope builds an
    image from it once, which deletes the zip's contents, the reference, and the hidden tests' sources.

    \b
    Examples:
      grader autograder gradescope out --assignment 04_reduction
      grader autograder gradescope my.zip --assignment 04_reduction --points 20
    """
    _made(GRADESCOPE)(**given)


@autograder.command()
@partial(_options, most=9.5)
def prairielearn(**given: Any) -> None:
    """Makes a zip with a question for PrairieLearn and the image that grades it.

    \b
    Example:
      grader autograder prairielearn out --assignment 04_reduction
    """
    _made(PRAIRIELEARN)(**given)


@autograder.command()
@partial(_options, most=60)
@click.option("--problem", default=PROBLEM, show_default=True, help="The assessment's problem that gets the score.")
def autolab(**given: Any) -> None:
    """Makes a zip with an assessment's Makefile for Autolab and the image that grades it.

    \b
    Example:
      grader autograder autolab out --assignment 04_reduction
    """
    _made(AUTOLAB)(**given)


@autograder.command()
@click.argument("target", metavar="DIR", type=FOLDER)
@click.option("--assignment", "name", required=True, metavar="ID", help="The assignment that it tests.")
@build_option
def ci(target: Path, name: str, build: Path | None) -> None:
    """Writes the CI files that run the public tests on each push: GitHub Actions, Gitea, GitLab CI, Classroom 50.

    The files go into the repository that students start from (grader handout), and for Classroom 50 into the config
    repository. Students can read whatever a runner can, so hidden tests run elsewhere: `grader grade` on all clones.

    \b
    Example:
      grader autograder ci out/ci --assignment 04_reduction
    """
    layout = find_layout(build)
    (chosen,) = known_assignments(layout, (name,))
    files = {to: (layout.templates / "autograder/ci" / source).read_text("utf-8") for source, to in _CI}
    _write(target, files, chosen)


@autograder.command()
@click.argument("target", metavar="DIR", type=FOLDER)
@click.option("--assignment", "name", required=True, metavar="ID", help="The assignment that it tests.")
@build_option
def submitty(target: Path, name: str, build: Path | None) -> None:
    """Writes a gradeable's configuration for Submitty, and the files to build an image with the public tests.

    Each rung is a test case worth one point. On Submitty a submission could read hidden tests, because both run as the
    same user. So there are none, and grades come from `grader grade` on Submitty's folder.

    \b
    Example:
      grader handout out/template --assignment 04_reduction
      grader autograder submitty out/template --assignment 04_reduction
    """
    layout = find_layout(build)
    assignment = load_assignment(layout.assignment(known_assignments(layout, (name,))[0]))
    validation = {"method": "custom_validator", "command": "python3 rung.py", "actual_file": "STDOUT.txt"}
    cases = [
        {
            "title": f"{number} {rung.title}",
            "command": f"lockstep-rung {assignment.id} {assignment.submission} {number}",
            "points": 1,
            "validation": [validation],
        }
        for number, rung in enumerate(assignment.rungs, 1)
    ]
    config = {
        "autograding_method": "docker",
        "container_options": {"container_image": f"lockstep-{assignment.id}"},
        "resource_limits": {"RLIMIT_CPU": 600, "RLIMIT_FSIZE": 500_000_000, "RLIMIT_NPROC": 1000},
        "grading_parameters": {"AUTO_POINTS": len(cases)},
        "testcases": cases,
    }
    folder = layout.templates / "autograder/submitty"
    files = {to: (folder / source).read_text("utf-8") for source, to in _SUBMITTY}
    _write(target, files | {"submitty/config/config.json": json.dumps(config, indent=2) + "\n"}, assignment.id)


def _write(target: Path, files: Mapping[str, str], chosen: str) -> None:
    """Writes files for an assignment into a folder, and says which."""
    console = make_console()
    for name, text in files.items():
        path = target / name.replace("ASSIGNMENT", chosen)
        path.parent.mkdir(parents=True, exist_ok=True)
        own = text
        for part in ("assignments/{}", "lockstep-{}", 'ASSIGNMENT = "{}"'):
            own = own.replace(part.format("ASSIGNMENT"), part.format(chosen))
        write_atomic(path, own)
        console.print(escape(str(path)), highlight=False, soft_wrap=True)
    console.print("docs/how-to/use-other-platforms.md says where each goes.", highlight=False)


def _read(secret: Path | None) -> bytes | None:
    if secret is None:
        return None
    try:
        return read_regular(secret, _MOST_SECRET).strip()
    except (OSError, FileError) as error:
        raise GraderError(f"the secret {secret} can't be read: {error}") from error
