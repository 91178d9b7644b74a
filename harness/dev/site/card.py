"""The top of a report card, as Chromium shows it, in light and dark.

Pixels depend on the machine's fonts, so the tests don't compare them. Each picture carries the digest of the HTML that
it was taken from, up to where the picture ends, as text in the PNG; the tests grade the same submission again and
compare that.
"""

import hashlib
import importlib
import re
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

import chromium
import terminal

ROOT = terminal.ROOT
FIGURES = terminal.FIGURES
_WIDTH, _HEIGHT = 1000, 812
_END = '<h2 id="ladder">'  # the first heading below the picture
_KEY = b"Lockstep-HTML"
_MODES = {"light": "1", "dark": "0"}
_LARGEST = 60_000


def make_small(shot: Path) -> None:
    """Writes a screenshot again with 256 colours: a third of the bytes that Chromium writes."""
    pillow = importlib.import_module("PIL.Image")  # here, as only taking pictures needs it
    picture = pillow.open(shot).convert("RGB")
    picture.quantize(256, pillow.Quantize.MEDIANCUT, dither=pillow.Dither.NONE).save(shot, optimize=True)


class CardError(Exception):
    """The card can't be made or photographed."""


def _graded(build: Path, folder: Path) -> Path:
    """Grades the student of the terminal's picture; returns the report card."""
    student = folder / "class" / terminal.STUDENT
    student.mkdir(parents=True)
    (student / "reduction.cu").write_bytes(terminal.submission())
    grader = ROOT / ".venv" / "bin" / "grader"
    words = [grader, "grade", student.parent, "--seed", "7", "--build", build, "--out", folder / "out"]
    run = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, cwd=ROOT)
    cards = list((folder / "out" / "cards" / terminal.ASSIGNMENT).glob("*.html"))
    if run.returncode != 0 or len(cards) != 1:
        raise CardError(f"grading {terminal.STUDENT} gives no report card:\n{run.stdout}{run.stderr}")
    return cards[0]


def _digest(card: Path) -> str:
    shown, end, _ = card.read_text(encoding="utf-8").partition(_END)
    if not end:
        raise CardError(f"the report card has no {_END}, where its picture ends; see harness/dev/site/card.py")
    return hashlib.sha256(re.sub(r"\s+", " ", shown).encode()).hexdigest()


def _recorded(picture: Path) -> str:
    """The digest in a PNG; empty where there is none."""
    data = picture.read_bytes() if picture.is_file() else b""
    place = 8
    while place + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[place : place + 8])
        content = data[place + 8 : place + 8 + length]
        if kind == b"tEXt" and content.startswith(_KEY + b"\0"):
            return content[len(_KEY) + 1 :].decode()
        place += 12 + length
    return ""


def _marked(data: bytes, digest: str) -> bytes:
    """The PNG with the digest before its last chunk."""
    content = b"tEXt" + _KEY + b"\0" + digest.encode()
    chunk = struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))
    return data[:-12] + chunk + data[-12:]


def _browser() -> str:
    found = chromium.find_chromium()
    if not found:
        raise CardError(f"the report card's picture has to be taken again, and {chromium.HOW}")
    return found


def outdated(build: Path) -> list[str]:
    """The pictures of a card whose HTML has changed since."""
    with tempfile.TemporaryDirectory() as folder:
        digest = _digest(_graded(build, Path(folder)))
    return [name for mode in _MODES if _recorded(FIGURES / (name := f"card-{mode}.png")) != digest]


def write(build: Path) -> None:
    """Grades, and takes the pictures that are out of date: others would only change with the machine's fonts."""
    with tempfile.TemporaryDirectory() as folder:
        card = _graded(build, Path(folder))
        digest = _digest(card)
        for mode, preferred in _MODES.items():
            target = FIGURES / f"card-{mode}.png"
            if _recorded(target) == digest:
                continue
            shot = Path(folder) / target.name
            words = [
                _browser(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                f"--user-data-dir={folder}/profile",
                f"--blink-settings=preferredColorScheme={preferred}",
                f"--window-size={_WIDTH},{_HEIGHT}",
                f"--screenshot={shot}",
                card.as_uri(),
            ]
            run = subprocess.run(words, capture_output=True, text=True, check=False)
            if not shot.is_file():
                raise CardError(f"Chromium took no picture:\n{run.stderr[-1000:]}")
            make_small(shot)
            data = _marked(shot.read_bytes(), digest)
            if len(data) > _LARGEST:
                raise CardError(f"{target.name} would have {len(data)} bytes; at most {_LARGEST} are wanted")
            target.write_bytes(data)
