"""Canvas: "Download submissions". All files are in one folder, and their names tell whose they are.

``{sortable name}[_LATE]_{user id}_{attachment id}_{file name}``, the name in lower case without what is no letter,
digit or underscore; ``[LATE_]anon_{id}_…`` where grading is anonymous; ``…_{user id}_text.html`` and ``_link.html`` for
what was typed. A file that was handed in again gets -1, -2 before its suffix, as do names that the zip has already.
"""

import re

from grader.base.names import shown
from grader.intake.handin import HandIn, Who
from grader.intake.plain import stem_and_suffix
from grader.intake.tree import FOLDER, Branch, Node, Renamed, readable

TITLE = "Canvas download"
_NAMED = re.compile(
    r"(?P<name>.*?)(?P<late>_LATE)?_(?P<id>\d+)_(?:(?P<file>\d+)_(?P<rest>.+)|(?:text|link)(?:-\d+)?\.html)", re.S
)
_ANONYMOUS = re.compile(
    r"(?P<late>LATE_)?(?P<name>anon)_(?P<id>[0-9A-Za-z]+)_(?:(?P<file>\d+)_(?P<rest>.+)|(?:text|link)(?:-\d+)?\.html)",
    re.S,
)
_AGAIN = re.compile(r"(?P<stem>.+)-(?P<number>[1-9]\d?)")


def fits(entries: list[Node]) -> int:
    """How many entries look like Canvas's."""
    return sum(1 for node in entries if node.kind != FOLDER and _parsed(node.name) is not None)


def hand_ins(root: Node) -> list[HandIn]:
    """One for each attempt of each student. Files of one name with different numbers are different attempts."""
    own: dict[str, list[tuple[re.Match[str], Node]]] = {}
    for node in root.visible():
        match = _parsed(node.name)
        if match is not None and node.kind != FOLDER:
            own.setdefault(f"{match['name']}_{match['id']}", []).append((match, node))
    return [one for label in sorted(own) for one in _attempts(label, own[label])]


def leftovers(root: Node) -> list[Node]:
    """What does not look like Canvas's."""
    return [node for node in root.visible() if node.kind == FOLDER or _parsed(node.name) is None]


def _parsed(name: str) -> re.Match[str] | None:
    return _ANONYMOUS.fullmatch(name) or _NAMED.fullmatch(name)


def _attempts(label: str, files: list[tuple[re.Match[str], Node]]) -> list[HandIn]:
    """Files of the same name, apart from the number that a repetition gets, are attempts: the first has none."""
    first = files[0][0]
    is_anonymous = first["name"] == "anon" and not first["id"].isdecimal()
    who = Who(text="" if is_anonymous else shown(readable(first["name"])), platform_id=first["id"])
    named: list[tuple[str, int, int, Node]] = []
    for match, node in files:
        stem, suffix = stem_and_suffix(match["rest"] or node.name)
        again = _AGAIN.fullmatch(stem) if match["rest"] else None
        base = f"{again['stem'] if again else stem}{suffix}"
        number = int(again["number"]) if again else 0
        named.append((base, number, int(match["file"] or 0), Renamed(node, base)))
    counts: dict[str, int] = {}
    for base, *_ in named:
        counts[base] = counts.get(base, 0) + 1
    repeated = {base for base, count in counts.items() if count > 1}
    several = sorted((number, place, base, node) for base, number, place, node in named if base in repeated)
    others = [node for base, _, _, node in named if base not in repeated]
    late = any(match["late"] for match, _ in files)
    is_again = any(number for _, number, _, _ in named)
    rounds: dict[str, int] = {}
    attempts: list[list[Node]] = []
    for _, _, base, node in several:
        number = rounds[base] = rounds.get(base, -1) + 1
        if number == len(attempts):
            attempts.append([])
        attempts[number].append(node)
    attempts = attempts or [[]]
    attempts[-1] += others
    origin = files[-1][1].name
    return [
        HandIn(
            shown(readable(label)), (who,), (Branch(label, nodes),), origin,
            late=late, order=order, again=is_again, platform_id=first["id"], team=who.text,
        )
        for order, nodes in enumerate(attempts)
    ]  # fmt: skip
