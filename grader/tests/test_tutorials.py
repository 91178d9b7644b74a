"""docs/tutorials/first-kernel.md, done as it says, in the folder that students get."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import BUILD, ROOT, needs_build
from grader.authoring.handout import make_handout
from grader.base.layout import find_layout

PAGE = "docs/tutorials/first-kernel.md"
_BLOCK = re.compile(r"^```(?P<head>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def _edit(path: Path, body: str) -> None:
    """Lines with - become those with +; a single line may be a part of one."""
    old, new = ("\n".join(line[1:] for line in body.splitlines() if line[0] == sign) for sign in "-+")
    text = path.read_text()
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new))


@pytest.mark.daily
@needs_build
def test_the_first_kernel(tmp_path: Path) -> None:
    layout = find_layout(BUILD, ROOT)
    given = tmp_path / "given"
    make_handout(layout, layout.assignments()[:1], given)
    text = (given / PAGE).read_text()
    assert f"({PAGE})" in (given / "README.md").read_text()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    output, runs, shown = "", 0, 0
    for block in _BLOCK.finditer(text):
        kind, _, name = block["head"].partition(" ")[2].partition("=")
        if kind == "file":
            (given / name).write_text(block["body"])
        elif kind == "edit":
            _edit(given / name, block["body"])
        elif kind == "run":
            words = [*block["body"].split(), f"BUILD={layout.build}"]
            ended = subprocess.run(words, cwd=given, env=environment, capture_output=True, text=True, check=False)
            output, runs = ended.stdout + ended.stderr, runs + 1
        elif not block["head"]:
            assert block["body"] in output, output
            shown += 1
    assert (runs, shown) == (4, 3)
    assert "sectors/req" in output
