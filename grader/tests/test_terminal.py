"""What `grader grade` shows: progress and summary in a terminal of 80 × 24, lines in CI, JSON for programs."""

import contextlib
import fcntl
import io
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import click
import pyte
import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len
from rich.console import Console

from conftest import ROOT
from grader.base.layout import Layout
from grader.commands.cli import cli
from grader.commands.progress import Display, Work, duration
from grader.commands.summary import show_summary
from grader.course.grades import COUNTS, EXCUSED, NOT_DUE, OPEN, AssignmentGrade, StudentGrades
from grader.model import verdicts
from grader.model.discovery import Submission
from grader.model.handed import Handed
from grader.model.record import GRADED, MISSING, NOT_GRADED, Provenance, Record
from grader.model.roster import Student
from grader.model.score import Score
from grader.pages.look_first import look_first

pytestmark = pytest.mark.in_turn

Submissions = Callable[..., Path]
_GRADE = "import sys; from grader.commands.cli import main; sys.exit(main())"
_STUDENT = Student("Ada")
_MADE_WITH = Provenance("", "", "", "", "", "", "", "", "vgpu", 1, True, "grader grade x")


def record(verdict: str = "PASS", folder: str = "ada", name: str = "04_x", number: int = 1) -> Record:
    status = {"MISSING": MISSING, "HARNESS": NOT_GRADED}.get(verdict, GRADED)
    score = None if status == NOT_GRADED else Score(5.0, 0.0, 10.0, verdict, "", ())
    handed = Handed(number=number)
    return Record(name, folder, _STUDENT, "k", status, "", score, None, "", _MADE_WITH, "", handed)


def submission(folder: str, number: int = 1) -> Submission:
    return Submission(folder, _STUDENT, b"x", "", handed=Handed(number=number))


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def drawn(display: Display, width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=24, force_terminal=True, color_system=None)
    console.print(display.screen())
    return console.file.getvalue().split("\n")  # type: ignore[attr-defined]


def display_of(clock: Clock, *works: Work, terminal: bool = True) -> tuple[Display, io.StringIO]:
    file = io.StringIO()
    console = Console(file=file, width=80, height=24, force_terminal=terminal)
    return Display(console, works, clock), file


def run_one(display: Display, clock: Clock, folder: str, seconds: float, name: str = "04_x") -> None:
    display.on_stage(name, submission(folder), "running")
    clock.now += seconds
    display.on_record(name, record(folder=folder, name=name), cached=False)


def test_there_is_no_estimate_before_three_have_run() -> None:
    clock = Clock()
    display, _ = display_of(clock, Work("04_x", 100, 90))
    for index in range(10):  # results from the journal: no basis for an estimate
        display.on_record("04_x", record(folder=f"old{index}"), cached=True)
    for index in range(5):  # another's result, which took no time
        display.on_record("04_x", record(folder=f"copy{index}"), cached=False)
    run_one(display, clock, "a", 10)
    run_one(display, clock, "b", 10)
    assert display.seconds_left(clock.now) is None
    assert "left" not in "".join(drawn(display))
    run_one(display, clock, "c", 10)
    assert display.seconds_left(clock.now) == pytest.approx(87 * 10)
    assert "18 of 100  about 14 min left" in "".join(drawn(display))
    clock.now += 5
    assert display.seconds_left(clock.now) == pytest.approx(865)


def test_those_at_work_count_half() -> None:
    clock = Clock()
    display, _ = display_of(clock, Work("04_x", 8, 8))
    for name in "abcdef":
        display.on_stage("04_x", submission(name), "running")
    clock.now += 30
    for name in "abc":
        display.on_record("04_x", record(folder=name), cached=False)
    # Three ended in 30 s, and three more count as half done: 30 / 4.5 s each, with five to go.
    assert display.seconds_left(clock.now) == pytest.approx(5 * 30 / 4.5)


