"""Writes wrong.toml, hostile.toml and right.toml: messages, and entries made of files. Keeps comments and order."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from grader.authoring.edits import find_edits, toml_text
from grader.authoring.solutions import DECLARED, make_head, read_entries, solutions_in, split_head, verdict_of
from grader.base.errors import GraderError
from grader.base.files import write_atomic

_START = """\
# Solutions as edits of others, each with the message that it gets. docs/how-to/add-an-assignment.md explains the form.
# The whole file of an entry:  grader check ASSIGNMENT --show NAME
"""
_TABLE = re.compile(r'^\["?([^"\]\n]+)"?\]\n', re.MULTILINE)
_MESSAGE = re.compile(r"""^message = ('''|\"""|'|").*?\1\n""", re.MULTILINE | re.DOTALL)
_VERDICT = re.compile(r"^verdict = .*\n", re.MULTILINE)
_END = re.compile(r"(?:^#.*\n|^\n)*\Z", re.MULTILINE)  # trailing comments belong to the next entry
_OPENED = re.compile(r"\A('{3}|\"{3})\n(?!\n)")
_BARE = re.compile(r"[A-Za-z0-9_-]+")  # a key without quotes


def write_messages(hidden: Path, messages: Mapping[str, str], *, is_partial: bool) -> None:
    """Records each message under its solution's name: that of an entry, or of a file without its suffix.

    Unless `is_partial`, entries that hold only a message, and get none here, are removed. A `verdict` key that repeats
    the message's is removed too.
    """
    entries = read_entries(hidden, "wrong")
    start, bodies = _read(hidden / "wrong.toml")
    for name in sorted(messages.keys() | entries.keys()):
        if name not in messages:
            if not is_partial and entries[name].keys() <= {"message"}:
                del entries[name], bodies[name]
        elif entries.get(name, {}).get("message", "").strip() != messages[name] or name not in entries:
            entry = entries.setdefault(name, {})
            entry["message"] = messages[name]
            body = _MESSAGE.sub("", bodies.get(name, ""))
            if entry.get("verdict") == verdict_of(messages[name]):
                del entry["verdict"]
                body = _VERDICT.sub("", body)
            end = _END.search(body)
            at = end.start() if end else len(body)
            bodies[name] = f"{body[:at]}{_row('message', messages[name])}{body[at:]}"
    _write(hidden / "wrong.toml", start, bodies, entries)


def adopt(hidden: Path, submission: str, file: Path) -> str:
    """Turns a file into an entry, based on the source that needs the fewest changed lines, and removes the file.

    Returns what was done. Raises GraderError if the file declares nothing, or differs too much from every base.
    """
    name, suffix = file.stem, Path(submission).suffix
    text = file.read_bytes().decode()
    head, code = split_head(text, suffix)
    first, _, rest = head.partition("\n")
    key, _, declared = first.lstrip("/# ").partition(": ")
    kind = next((kind for kind, keys in DECLARED.items() if key in keys), "")
    says = rest.strip('"\n') if suffix == ".py" else re.sub(r"^// ?", "", rest, flags=re.MULTILINE).rstrip("\n")
    if not kind or not _BARE.fullmatch(name) or make_head(f"{key}: {declared}", says, suffix) + code != text:
        raise GraderError(
            f"{file} can't be an entry: its first line must declare a verdict or points, the next ones describe it."
        )
    own, entries = hidden / kind / file.name, read_entries(hidden, kind)
    bases = [
        hidden / submission,
        *(path for kind in ("bases", *DECLARED) for path in (hidden / kind).glob(f"*{suffix}")),
    ]
    edits = {
        str(path.relative_to(hidden)): find_edits(split_head(path.read_bytes().decode(), suffix)[1], code)
        for path in sorted(bases)
        if path not in (own, file)
    }
    base, change = min(edits.items(), key=lambda one: one[1].count("\n"), default=("", code))
    if 2 * change.count("\n") > code.count("\n"):
        raise GraderError(f"{file} differs too much from every other solution to be an entry. Keep it as a file: {own}")
    entry = {
        **({"base": base} if base != submission else {}), key: declared, **({"says": says} if says else {}),
        "change": change, **{key: text for key, text in entries.get(name, {}).items() if key == "message"},
    }  # fmt: skip
    alike = [
        f"; {same.name} makes the same mistake"
        for same in solutions_in(hidden, kind, submission)[0]
        if Path(same.name).stem != name and split_head(same.source.decode(), suffix)[1] == code
    ]
    start, bodies = _read(hidden / f"{kind}.toml")
    is_sorted = list(bodies) == sorted(bodies)
    bodies[name] = "".join(_row(key, text) for key, text in entry.items())
    if is_sorted:
        bodies = dict(sorted(bodies.items()))
    _write(hidden / f"{kind}.toml", start, bodies, entries | {name: entry})
    file.unlink()
    lines = change.count("\n")
    return f"{kind}.toml has [{name}], {base} with {lines} lines of edits; {file} is removed{''.join(alike)}"


def _row(key: str, text: str) -> str:
    """A key with its text; a message begins on the key's line."""
    quoted = toml_text(text)
    if key == "message":
        quoted = _OPENED.sub(r"\1", quoted)
    return f"{key} = {quoted}\n"


def _read(path: Path) -> tuple[str, dict[str, str]]:
    """The text before the first table, and the text of each table."""
    text = path.read_text(encoding="utf-8") if path.is_file() else _START
    start, *parts = _TABLE.split(text)
    return start, dict(zip(parts[::2], parts[1::2], strict=True))


def _write(path: Path, start: str, bodies: dict[str, str], wanted: dict[str, dict[str, str]]) -> None:
    known, text = _read(path)[1], start
    for name, body in bodies.items():
        blank = "" if name in known or text.endswith("\n\n") else "\n"
        text += f"{blank}[{name if _BARE.fullmatch(name) else toml_text(name)}]\n{body}"
    text = text.rstrip("\n") + "\n"
    if tomllib.loads(text) != wanted:
        raise GraderError(f"{path} is written in a way that can't be kept. Change it by hand.")
    write_atomic(path, text)
