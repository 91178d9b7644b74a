"""Moodle: "Download all submissions" of an assignment.

A folder for each student, ``{full name}_{participant}_assignsubmission_file``, or all files in one folder with that and
a ``_`` before their names; ``…_assignsubmission_onlinetext`` for what was typed. Folders of older versions end in
``_file_``. With blind marking the name is the word for participant; a team's folder has the team's name and id, and
those without a team share a folder without an id.
"""

import re
import unicodedata

from grader.base.names import shown
from grader.intake.handin import HandIn, Who
from grader.intake.tree import FOLDER, Branch, Node, Renamed, readable

TITLE = "Moodle download"
_KIND = r"assignsubmission_(?P<kind>file|onlinetext|comments)"
_NAMED = re.compile(rf"(?P<name>.+?)_(?P<id>\d+)_(?:{_KIND}|(?P<old>file|onlinetext)(?=_))(?:_(?P<rest>.*))?", re.S)
_DEFAULT_TEAM = re.compile(rf"(?P<name>[^_]+)_{_KIND}(?:_(?P<rest>.*))?", re.S)
# The language packs' words for a participant whose name is hidden, without what a file name can't have.
_HIDDEN = {
    "participant", "teilnehmerin", "teilnehmer", "participante", "partecipante", "deelnemer", "deltager", "deltagare",
    "osallistuja", "uczestnik", "participants",
}  # fmt: skip


def fits(entries: list[Node]) -> int:
    """How many entries look like Moodle's."""
    return sum(1 for node in entries if _parsed(node.name) is not None)


def hand_ins(root: Node) -> list[HandIn]:
    """One for each student or team: Moodle's download has the last attempt only."""
    own: dict[str, list[tuple[re.Match[str], Node]]] = {}
    for node in root.visible():
        match = _parsed(node.name)
        if match is not None:
            number = match.groupdict().get("id")
            own.setdefault(f"{match['name']}_{number}" if number else match["name"], []).append((match, node))
    return [_hand_in(label, own[label]) for label in sorted(own)]


def leftovers(root: Node) -> list[Node]:
    """What does not look like Moodle's."""
    return [node for node in root.visible() if _parsed(node.name) is None]


def _parsed(name: str) -> re.Match[str] | None:
    return _NAMED.fullmatch(name) or _DEFAULT_TEAM.fullmatch(name)


def _hand_in(label: str, parts: list[tuple[re.Match[str], Node]]) -> HandIn:
    first, node = parts[0]
    name = shown(readable(first["name"]))
    number = first.groupdict().get("id") or ""
    is_hidden = unicodedata.normalize("NFC", name).casefold() in _HIDDEN
    inner: list[Node] = []
    for match, one in parts:
        if one.kind == FOLDER:
            inner.append(one)
        else:
            inner.append(Renamed(one, match["rest"] or one.name))
    nodes = inner if any(one.kind == FOLDER for one in inner) else [Branch(label, inner)]
    who = Who(text="" if is_hidden else name, name="" if is_hidden else name, platform_id=number)
    return HandIn(
        shown(readable(label)), (who,), tuple(nodes), node.name, platform_id=number, team="" if is_hidden else name
    )
