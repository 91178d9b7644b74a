"""docs/tutorials/first-coalescing.md, done as it says in a terminal of 80 × 24: the page has the screens that come up.

The seed is fixed here, so that screens can be compared as they are. LOCKSTEP_UPDATE_GOLDEN=1 writes the page's anew.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import BUILD, ROOT, needs_build
from grader.base.layout import find_layout
from test_first_reduction import COLUMNS, ROWS, SEED, edit, in_a_checkout, in_terminal

PAGE = ROOT / "docs/tutorials/first-coalescing.md"
_BLOCK = re.compile(r"^```(?P<head>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
SCREENS = 6


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return in_a_checkout(tmp_path, "08_coalescing")


def screens(page: str, folder: Path) -> Iterator[tuple[re.Match[str], list[str]]]:
    """Each block of the page that is a screen, with what is on it now."""
    build = find_layout(BUILD, ROOT).build
    shown: list[str] = []
    for block in _BLOCK.finditer(page):
        kind, _, name = block["head"].partition(" ")[2].partition("=")
        if kind == "edit":
            path = folder / name
            path.write_text(edit(path.read_text(), block["body"]))
        elif kind == "run":
            shown = in_terminal([*block["body"].split(), f"BUILD={build}", f"SEED={SEED}"], folder)
        elif kind == "screen":
            yield block, shown
        elif kind == "part":  # of an output that is wider than a screen
            # What ptxas makes of a line is shown where the toolkit has nvdisasm.
            everywhere = "\n".join(line for line in shown if not re.search(r"│ +· ", line)) + "\n"
            assert block["body"] in everywhere, everywhere


@needs_build
@pytest.mark.daily
def test_every_screen_of_the_page_is_what_is_shown(folder: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    build = ["../../lockstep", "build", "--build", str(find_layout(BUILD, ROOT).build)]
    subprocess.run(build, cwd=folder, check=True)  # a build says so, at the top of the first screen
    found = list(screens(page, folder))
    assert len(found) == SCREENS
    for _, shown in found:
        assert len(shown) <= ROWS
        assert max(map(len, shown)) <= COLUMNS
    if os.environ.get("LOCKSTEP_UPDATE_GOLDEN") == "1":
        for block, shown in reversed(found):
            page = page[: block.start("body")] + "\n".join(shown) + "\n" + page[block.end("body") :]
        PAGE.write_text(page, encoding="utf-8")
    else:
        for block, shown in found:
            assert block["body"].rstrip("\n").split("\n") == shown, "LOCKSTEP_UPDATE_GOLDEN=1 writes the page's anew"
