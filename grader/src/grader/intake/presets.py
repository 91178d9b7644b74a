"""Platforms whose downloads identify students by file names: each is a few rules.

`told` reads further data from a platform's own files: Submitty's active version, Sakai's timestamp.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo

from grader.base.files import FileError
from grader.intake.moments import moment
from grader.intake.rules import Hit, Reading, Rule, rule
from grader.intake.tree import FILE, FOLDER, Node

_SMALL = 1 << 20


@dataclass(frozen=True)
class Preset:
    """A platform. `rules`: by precedence; `beside`: other top-level names; `unseen`: a platform's own files."""

    title: str
    rules: tuple[Rule, ...]
    beside: re.Pattern[str] = re.compile(r"(?!)")
    unseen: re.Pattern[str] = re.compile(r"(?!)")
    marks_late: bool = False


def _preset(title: str, *rules: str, beside: str = "(?!)", unseen: str = "(?!)", marks_late: bool = False) -> Preset:
    return Preset(title, tuple(map(rule, rules)), re.compile(beside), re.compile(unseen), marks_late)


CANVAS, MOODLE, BLACKBOARD, BRIGHTSPACE, SAKAI, ILIAS, TEAMS, _, AUTOLAB, SUBMITTY = PRESETS = (
    _preset(
        "Canvas download",
        "{name}{number}_question_{#}_{#}_{file}",  # an answer in a quiz
        "[{late}_]anon_{code}_{#}_{file}", "[{late}_]anon_{code}_{typed}",
        "{name}[_{late}]_{number}_{#}_{file}", "{name}[_{late}]_{number}_{typed}",
        "[_{late}]_{number}_{#}_{file}", "[_{late}]_{number}_{typed}",  # Canvas may leave nothing of the name
        marks_late=True,
    ),
    _preset(
        "Moodle download",
        "{name}_{number}_assignsubmission_{kind}[_]/", "{name}_{number}_assignsubmission_{kind}_{file}",
        "{name}_{number}_{kind}_{file}", "{name}_{number}_{kind}_/",
        "{name}_assignsubmission_{kind}[_]/", "{name}_assignsubmission_{kind}_{file}",
    ),
    _preset(
        "Blackboard download",
        "{*}_{login}_attempt_{time}_{file}", "{*}_{login}_attempt_{time}.txt",
        unseen=r".*_attempt_[\d-]+\.txt",
    ),
    _preset(
        "Brightspace download",
        "{number}-{#} - {name} - {time}/", "{number}-{#} - {name} - {time} - {file}",
        "{name} - {time}/", "{name} - {time} - {file}",
        beside=r"index\.html",
    ),
    _preset(
        "Sakai download",
        "{name}({login})/Submission attachment(s)/",
        beside=r"grades\.(csv|xls)",
    ),
    _preset(
        "ILIAS download",
        "Abgaben/Team {group}/{name}_{login}_{number}/", "Submissions/Team {group}/{name}_{login}_{number}/",
        "Abgaben/{name}_{login}_{number}/", "Submissions/{name}_{login}_{number}/",
        "Team {group}/{name}_{login}_{number}/", "Team_{group}/{name}_{login}_{number}/",
        beside=r"status\.(xlsx?|csv)",
    ),
    _preset(
        "Microsoft Teams folder",
        "Submitted files/{name}/{*}/Version {attempt}/", "{name}/{*}/Version {attempt}/",
        beside="Working files",
    ),
    _preset("Microsoft Teams folder", "Submitted files/{name}/{*}/", beside="Working files"),
    _preset("Autolab download", "{address}_{attempt}_{file}"),
    _preset("Submitty folder", "{login}/{attempt}/"),
)  # fmt: skip
# The language packs' words for a participant with a hidden name, without characters that file names can't have.
_HIDDEN = {
    "participant", "teilnehmerin", "teilnehmer", "participante", "partecipante", "deelnemer", "deltager", "deltagare",
    "osallistuja", "uczestnik", "participants",
}  # fmt: skip
_SETTINGS = "user_assignment_settings.json"


def is_missing(preset: Preset, entry: Node) -> bool:
    """Whether a matching entry lacks other files of the platform: many folders look like Submitty's."""
    return preset is SUBMITTY and entry.child(_SETTINGS) is None


def spelt(preset: Preset, reading: Reading) -> Reading:
    """The reading with platform quirks undone: Moodle's hidden names, a login before the name."""
    if preset is not MOODLE:
        return reading
    own = dict(reading)
    name = own.get("name", "")
    if unicodedata.normalize("NFC", name).casefold() in _HIDDEN:
        del own["name"]
    elif "_" in name:  # Moodle itself removes each _ from a name
        own["login"], _, own["name"] = name.rpartition("_")
    return own


@dataclass(frozen=True)
class Told:
    """Data on an attempt from a platform's own files; `is_void` if another attempt is the active one."""

    at: str = ""
    source: str = ""
    is_void: str = ""


def told(preset: Preset, top: Node, hit: Hit, reading: Reading, zone: tzinfo) -> Told:
    """What the platform's own files say about an attempt; empty if there are none or they can't be read."""
    reader = {SAKAI.title: _of_sakai, SUBMITTY.title: _of_submitty}.get(preset.title)
    own = top.child(hit.top)
    if reader is None or own is None or own.kind != FOLDER:
        return Told()
    try:
        return reader(own, reading, zone)
    except (FileError, ValueError, RecursionError, TypeError):
        return Told()


def _of_sakai(own: Node, _: Reading, zone: tzinfo) -> Told:
    file = own.child("timestamp.txt")
    at = moment(file.read(1 << 10).decode("utf-8", "replace"), zone) if file and file.kind == FILE else ""
    return Told(at, "timestamp.txt" if at else "")


def _of_submitty(own: Node, reading: Reading, zone: tzinfo) -> Told:
    file = own.child(_SETTINGS)
    document = json.loads(file.read(_SMALL)) if file and file.kind == FILE else {}
    number = int(reading["attempt"])
    active = document.get("active_version")
    void = ""
    if isinstance(active, int) and active != number:
        void = f"version {active} is the active one" if active else "the student took it back"
    for entry in document.get("history") or ():
        if isinstance(entry, Mapping) and entry.get("version") == number:
            at = moment(str(entry.get("time", "")), zone)
            return Told(at, _SETTINGS if at else "", void)
    return Told(is_void=void)


def custom(rules: tuple[str, ...], where: str) -> Preset:
    """The preset for an instructor's `[matching]` rules; raises GraderError."""
    return Preset("By rule", tuple(rule(text, where) for text in rules))
