"""docs/tutorials/grade-a-class.md, followed step by step: every command, with the status that the page names.

Output goes to a temporary folder instead of out/spring; everything else is as on the page. LOCKSTEP_UPDATE_GOLDEN=1
draws the page's terminal pictures again, and takes the one of the class index, which is not compared: it depends on the
machine's fonts.
"""

import csv
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import card
import chromium
import pytest
import terminal

from conftest import BUILD, ROOT, needs, needs_build, needs_sandbox
from grader.base.layout import find_layout
from grader.commands.cli import cli
from test_gradescope import read_results

PAGE = ROOT / "docs/tutorials/grade-a-class.md"
HERE = "out/spring"
_BLOCK = re.compile(
    r"^```(?P<head>[^\n]*)\n(?P<body>.*?)^```$|!\[[^\]]*\]\((?P<picture>[^)]*\.svg)\)", re.MULTILINE | re.DOTALL
)
COLUMNS = 100


class Page:
    """The results of following the page: each command's output, and the data for the pictures."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.text = PAGE.read_text(encoding="utf-8")
        self.output = ""
        self.runs = 0
        self.pictures: dict[str, str] = {}
        self.shown: list[tuple[str, str]] = []

    def follow(self) -> None:
        for block in _BLOCK.finditer(self.text):
            if block["picture"]:
                self.pictures[Path(block["picture"]).name] = self.drawn()
                continue
            kind, _, rest = block["head"].partition(" ")
            if rest.startswith("file="):
                (self.folder / Path(rest[5:]).name).write_text(block["body"])
            elif rest.startswith("run"):
                self.run(block["body"], int(rest.partition("status=")[2] or 0))
            elif kind == "text":
                self.shown.append((block["body"], self.output))

    def run(self, body: str, status: int) -> None:
        self.command = body.strip().split("\n")[-1]
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(self.folder), "NO_COLOR": "1",
            "COLUMNS": str(COLUMNS), "LANG": "C.UTF-8",
        }  # fmt: skip
        script = "set -e\n" + body.replace(HERE, str(self.folder))
        if ROOT / "build" != BUILD:
            script = re.sub(r"(grader (?:grade|report|export \w+|leaderboard)\b.*)", rf"\1 --build {BUILD}", script)
        ended = subprocess.run(
            ["/bin/bash", "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        self.output = (ended.stdout + ended.stderr).replace(str(self.folder), HERE)
        assert ended.returncode == status, f"{body}\n{self.output}"
        self.runs += 1

    def drawn(self) -> str:
        # If one command follows another, the first lines are the builder's.
        kept = [
            piece
            for line in self.output.rstrip("\n").split("\n")
            if not line.startswith(HERE)
            for piece in textwrap.wrap(line, COLUMNS, subsequent_indent="    ") or [""]
        ]
        title = f"A terminal: {' '.join(self.command.split()[:2])}"
        return terminal.drawn("\n".join(kept) + "\n", "light", ("$ ", self.command), title, COLUMNS)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    assert find_layout(BUILD, ROOT)
    followed = Page(tmp_path_factory.mktemp("spring"))
    followed.follow()
    return followed


pytestmark = [
    pytest.mark.daily,
    needs_build,
    needs_sandbox,
    needs("export" in cli.commands, "grader export is missing"),
]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_every_command_runs_and_says_what_the_page_says(page: Page) -> None:
    assert page.runs == page.text.count("sh run") >= 16
    assert len(page.shown) >= 4
    for expected, output in page.shown:
        for line in expected.splitlines():
            assert line in output, output


def test_the_same_points_from_every_platform(page: Page) -> None:
    """From each gradebook; Grace Hopper's lateness depends on the platform's data."""
    points: dict[str, dict[str, float]] = {}
    for platform in ("canvas", "moodle", "gradescope", "blackboard", "github"):
        grades = rows(page.folder / platform / "gradebook.csv")
        assert len(grades) == 17
        points[platform] = {row["sid"]: float(row["03_circular_shift"] or 0) for row in grades}
    hopper, turing, lovelace = "1906", "1912", "1815"
    assert points["canvas"][lovelace] == 110
    assert points["canvas"][hopper] == 90  # by adjustments.csv, as changed
    for platform in ("gradescope", "blackboard", "github"):
        assert points[platform][hopper] == 80, platform  # 30 hours late: two days have begun
    for platform in ("moodle", "gradescope", "blackboard", "github"):
        assert points[platform][turing] == points["canvas"][turing] > 5
    assert "1912" in {
        row["sid"] for row in rows(page.folder / "github/gradebook.csv") if "unmatched" not in row["status"]
    }


def test_what_goes_back(page: Page) -> None:
    canvas = rows(page.folder / "canvas/exports/canvas.csv")
    column = "The circular shift (2231)"
    assert {row["SIS User ID"]: row[column] for row in canvas}["1815"] == "110"
    moodle = rows(page.folder / "moodle/exports/moodle-03_circular_shift.csv")
    assert {row["ID number"]: row["Grade"] for row in moodle}["1815"] == "100"
    files = list((page.folder / "gradescope/exports/gradescope/03_circular_shift").glob("*/results.json"))
    scores: dict[str, Any] = {path.parent.name: read_results(path.read_text())["score"] for path in files}
    assert len(scores) == 6
    assert max(scores.values()) == 110
    assert next(score for name, score in scores.items() if "hopper" in name) == 80
    json.loads((page.folder / "github/exports/grades.json").read_text())


def test_the_pictures_are_what_the_commands_print(page: Page) -> None:
    assert len(page.pictures) == 4
    for name, picture in page.pictures.items():
        path = terminal.FIGURES / name
        if os.environ.get("LOCKSTEP_UPDATE_GOLDEN") == "1":
            path.write_text(picture, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == picture, "LOCKSTEP_UPDATE_GOLDEN=1 draws it again"
    if os.environ.get("LOCKSTEP_UPDATE_GOLDEN") == "1":
        shot = terminal.FIGURES / "class-index.png"
        words = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1100,720",
                 f"--user-data-dir={page.folder}/profile", f"--screenshot={shot}",
                 (page.folder / "canvas/index.html").as_uri()]  # fmt: skip
        subprocess.run([chromium.find_chromium(), *words], capture_output=True, check=True)
        card.make_small(shot)
