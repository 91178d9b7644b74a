"""Tutorials about one's own program, followed in the folder that students get, and the page on debugging."""

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


def _like(line: str) -> str:
    """A line without the compiler's choices: numbers of registers, rows and instructions."""
    for pattern, instead in (
        (r"^ *\d+  ", "N "), (r"%([a-z]+)\d+", r"%\1"), (r"\[[rc][0-9a-f]+(?: [rc][0-9a-f]+)*\]", "[rows]"),
        (r"(to|at) \d+", r"\1 N"), (r" +", " "),
    ):  # fmt: skip
        line = re.sub(pattern, instead, line)
    return line


def _pattern(quoted: str) -> str:
    """A line "..." matches any lines; "..." at the beginning of a line matches any beginning."""
    lines = quoted.splitlines()
    parts = (re.sub(r"^\\\.\\\.\\\.", ".*", re.escape(_like(line))) for line in lines)
    return "".join("(?:.*\n)*?" if line == "..." else f"{part}\n" for line, part in zip(lines, parts, strict=True))


@needs_build
@pytest.mark.in_turn
def test_debug_a_kernel_quotes_what_is_printed(tmp_path: Path) -> None:
    source, commands = tmp_path / "sum.cu", 0
    tools = f"{BUILD}/bin:{Path((BUILD / 'nvcc.txt').read_text().strip()).parent}:{os.environ['PATH']}"
    for block in _BLOCK.finditer((ROOT / "docs/how-to/debug-a-kernel.md").read_text()):
        if block["head"] == "cuda":
            source.write_text(block["body"])
        elif block["head"] == "diff":
            _edit(source, block["body"])
        for command, quoted in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block["body"], re.MULTILINE):
            typed = "\n".join(re.findall(r"^\(vgpu\) (.*)", quoted, re.MULTILINE))
            ended = subprocess.run(
                ["/bin/bash", "-c", f"exec 2>&1; {command}"], cwd=tmp_path, input=typed, capture_output=True, text=True,
                check=False, env={**os.environ, "PATH": tools, "LOCKSTEP_COLOR": "never"},
            )  # fmt: skip
            printed = "".join(f"{_like(line)}\n" for line in ended.stdout.splitlines())
            assert re.fullmatch(_pattern(quoted), printed), f"{command}\n{ended.stdout}"
            commands += 1
    assert commands >= 7


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