def test_assignments_to_come_go_at_the_pace_of_those_before() -> None:
    clock = Clock()
    display, _ = display_of(clock, Work("04_x", 3, 3), Work("05_y", 20, 10))
    for name in "abc":
        run_one(display, clock, name, 4)
    assert display.seconds_left(clock.now) == pytest.approx(40)
    assert "2 assignments" in drawn(display)[1]
    assert "about 40 s left at this pace" in drawn(display)[1]
    for name in "abc":
        run_one(display, clock, name, 1, "05_y")
    assert display.seconds_left(clock.now) == pytest.approx(7)
    assert "at this pace" not in drawn(display)[1]


def test_two_attempts_of_one_student_are_two_at_work() -> None:
    clock = Clock()
    display, _ = display_of(clock, Work("04_x", 2, 2))
    display.on_stage("04_x", submission("ada", 1), "running")
    display.on_stage("04_x", submission("ada", 2), "building")
    display.on_record("04_x", record(number=1), cached=False)
    assert [line.split() for line in drawn(display)[2:3]] == [["ada", "building"]]


@pytest.mark.parametrize(
    "name", ["洛夫莱斯" * 20, "👩🏽\u200d🚀" * 20, "a\x1b[31mb\rc", "e\u0301\u0302" * 40, "x" * 200]
)
@pytest.mark.parametrize("assignments", [1, 5])
def test_no_line_is_wider_than_the_terminal(name: str, assignments: int) -> None:
    clock = Clock()
    works = [Work(f"{place}_" + "long" * 20, 1000, 1000) for place in range(assignments)]
    display, _ = display_of(clock, *works)
    for index in range(64):
        watcher = display.of(works[index % assignments].name)
        watcher.on_stage(submission(f"{index}{name}"), "waiting for the GPU alone")
        watcher.on_tests(submission(f"{index}{name}"), 12, 34)
    for verdict in verdicts.JUDGED:
        display.of(works[0].name).on_record(record(verdict), cached=False)
    lines = drawn(display)
    assert max(map(cell_len, lines)) < 80
    assert len(lines) <= (12 if assignments == 1 else 15)
    assert "… and 56 more" in lines[-2]
    assert "\x1b[31m" not in "".join(lines)


def test_each_assignment_at_work_has_a_bar() -> None:
    clock = Clock()
    works = [Work(name, 4, 4) for name in ("04_x", "05_y", "06_z")]
    display, _ = display_of(clock, *works)
    assert [line.split()[0] for line in drawn(display)[:2]] == ["04_x", "3"]
    for name in ("a", "b", "c"):
        run_one(display, clock, name, 1)
    display.on_stage("04_x", submission("ada"), "running")
    display.on_stage("05_y", submission("ada"), "building")
    lines = drawn(display)
    assert [line.split()[0] for line in lines[:3]] == ["04_x", "05_y", "3"]
    assert [line.split() for line in lines[4:6]] == [
        ["ada", "04_x:", "running"], ["ada", "05_y:", "building"]
    ]  # fmt: skip
    display.on_record("04_x", record(), cached=False)
    assert [line.split()[0] for line in drawn(display)[:2]] == ["05_y", "3"]
    for name in ("05_y", "06_z"):
        for index in range(4):
            display.on_record(name, record(folder=f"{index}", name=name), cached=True)
    assert [line.split()[0] for line in drawn(display)[:2]] == ["06_z", "3"]


def test_elsewhere_a_line_now_and_then() -> None:
    clock = Clock()
    display, file = display_of(clock, Work("04_x", 100, 100), terminal=False)
    with display:
        for index in range(100):
            run_one(display, clock, str(index), 5)
    lines = file.getvalue().splitlines()
    assert len(lines) == 17  # 500 s, one in half a minute, and the last
    assert lines[0] == "  04_x: 6 of 100, about 8 min left for it"
    assert lines[-1] == "  04_x: 100 of 100"


def test_durations() -> None:
    assert [duration(one) for one in (0.4, 59, 61, 3599, 3600, 11100)] == [
        "0 s", "59 s", "1 min", "60 min", "1 h 0 min", "3 h 5 min"
    ]  # fmt: skip


