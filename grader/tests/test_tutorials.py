"""Tutorials about one's own program, followed in the folder that students get."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import race

from conftest import BUILD, ROOT, needs_build
from grader.authoring.handout import make_handout
from grader.base.layout import find_layout

_BLOCK = re.compile(r"^```(?P<head>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def _edit(path: Path, body: str) -> None:
    """Lines with - become those with +; a single line may be part of a line."""
    old, new = ("\n".join(line[1:] for line in body.splitlines() if line[0] == sign) for sign in "-+")
    text = path.read_text()
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new))


@pytest.mark.daily
@needs_build
@pytest.mark.parametrize(("name", "blocks"), [("first-kernel", (4, 3)), ("find-a-race", (3, 2))])
def test_a_tutorial(tmp_path: Path, name: str, blocks: tuple[int, int]) -> None:
    layout = find_layout(BUILD, ROOT)
    given = tmp_path / "given"
    make_handout(layout, layout.assignments()[:1], given)
    text = (given / f"docs/tutorials/{name}.md").read_text()
    assert f"(docs/tutorials/{name}.md)" in (given / "README.md").read_text()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    output, runs, shown = "", 0, 0
    for block in _BLOCK.finditer(text):
        kind, _, file = block["head"].partition(" ")[2].partition("=")
        if kind == "file":
            (given / file).write_text(block["body"])
        elif kind == "edit":
            _edit(given / file, block["body"])
        elif kind == "run":
            words = [*block["body"].split(), f"BUILD={layout.build}"]
            ended = subprocess.run(words, cwd=given, env=environment, capture_output=True, text=True, check=False)
            output, runs = ended.stdout + ended.stderr, runs + 1
            if "RACE  sum" in output:
                page = (layout.build / "pages/sum.html").read_text()
                assert race.drawn(page) == race.FIGURE.read_text(), "type: make pictures"
        elif not block["head"]:
            assert block["body"] in output, output
            shown += 1
    assert (runs, shown) == blocks
    assert ("sectors/req" in output) == (name == "first-kernel")
