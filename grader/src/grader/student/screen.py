"""A screen of text in a terminal's size: what `watch` shows. Pure functions; only the standard library is used here."""

import re
from collections.abc import Sequence

_STYLE = re.compile(r"\033\[[\d;]*m")
_ERASE = "\r\033[K"  # the start of a progress line
_TAB = 8
_OFF = "\033[0m"


def lines_of(output: str) -> list[str]:
    """A program's output as a terminal would show it: the last state of progress lines, and only style escapes."""
    lines = [line.rpartition(_ERASE)[2].rstrip("\r") for line in output.split("\n")]
    return [_plain(line).expandtabs(_TAB) for line in lines]


def screen(rows: int, columns: int, head: Sequence[str], body: Sequence[str], foot: str) -> list[str]:
    """Exactly `rows` lines of at most `columns`: the head, as much of the body as fits, and the foot at the bottom."""
    head = [_cut(line, columns) for line in head][: max(rows - 2, 0)]
    wrapped = [part for line in body for part in _wrapped(line, columns)]
    while wrapped and not wrapped[-1].strip():
        wrapped.pop()
    room = max(rows - len(head) - 1, 0)
    if len(wrapped) > room:
        hidden = len(wrapped) - max(room - 1, 0)
        wrapped = [*wrapped[: max(room - 1, 0)], f"… {hidden} more lines: a taller window shows them"][:room]
        wrapped = [_cut(line, columns) for line in wrapped]
    blank = [""] * (room - len(wrapped))
    return [*head, *wrapped, *blank, _cut(foot, columns)][:rows]


def frame(lines: Sequence[str]) -> str:
    """The control sequences that redraw the whole screen without flicker."""
    return "\033[H" + "\r\n".join(f"{line}{_OFF}\033[K" for line in lines) + "\033[J"


def _plain(line: str) -> str:
    return "".join(part if _STYLE.fullmatch(part) else _printable(part) for part in _parts(line))


def _parts(line: str) -> list[str]:
    return re.split(r"(\033\[[\d;]*m)", line)


def _printable(text: str) -> str:
    text = re.sub(r"\033\[[\d;?]*[A-Za-z]", "", text)
    return "".join(one for one in text if one.isprintable() or one == "\t")


def _wrapped(line: str, columns: int) -> list[str]:
    """The line split at spaces into pieces of at most `columns`, with styles kept."""
    if len(_STYLE.sub("", line)) <= columns:
        return [line]
    pieces, style, piece, width = [], "", "", 0
    for part in re.split(r"(\033\[[\d;]*m| +)", line):
        if _STYLE.fullmatch(part):
            style = "" if part == _OFF else style + part
            piece += part
            continue
        rest = part
        while rest:
            if width + len(rest) <= columns:
                piece, width, rest = piece + rest, width + len(rest), ""
            elif width and (rest.isspace() or len(rest) <= columns):
                pieces.append(piece)
                piece, width, rest = style, 0, rest.lstrip()
            else:
                pieces.append(piece + rest[: columns - width])
                piece, width, rest = style, 0, rest[columns - width :]
    return [*pieces, piece] if width or not pieces else pieces


def _cut(line: str, columns: int) -> str:
    """At most `columns` of the line."""
    kept, width = "", 0
    for part in _parts(line):
        if _STYLE.fullmatch(part):
            kept += part
        else:
            kept += part[: columns - width]
            width += len(part[: columns - width])
    return kept