def students(count: int, assignments: int) -> list[StudentGrades]:
    names = [f"{index:02}_assignment" for index in range(1, assignments + 1)]
    words = ("PASS", "PASS", "WRONG", "RACE", "MISSING", "REJECTED")
    return [
        StudentGrades(
            Student(f"Student {index} 洛夫莱斯 {'x' * (index % 60)}", str(index)),
            {name: graded(name, words[(index + place) % len(words)]) for place, name in enumerate(names)},
            537.25,
            700,
        )
        for index in range(count)
    ]


def graded(name: str, verdict: str) -> AssignmentGrade:
    made = record(verdict, name=name)
    return AssignmentGrade(name, made, (made,), COUNTS, 5, 100, 0 if verdict == "MISSING" else 102.5)


def summarised(grades: list[StudentGrades], assignments: int, width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    names = [f"{index:02}_assignment" for index in range(1, assignments + 1)]
    show_summary(console, grades, names, Path("out"))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(cell_len, lines)) <= width
    return lines[len(look_first(names, grades)) :]


@pytest.mark.parametrize("assignments", [1, 2, 4, 7, 12])
def test_a_small_class_has_a_row_a_student(assignments: int) -> None:
    lines = summarised(students(30, assignments), assignments)
    rows = [line for line in lines if line.startswith("Student ") and "Verdict" not in line]
    assert len([row for row in rows if "REJECTED: " not in row]) == 30  # no row is broken in two


def test_seven_assignments_have_their_columns_where_there_is_room() -> None:
    lines = summarised(students(6, 7), 7, 132)
    assert lines[0].split() == ["Student", "Verdict", "01", "02", "03", "04", "05", "06", "07", "Total"]
    assert lines[1].endswith("102.5  102.5    522.25 + 15 bonus of 700")
    assert "✗ WRONG 03, 1 missing" in lines[1]


def test_extra_credit_that_was_not_handed_in_is_not_missing() -> None:
    one = students(1, 11)[0]
    assert ", 2 missing" in summarised([one], 11)[1]
    extra = {name: replace(grade, is_extra=name.startswith(("05", "08"))) for name, grade in one.assignments.items()}
    assert ", 1 missing" in summarised([replace(one, assignments=extra)], 11)[1]


def test_seven_assignments_fit_into_80_columns() -> None:
    lines = summarised(students(6, 7), 7)
    assert lines[0].split() == ["Student", "Verdict", "01", "02", "03", "04", "05", "06", "07", "Total"]
    assert lines[1].split()[-10:] == ["WRONG", "03", *["102.5"] * 4, "–", "102.5", "102.5", "522.25+15"]


def test_a_long_class_has_a_digest() -> None:
    lines = summarised(students(200, 7), 7)
    assert len(lines) < 40
    assert lines[0].strip() == "200 students"
    assert lines[1].split() == (
        [
            "01_assignment",
            "✓",
            "PASS",
            "68",
            "✗",
            "WRONG",
            "33",
            "✗",
            "RACE",
            "33",
            "✗",
            "REJECTED",
            "33",
            "–",
            "MISSING",
            "33",
        ]
    )
    assert "To be looked at: 233" in lines
    assert lines[-1] == "  … and 218 more: column status of out/gradebook.csv"


@pytest.mark.parametrize(
    ("status", "verdict"), [(EXCUSED, "EXCUSED"), (NOT_DUE, "NOT DUE"), (OPEN, "HARNESS"), (COUNTS, "HARNESS")]
)
def test_a_grade_has_a_verdict_from_the_one_list(status: str, verdict: str) -> None:
    grade = replace(graded("04_x", "HARNESS"), status=status)
    assert grade.verdict == verdict
    assert grade.verdict in verdicts.WORDS
    assert replace(grade, record=None, status="missing").verdict == "MISSING"


