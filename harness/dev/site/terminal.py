"""What a student sees in a terminal, as a picture: the output of a real run, character by character.

The run is `lockstep test 5` on a submission of the sample class: a reduction whose last warp relies on `volatile`. It
runs in a pseudo-terminal, so lines and colours are those of a terminal of that width. The seed is given, and nothing
in the output is a time, so every run gives the same text.
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
from html import escape
from pathlib import Path

from grader.authoring.sample_class import SAMPLE_CLASS, laid_out
from svg import in_rows, number

ROOT = Path(__file__).resolve().parents[3]
FIGURES = ROOT / "docs" / "figures"
ASSIGNMENT = "04_reduction"
STUDENT = "dijkstra_edsger"
SHOWN = "../../lockstep test 5 --seed 7"
_COLUMNS, _ROWS = 86, 40
_ADVANCE, _LEADING, _MARGIN, _BAR = 7.8, 19.0, 18.0, 34.0
_CODE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")
# Ground, bar, text and the colours of SGR 31 to 36, in light and dark.
_MODES = {
    "light": ("#f6f8fa", "#d0d7de", "#24292f", ("#cf222e", "#1a7f37", "#9a6700", "#0969da", "#8250df", "#1b7c83")),
    "dark": ("#0d1117", "#30363d", "#e6edf3", ("#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf")),
}
_NAMES = ("red", "green", "yellow", "blue", "magenta", "cyan")

Span = tuple[int, str, frozenset[str]]  # column, text, classes


class RunError(Exception):
    """The run gave no output to draw."""


def submission() -> bytes:
    """What the student handed in."""
    with laid_out(ROOT / SAMPLE_CLASS) as folder:
        return (folder / STUDENT / "reduction.cu").read_bytes()


def output(build: Path) -> str:
    """What the run prints on a terminal."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "reduction.cu"
        source.write_bytes(submission())
        command = [*SHOWN.split(), "--source", source, "--build", build]
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=ROOT / "assignments" / ASSIGNMENT,
            env={**kept, "TERM": "xterm-256color"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        data = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not piece:
                break
            data += piece
        os.close(master)
        status = process.wait()
    text = data.decode()
    if status != 1 or "RACE" not in text:
        raise RunError(f"'{SHOWN}' on {STUDENT}'s reduction ended with status {status}:\n{text}")
    return text


def spans(text: str) -> list[list[Span]]:
    """The lines on the screen at the end, as pieces of one style."""
    lines: list[list[Span]] = []
    styles: set[str] = set()
    for raw in text.replace("\r\n", "\n").removesuffix("\n").split("\n"):
        line: list[Span] = []
        column = place = 0
        while place < len(raw):
            code = _CODE.match(raw, place)
            if code:
                place = code.end()
                if code[2] == "K":
                    line, column = [], 0
                elif code[2] == "m":
                    _restyle(styles, code[1])
            elif raw[place] == "\r":
                column, place = 0, place + 1
            else:
                end = min((at for at in (raw.find("\x1b", place), raw.find("\r", place)) if at >= 0), default=len(raw))
                line.append((column, raw[place:end], frozenset(styles)))
                column, place = column + end - place, end
        lines.append(line)
    return lines


def _restyle(styles: set[str], codes: str) -> None:
    for code in codes.split(";"):
        value = int(code or 0)
        if value == 0:
            styles.clear()
        elif value == 1:
            styles.add("bold")
        elif value == 2:  # noqa: PLR2004 - SGR's numbers
            styles.add("dim")
        elif 31 <= value <= 36:  # noqa: PLR2004
            styles.add(_NAMES[value - 31])
        else:
            raise RunError(f"the output has the style {value}, which the picture can't show")


def drawn(
    text: str,
    mode: str,
    typed: tuple[str, str] = ("04_reduction$ ", SHOWN),
    title: str = "A terminal: lockstep test finds a race",
    columns: int = _COLUMNS,
) -> str:
    """The picture of a terminal of `columns` columns, in which `typed`, a prompt and a command, comes first."""
    ground, bar, ink, colours = _MODES[mode]
    prompt, command = typed
    first: list[Span] = [(0, prompt, frozenset({"dim"})), (len(prompt), command, frozenset({"bold"}))]
    lines = [first, *spans(text)]
    width = columns * _ADVANCE + 2 * _MARGIN
    height = _BAR + len(lines) * _LEADING + _MARGIN
    rules = [f".{name} {{ fill: {colour}; }}" for name, colour in zip(_NAMES, colours, strict=True)]
    said = " ".join("".join(piece for _, piece, _ in line).strip() for line in lines if line)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}" '
        f'viewBox="0 0 {number(width)} {number(height)}" role="img" aria-labelledby="t d">',
        f'<title id="t">{escape(title, quote=False)}</title>',
        f'<desc id="d">{escape(said, quote=False)}</desc>',
        "<style>",
        "text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; "
        f"fill: {ink}; white-space: pre; }}",
        ".bold { font-weight: 700; } .dim { opacity: 0.65; }",
        " ".join(rules),
        "</style>",
    ]
    shapes = [
        f'<rect x="0.5" y="0.5" width="{number(width - 1)}" height="{number(height - 1)}" rx="8" fill="{ground}" '
        f'stroke="{bar}"/>',
        *(f'<circle cx="{22 + 18 * index}" cy="18" r="5" fill="{bar}"/>' for index in range(3)),
    ]
    for index, line in enumerate(lines):
        y = _BAR + (index + 1) * _LEADING - 5
        for column, piece, styles in line:
            words = piece.rstrip(" ")
            lead = len(words) - len(words.lstrip(" "))
            if not words.strip():
                continue
            # Each piece is given its width in columns, so that it fits in any font.
            x = _MARGIN + (column + lead) * _ADVANCE
            length = number((len(words) - lead) * _ADVANCE)
            kind = f' class="{" ".join(sorted(styles))}"' if styles else ""
            shapes.append(
                f'<text x="{number(x)}" y="{number(y)}" textLength="{length}"{kind}>'
                f"{escape(words[lead:], quote=False)}</text>"
            )
    return "\n".join([*parts, *in_rows("".join(shapes)), "</svg>"]) + "\n"


def _pictures(build: Path) -> dict[str, str]:
    text = output(build)
    return {f"terminal-{mode}.svg": drawn(text, mode) for mode in _MODES}


def outdated(build: Path) -> list[str]:
    """The pictures that are missing or differ from what a run would make."""
    made = _pictures(build)
    return [
        name
        for name, picture in made.items()
        if not (FIGURES / name).is_file() or (FIGURES / name).read_text(encoding="utf-8") != picture
    ]


def write(build: Path) -> None:
    """Runs, and draws."""
    FIGURES.mkdir(exist_ok=True)
    for name, picture in _pictures(build).items():
        (FIGURES / name).write_text(picture, encoding="utf-8")
