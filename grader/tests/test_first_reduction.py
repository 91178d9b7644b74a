"""Tutorials of assignments, followed in a terminal of 80 × 24: the page's screens match the real ones.

The seed is fixed here, so that screens can be compared exactly. LOCKSTEP_UPDATE_GOLDEN=1 rewrites the page's.
"""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import BUILD, ROOT, needs_build
from grader.base.layout import find_layout
from grader.student.screen import lines_of
from test_watch import Session

ROWS, COLUMNS, SEED = 24, 80, 7
_BLOCK = re.compile(r"^```(?P<head>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_STYLE = re.compile(r"\033\[[\d;]*m")


def in_a_checkout(tmp_path: Path, name: str) -> Path:
    """The assignment, in a checkout that has nothing else of its own."""
    for part in ("lockstep", "harness", "grader"):
        (tmp_path / part).symlink_to(ROOT / part)
    folder = tmp_path / "assignments" / name
    folder.parent.mkdir()
    shutil.copytree(ROOT / "assignments" / name, folder)
    shutil.copy(ROOT / "assignments" / "assignment.mk", folder.parent)
    return folder


def in_terminal(words: list[str], folder: Path) -> list[str]:
    """What a command leaves on the screen."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm", "LANG": "C.UTF-8"}
    process = subprocess.Popen(words, cwd=folder, env=environment, stdin=inner, stdout=inner, stderr=inner)
    output = b""
    while process.poll() is None or select.select([outer], [], [], 0)[0]:
        if select.select([outer], [], [], 0.1)[0]:
            output += os.read(outer, 1 << 16)
    os.close(inner)
    os.close(outer)
    text = re.sub(r"assignment\.mk:\d+: ", "assignment.mk:7: ", output.decode())
    return [_STYLE.sub("", line).rstrip() for line in lines_of(text.rstrip())]


def watched(folder: Path, right: str, *words: str) -> list[str]:
    """The screen of `make watch` once the file is right."""
    session = Session(folder, *words)
    session.source = folder / "reduction.cu"
    try:
        session.wait_for("SumsAnyLength", "waits for your next save")
        session.save(right)
        session.wait_for("On to reduce2_strided", "is not right yet")
        session.type(b"q")
        shown = session.screens()[-1]
        assert session.end() == 0
    finally:
        session.process.kill()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in shown)).split("\n")


def with_passes(text: str) -> str:
    """The student's file with run_passes and its call completed, which the page leaves to the reader."""
    reference = (ROOT / "reference/04_reduction/reduction.cu").read_text()
    passes = reference[reference.index("void run_passes(") : reference.index("// Rung 1.")]
    text = text[: text.index("void run_passes(")] + passes + text[text.index("// Rung 1:") :]
    text = text.replace("#include <climits>", "#include <algorithm>\n#include <climits>\n#include <utility>")
    old = "reduce1_interleaved_kernel<<<1, kBlock>>>(d_in, d_sum, n);"
    assert old in text
    return text.replace(old, "run_passes(reduce1_interleaved_kernel, kBlock, d_in, d_sum, n, d_work);")


def edit(text: str, body: str) -> str:
    """Lines with - become those with +."""
    old, new = ("\n".join(line[1:] for line in body.splitlines() if line[0] == sign) for sign in "-+")
    assert text.count(old) >= 1, old
    return text.replace(old, new, 1)


def screens(page: str, folder: Path) -> Iterator[tuple[re.Match[str], list[str]]]:
    """Each screen block of the page, with the actual screen."""
    build = find_layout(BUILD, ROOT).build
    shown: list[str] = []
    for block in _BLOCK.finditer(page):
        kind, _, name = block["head"].partition(" ")[2].partition("=")
        if kind in ("rung", "edit", "watch"):
            text = (folder / (name or "reduction.cu")).read_text()
        if kind == "rung":
            start, end = text.index("__global__ void reduce1_interleaved_kernel"), text.index("\n// Rung 2:")
            (folder / name).write_text(text[:start] + block["body"] + text[end:])
        elif kind == "edit":
            (folder / name).write_text(edit(text, block["body"]))
        elif kind == "run":
            shown = in_terminal([*block["body"].split(), f"BUILD={build}", f"SEED={SEED}"], folder)
        elif kind == "watch":
            words = ("--by-make", "--build", str(build), "--seed", str(SEED))
            shown = watched(folder, with_passes(text), *words)
        elif kind == "screen":
            yield block, shown
        elif kind == "part":  # of an output that is wider than a screen
            # ptxas's changes to a line are shown only if the toolkit has nvdisasm.
            everywhere = "\n".join(line for line in shown if not re.search(r"│ +· ", line)) + "\n"
            assert block["body"] in everywhere, everywhere


@needs_build
@pytest.mark.daily
@pytest.mark.parametrize(
    ("name", "assignment", "count"), [("first-reduction", "04_reduction", 5), ("first-coalescing", "08_coalescing", 6)]
)
def test_every_screen_of_the_page_is_what_is_shown(tmp_path: Path, name: str, assignment: str, count: int) -> None:
    path, folder = ROOT / f"docs/tutorials/{name}.md", in_a_checkout(tmp_path, assignment)
    page = path.read_text(encoding="utf-8")
    build = ["../../lockstep", "build", "--build", str(find_layout(BUILD, ROOT).build)]
    subprocess.run(build, cwd=folder, check=True)  # a build says so, at the top of the first screen
    found = list(screens(page, folder))
    assert len(found) == count
    for _, shown in found:
        assert len(shown) <= ROWS
        assert max(map(len, shown)) <= COLUMNS
    if os.environ.get("LOCKSTEP_UPDATE_GOLDEN") == "1":
        for block, shown in reversed(found):
            page = page[: block.start("body")] + "\n".join(shown) + "\n" + page[block.end("body") :]
        path.write_text(page, encoding="utf-8")
    else:
        for block, shown in found:
            assert block["body"].rstrip("\n").split("\n") == shown, "LOCKSTEP_UPDATE_GOLDEN=1 writes the page's anew"