def test_every_verdict_is_on_its_page_in_order() -> None:
    page = (ROOT / "docs/reference/verdicts.md").read_text()
    cells = [line.split("|")[1].strip(" `") for line in page.splitlines() if line.startswith("| `")]
    assert tuple(cells) == verdicts.WORDS
    signs = {word: page.partition(f"| `{word}` | ")[2][0] for word in verdicts.WORDS}
    assert signs == {word: verdicts.glyph(word) for word in verdicts.WORDS}


class Screen(pyte.Screen):
    """A terminal of 80 × 24, with the lines that scrolled out of it."""

    def __init__(self) -> None:
        self.is_broken = self.has_colours = False
        super().__init__(columns=80, lines=100)

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.display).rstrip()

    def draw(self, data: str) -> None:
        assert data.isprintable(), f"control characters: {data!r}"
        self.is_broken |= self.cursor.x + cell_len(data) > self.columns  # a line ran over the right edge
        super().draw(data)

    def cursor_up(self, count: int | None = None) -> None:
        assert (count or 1) < 24, "moves up over the edge of the screen, where nothing can be redrawn"
        super().cursor_up(count)

    def select_graphic_rendition(self, *attributes: int) -> None:
        self.has_colours |= any(30 <= one <= 37 or 90 <= one <= 97 for one in attributes)
        super().select_graphic_rendition(*attributes)

    def debug(self, *what: object, **more: object) -> None:
        raise AssertionError(f"an escape sequence that no terminal knows, or that rich has no use for: {what} {more}")

    erase_in_display = debug  # what stood there before is not the grader's


