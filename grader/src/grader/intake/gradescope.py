"""Gradescope: "Export submissions" of a programming assignment.

``assignment_{id}_export/submission_{id}/`` has a student's or a group's files; ``submission_metadata.yml`` has their
names and ids. Its keys are Ruby symbols (``:submitters:``). An e-mail address may be missing. ``:history:`` has the
times and scores of earlier attempts, without their files. The numbers differ from one export to the next.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import yaml

from grader.base.errors import GraderError
from grader.base.files import FileError
from grader.base.names import distinct, shown
from grader.intake.handin import HandIn, Who
from grader.intake.matching import Matcher
from grader.intake.tree import FOLDER, Node, readable

TITLE = "Gradescope export"
METADATA = "submission_metadata.yml"
_LONGEST_METADATA = 1 << 30
_AT_ONCE = 4 << 20
# An entry's :results: and everything nested in it: lines with a larger indent, and list items.
_RESULTS = re.compile(r"^  :results:[^\n]*\n(?:(?: {3,}|  - |[ ]*$)[^\n]*\n)*", re.M)
_SUBMISSION = re.compile(r"submission_\d+")
_ENTRY = re.compile(r"^(?=submission_\d+:)", re.M)
_MOST_PEOPLE = 50
_MOST_BITS = 128


class _Loader(yaml.CSafeLoader):
    """The safe loader, which reads a tagged Ruby object as the plain mapping, list or text it is written as."""


def _as_written(loader: Any, _: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


_Loader.add_multi_constructor("!ruby/", _as_written)


def fits(entries: list[Node]) -> int:
    """How many entries look like Gradescope's; all of them if the metadata file is there."""
    if any(node.name == METADATA for node in entries):
        return len(entries)
    return sum(1 for node in entries if node.kind == FOLDER and _SUBMISSION.fullmatch(node.name))


def hand_ins(root: Node, _: Matcher) -> list[HandIn]:
    """One per submission: Gradescope exports the active one of a student or group."""
    known = _metadata(root)
    folders = {node.name: node for node in root.visible() if node.kind == FOLDER and _SUBMISSION.fullmatch(node.name)}
    found = [_hand_in(name, folders.get(name), known.get(name, {})) for name in sorted({*folders, *known})]
    labels = Counter(one.label for one in found)
    # Two submitters with the same name are two people: each has one submission that counts.
    return [replace(one, label=distinct(one.label, one.origin)) if labels[one.label] > 1 else one for one in found]


def leftovers(root: Node) -> list[Node]:
    """Entries that do not look like Gradescope's."""
    return [node for node in root.visible() if node.name != METADATA and not _SUBMISSION.fullmatch(node.name)]


def _metadata(root: Node) -> dict[str, dict[str, Any]]:
    """Each submission folder's metadata; empty if there is no file. Raises GraderError if the file can't be read."""
    file = root.child(METADATA)
    if file is None:
        return {}
    try:
        text = file.read(_LONGEST_METADATA).decode("utf-8", "replace")
    except FileError as error:
        raise GraderError(
            f"{error}, so nobody can be matched.\n"
            "Export the submissions in two parts, or keep of each entry only :submitters: and :created_at:"
        ) from error
    text = _RESULTS.sub("", text)  # autograder output: most of the file, and not needed
    whole = _parsed(text) if len(text) < _AT_ONCE else None
    if whole is None:  # one entry is broken, or the file is large: parse each entry separately
        whole = {}
        for part in _ENTRY.split(text):
            whole |= _parsed(part) or {}
    return {
        name: entry for name, entry in whole.items() if isinstance(entry, dict) and _SUBMISSION.fullmatch(str(name))
    }


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        document = yaml.load(text, Loader=_Loader)  # noqa: S506 - it is the safe one
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError):
        return None
    return document if isinstance(document, dict) else {}


def _hand_in(name: str, node: Node | None, entry: dict[str, Any]) -> HandIn:
    people = tuple(_people(entry))
    label = " + ".join(f"{one.name}_{one.sid or one.email}".strip("_") for one in people) or name
    at = _time(_get(entry, "created_at"))
    history = _get(entry, "history")
    before = len(history) if isinstance(history, list) else 0
    return HandIn(
        shown(label), people or (Who(),), (node,) if node else (), readable(name),
        at=at, order=before, again=before > 0, source=METADATA if at else "", is_only=True,
    )  # fmt: skip


def _people(entry: dict[str, Any]) -> Iterator[Who]:
    submitters = _get(entry, "submitters")
    if not isinstance(submitters, list):
        return
    for one in submitters[:_MOST_PEOPLE]:
        if isinstance(one, dict):
            name, sid, email = (_text(_get(one, key)) for key in ("name", "sid", "email"))
            if name or sid or email:
                yield Who(name=name, sid=sid, email=email)


def _get(table: dict[str, Any], key: str) -> Any:
    return table.get(f":{key}", table.get(key))


def _text(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if value.bit_length() < _MOST_BITS else ""  # more digits than any id has
    return shown(value) if isinstance(value, str) else ""


def _time(value: Any) -> str:
    """UTC in ISO 8601; "" for anything that is not a time."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return ""
    if not isinstance(value, datetime) or not isinstance(value, date):
        return ""
    moment = value if value.tzinfo else value.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError):
        return ""  # outside the range of dates
