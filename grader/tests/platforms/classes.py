"""One class, laid out by every platform: `random_class` makes it, `WAYS` lay it out.

The same seed makes the same class. `Way.make` writes the download, `Way.roster` the table of students that goes with
it; `keeps` says which attempts the download has, `times` whether it tells when they were handed in.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

from platforms import others
from platforms.canvas import canvas_gradebook, canvas_groups, make_canvas
from platforms.git_clones import classroom_roster, git_team_roster, make_git_clones
from platforms.gradescope import gradescope_roster, make_gradescope
from platforms.moodle import make_moodle, moodle_participants, moodle_worksheet
from platforms.people import DUE, Class, Person, Upload, person
from platforms.plain import make_plain

LAST, ALL = "last", "all"  # which attempts a download has
FORMS = ("", ".zip", ".tar.gz")
_FIRST = (
    "Ada", "Alan", "Grace", "Emmy", "Søren", "Péter", "María", "Jean-Luc", "Jürgen", "Siobhán", "小明", "Minji", "Olga",
    "José", "Ivy",
)  # fmt: skip
_LAST = (
    "Lovelace", "Turing", "Hopper", "Noether", "Łukasz", "Rózsa", "García", "Dupré", "Müller", "O'Brien", "李", "Kim",
    "Ladyzhenskaya", "Núñez", "Li",
)  # fmt: skip


@dataclass(frozen=True)
class Way:
    """How one platform lays out a class."""

    title: str
    make: Callable[[Path, Sequence[Upload]], Path]
    roster: Callable[[Class], str]
    teams: Callable[[Class], str] | None = None  # the table that also tells who is in which team; None: it has no teams
    keeps: str = LAST
    times: bool = False
    names_alone: bool = False  # the only thing that it tells of a student, so two of one name can't be told apart
    shape: str = ""  # where the shape is described in public


def _people(table: Callable[[Sequence[Person]], str]) -> Callable[[Class], str]:
    return lambda made: table(made.people)


def _worksheet(made: Class) -> str:
    return moodle_worksheet(made.people, uploads=made.uploads)


def _with_teams(made: Class) -> str:
    return others.logins_roster(made.people, teams_of(made))


def _git_teams(made: Class) -> str:
    return git_team_roster(made.people, teams_of(made))


def _canvas_groups(made: Class) -> str:
    return canvas_groups(made.people, teams_of(made))


def _participants(made: Class) -> str:
    return moodle_participants(made.people, uploads=made.uploads)


def _shaped(shape: str) -> Callable[[Path, Sequence[Upload]], Path]:
    return partial(others.make_shaped, shape=shape)


_gradebook, _own, _gradescope = _people(canvas_gradebook), _people(others.logins_roster), _people(gradescope_roster)
_brightspace, _blackboard = _people(others.brightspace_grades), _people(others.blackboard_gradebook)

WAYS: dict[str, Way] = {
    "canvas": Way("Canvas download", make_canvas, _gradebook, _canvas_groups, shape="canvas-lms content_zipper.rb"),
    "canvas-ascii": Way("Canvas download", partial(make_canvas, ascii_only=True), _gradebook, _canvas_groups,
                        shape="canvas-lms content_zipper.rb, older"),
    "moodle": Way("Moodle download", make_moodle, _worksheet, _worksheet, times=True,
                  shape="mod/assign downloader.php"),
    "moodle-flat": Way("Moodle download", partial(make_moodle, flat=True), _worksheet, _worksheet, times=True,
                       shape="mod/assign locallib.php"),
    "moodle-old": Way("Moodle download", partial(make_moodle, old=True), _worksheet, _worksheet, times=True,
                      shape="mod/assign before 3.1"),
    "moodle-blind": Way("Moodle download", partial(make_moodle, blind=True), _worksheet, times=True,
                        shape="mod/assign, blind marking"),
    "moodle-participants": Way("Moodle download", make_moodle, _participants, _participants, names_alone=True,
                               shape="user/index.php, download"),
    "gradescope": Way("Gradescope export", make_gradescope, _gradescope, _gradescope, times=True,
                      shape="nyuoss/gradescope-api#62"),
    "gradescope-ids": Way("Gradescope export", partial(make_gradescope, emails=False), _gradescope, _gradescope,
                          times=True, shape="otter-grader#20"),
    "git": Way("Git clones", make_git_clones, _people(classroom_roster), _git_teams, shape="github/gh-classroom"),
    "git-50": Way("Git clones", make_git_clones, _people(others.classroom50_roster), _git_teams,
                  shape="classroom50#611"),
    "blackboard": Way("Blackboard download", others.make_blackboard, _blackboard, keeps=ALL, times=True,
                      shape="kwurst/bb-file-cleanup"),
    "brightspace": Way("Brightspace download", others.make_brightspace, _brightspace, _with_teams, keeps=ALL,
                       times=True, names_alone=True, shape="squell/bb-scripts#64"),
    "brightspace-flat": Way("Brightspace download", partial(others.make_brightspace, flat=True), _brightspace,
                            _with_teams, keeps=ALL, times=True, names_alone=True,
                            shape="OfficeCoffee/GradingFileProject"),
    "sakai": Way("Sakai download", others.make_sakai, _own, times=True, shape="Submission attachment(s)"),
    "ilias": Way("ILIAS download", others.make_ilias, _own, _own, shape="nbgrader#796, Slandy95/eCampus-…"),
    "teams": Way("Microsoft Teams folder", others.make_teams, _own, keeps=ALL, names_alone=True,
                 shape="lwchkg/teams_assignment_explorer"),
    "autolab": Way("Autolab download", others.make_autolab, _people(others.autolab_roster), keeps=ALL,
                   shape="Autolab#693"),
    "submitty": Way("Submitty folder", others.make_submitty, _own, _with_teams, times=True,
                    shape="Submitty's directory structure"),
    "login-file": Way("Plain folder", _shaped("{login}_{file}"), _own, _with_teams, shape="Markus#127"),
    "title-login": Way("Plain folder", _shaped("hw4-{login}/{file}"), _own, _with_teams, shape="classroom's archives"),
    "login-time": Way("Plain folder", _shaped("{login}/{time}/{file}"), _own, _with_teams, keeps=ALL, times=True,
                      shape="galah-apiclient's wiki"),
    "login-number": Way("Plain folder", _shaped("{login}/{number}/{file}"), _own, _with_teams, keeps=ALL,
                        shape="Submitty's without its settings"),
    "sections": Way("Plain folder", _shaped("Lab {lab}/{sid} {name}/{file}"), _own, shape="a folder for each section"),
    "name-file": Way("Plain folder", _shaped("{name} - {file}"), _own, _with_teams, names_alone=True,
                     shape="Free-Math#98, classroom-assistant#203"),
    "form": Way("Plain folder", _shaped("Question 1/{stem}_{name}{suffix}"), _own, names_alone=True,
                shape="Microsoft Forms: the name behind the file's"),
    "revisions": Way("Plain folder", _shaped("Week 4/{sid}/Revision {number} - On time/{file}"), _own, keeps=ALL,
                     shape="numbered folders with the platform's mark of lateness"),
    "plain": Way("Plain folder", make_plain, _own, shape="a folder for each student"),
}  # fmt: skip


def teams_of(made: Class) -> dict[Person, str]:
    """The team of everybody who is in one."""
    return {one: upload.team for upload in made.uploads for one in upload.people if upload.team}


def random_class(seed: int, size: int = 12, *, file: str = "ladder.cu", same_names: bool = False) -> Class:
    """Students, some of whom hand in nothing, some twice or thrice, some late by minutes to days.

    Each file's first line is `// who NUMBER ATTEMPT`. Without `same_names` no two students have the same name.
    """
    chance = random.Random(seed)
    names = [f"{first} {last}" for first in _FIRST for last in _LAST]
    chance.shuffle(names)
    names = names[:size]
    if same_names and size > 1:
        names[1] = names[0]
    people = tuple(
        person(name, 4200 + 7 * place, email=f"student{place}@x.example") for place, name in enumerate(names)
    )
    uploads = []
    for one in people:
        if chance.random() < 0.15:
            continue
        count = chance.choice((1, 1, 1, 2, 3))
        made = [{file: f"// who {one.number} {number}\n".encode()} for number in range(1, count + 1)]
        late = timedelta(minutes=chance.choice((-3000, -600, -60, -1, 30, 90, 1500, 4000)))
        uploads.append(Upload((one,), made[-1], at=DUE + late, late=late > timedelta(), earlier=tuple(made[:-1])))
    return Class(people, tuple(uploads))


def in_teams(made: Class, seed: int) -> Class:
    """The same students, in teams of two or three that hand in together, each with a name of its own."""
    chance = random.Random(seed)
    people, uploads = list(made.people), []
    by_person = {upload.person: upload for upload in made.uploads}
    chance.shuffle(people)
    number = 0
    while people:
        size = chance.choice((2, 3))
        members, people = people[:size], people[size:]
        handed = next((by_person[one] for one in members if one in by_person), None)
        number += 1
        if handed:
            first = handed.person
            rest = tuple(one for one in members if one != first)
            uploads.append(replace(handed, people=(first, *rest), team=f"Team {number}"))
    return Class(made.people, tuple(uploads))


def lay_out(name: str, folder: Path, made: Class, form: str = "") -> tuple[Path, Path]:
    """The download and the roster of a class as the platform `name` makes them, in `folder`."""
    way = WAYS[name]
    folder.mkdir(parents=True, exist_ok=True)
    roster = folder / "students.csv"
    table = way.teams if teams_of(made) and way.teams else way.roster
    roster.write_text(table(made), encoding="utf-8", newline="")
    return way.make(folder / f"week4{form}", made.uploads), roster