def in_terminal(folder: Path, *words: str, **environment: str) -> tuple[int, Screen, list[str]]:
    """Grades in a terminal of 80 × 24: the status, the screen at the end, and all screens."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR", "CI")}
    process = subprocess.Popen(
        [sys.executable, "-c", _GRADE, "grade", str(folder), "--no-sandbox", *words],
        env={**kept, "TERM": "xterm", "PYTHONPATH": str(ROOT / "grader/src"), **environment},
        stdin=inner, stdout=inner, stderr=inner, start_new_session=True,
    )  # fmt: skip
    os.close(inner)
    screen, seen = Screen(), []
    stream = pyte.ByteStream(screen)
    with contextlib.suppress(OSError):  # the other side is closed
        while chunk := os.read(outer, 1 << 16):
            stream.feed(chunk)
            seen.append(screen.text())
    os.close(outer)
    return process.wait(30), screen, seen


@pytest.fixture
def lively(submissions: Submissions) -> Path:
    slow = {f"student_{index}": "// slow 0.4\n// fail beta_two WRONG" for index in range(6)}
    folder = submissions(**slow, 洛夫莱斯="", broken="#error")
    (folder / "gone").mkdir()
    return folder


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}])
def test_a_class_in_a_terminal(in_checkout: Layout, lively: Path, environment: dict[str, str]) -> None:
    status, screen, seen = in_terminal(lively, "--jobs", "2", **environment)
    assert status == 0
    assert not screen.is_broken
    assert screen.has_colours == (not environment)
    assert any("━" in one and "left" in one and "✗ WRONG" in one for one in seen)
    assert any(", 3 of 7 tests" in one or ", 4 of 7 tests" in one for one in seen)
    end = screen.text()
    assert "━" not in end  # the bars are gone
    assert "洛夫莱斯   ✓ PASS            20 + 3 bonus of 20\n" in end
    assert "student_0  ✗ WRONG beta_two            11 of 20\n" in end
    assert "gone       – MISSING                          –\n" in end


def test_a_dumb_terminal_gets_lines(in_checkout: Layout, lively: Path) -> None:
    status, screen, seen = in_terminal(lively, TERM="dumb")
    assert status == 0
    assert not screen.is_broken
    assert not any("━" in one for one in seen)
    assert "  90_fake: 9 of 9\n" in screen.text()


def grade(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox", "--jobs", "2", *arguments])


def test_quiet_says_only_what_to_act_on(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="")
    grade(folder)
    assert grade(folder, "--quiet").stdout == ""
    submissions(noisy="// harness 99")
    said = grade(folder, "-q")
    assert said.exit_code == 3
    assert said.stdout.split("\n")[0].startswith("Not graded, because the harness failed: noisy")


def test_json_is_all_that_standard_output_has(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="", noisy="// harness 99", evil="// fail alpha_one RACE")
    (folder / "gone").mkdir()
    (folder / "roster.csv").write_text("name,sid,email,alias\nada,1,,\nnoisy,2,,\nevil,3,,\n")
    result = grade(folder, "--json")
    document = json.loads(result.stdout)
    assert (document["format"], document["status"], result.exit_code) == (1, 3, 3)
    assert document["assignments"]["90_fake"] == {
        "submissions": 4, "unchanged": 0, "verdicts": {"PASS": 1, "RACE": 1, "HARNESS": 1, "MISSING": 1}
    }  # fmt: skip
    found = {
        one["name"]: (one["on_roster"], one["total"], one["assignments"]["90_fake"]) for one in document["students"]
    }
    assert found["ada"][:2] == (True, 23)
    assert (found["gone"][0], found["gone"][2]["verdict"]) == (False, "MISSING")
    own = found["evil"][2]
    assert (own["verdict"], own["rung"], own["points"], own["is_final"]) == ("RACE", "alpha_one", 15, True)
    assert (found["noisy"][2]["points"], found["noisy"][2]["is_final"]) == (None, False)
    assert Path("out", own["card"]).is_file()
    assert Path("out", own["staff_card"]).is_file()
    assert set(document["files"]) == {"report_cards", "gradebook", "leaderboard"}
    assert all(Path(path).is_file() for path in document["files"].values())
    assert "Graded in" in result.stderr
    again = json.loads(grade(folder, "--json", "--only", "ada").stdout)
    assert [one["name"] for one in again["students"]] == ["ada"]
    assert again["assignments"]["90_fake"]["unchanged"] == 1


def files_of(*folders: Path) -> dict[Path, bytes]:
    return {
        path: path.read_bytes() if path.is_file() else b""
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.name != "runs.log"  # the test's own suite writes it
    }


def test_a_dry_run_writes_nothing(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="", stranger="")
    (folder / "roster.csv").write_text("name,sid,email,alias\nada,1,,\nHopper,2,,\n")
    places = (in_checkout.root, folder.parent / "submissions")
    before = files_of(*places)
    plan = grade(folder, "--dry-run", "--json")
    assert plan.exit_code == 0
    assert files_of(*places) == before
    todo = json.loads(plan.stdout)["assignments"]["90_fake"]["to_do"]
    assert {one["submission"]: one["run"] for one in todo} == {"ada": True, "stranger": True, "2": False}
    assert "is not written in a dry run" in plan.stderr
    assert grade(folder).exit_code == 4
    assert (folder / "matches.csv").is_file()
    (folder / "matches.csv").unlink()
    (folder / "ada" / "ladder.cu").write_text("// who ada\n// changed\n")
    before = files_of(*places)
    assert "to be graded again" in " ".join(grade(folder, "--dry-run").stdout.split())
    assert files_of(*places) == before


def commands_of(group: click.Group, *words: str) -> Iterator[tuple[str, ...]]:
    yield words
    for name, command in group.commands.items():
        yield from commands_of(command, *words, name) if isinstance(command, click.Group) else [(*words, name)]


@pytest.mark.parametrize("words", list(commands_of(cli)), ids=" ".join)
def test_help_fits_into_80_columns(words: tuple[str, ...]) -> None:
    said = CliRunner().invoke(cli, [*words, "--help"], terminal_width=80).output
    assert [line for line in said.splitlines() if len(line) > 80] == []
    assert "Examples:" in said or "Example:" in said or words == ("autograder",)


def test_every_command_is_in_a_section() -> None:
    said = CliRunner().invoke(cli, ["--help"], terminal_width=80).output
    assert "Others:" not in said
    assert all(f"\n  {name} " in said for name in cli.commands)
    assert said.count("...") == 1  # in the usage: no line is cut
