"""Report cards of every kind, made once for the tests that open them in a browser.

Most come from a class that the fake suite graded, on the virtual GPU and on a GPU. Cases that this suite never produces
(a race between two lines, a penalty, a team, a source that is too long) are edited into a record.
"""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from conftest import ROOT
from grader.base.layout import Layout
from grader.commands.cli import cli
from grader.course.adjustments import Adjustment
from grader.course.grades import AssignmentGrade
from grader.course.history import Past
from grader.model.assignment import Assignment, load_assignment
from grader.model.handed import Handed
from grader.model.record import Record
from grader.model.result import Finding, Memory, Place, TestResult
from grader.model.roster import Student
from grader.pages.cards import Subject, card_name, staff_card_name, write_cards
from grader.pages.environment import make_environment
from grader.pages.publish import load_classes, open_journal
from grader.pages.student_view import closed

EVIL = "<script>alert('name')</script>"
LONG = "x" * 10_000
HOSTILE = f"</script>{EVIL}<img src=x onerror=alert(1)> \u202eright to left \x1b[31mred\x1b[0m \x07 {LONG} {{{{7*7}}}}"
KERNELS = "".join(
    f"__global__ void k{n}(const float* in, float* out) {{\n  out[{n}] = in[{n}];\n}}\n" for n in range(8)
)
HIDDEN = """
[[visibility]]
tests = ["LadderTest.SumsNone*"]
shown = "hidden"
title = "Inputs of length 0"
hint = "What is the sum of nothing?"
"""
CLASS = {
    "full": "",
    "wrong": "// fail alpha_one WRONG",
    "bounds": "// fail beta_two BOUNDS\n// fail alpha_one BOUNDS",
    "race": "// fail beta_two RACE",
    "compile": "#error no such thing",
    "rejected": "// fail alpha_one REJECTED\n// fail beta_two REJECTED\n// fail gamma_bonus REJECTED",
    "timeout": "// fail beta_two TIMEOUT",
    "slow": "// value beta.fast 4",
    "begun": "// todo beta_two\n// todo gamma_bonus",
    "lost": "// unfinished",
    "evil": f"// fail alpha_one RACE\n/* {EVIL} */ char c = '<'; // \u202e\x1b[0m {LONG}",
}
GPU_CLASS = {
    "measured": "// ratio beta.time 1.4",
    "slower": "// ratio beta.time 0.7",
    "noisy": "// noisy 9",
    "gpuwrong": "// gpufail beta_two WRONG",
}


def make_gallery(layout: Layout, folder: Path) -> dict[str, Path]:
    """Cards by name; staff cards have the prefix "staff "; "board" is the leaderboard."""
    path = layout.assignment("90_fake") / "assignment.toml"
    path.write_text(path.read_text() + HIDDEN)
    records = _graded(layout, folder / "class", folder / "out", CLASS, ["missing"], status=3)
    records |= _graded(layout, folder / "gpu", folder / "gpu-out", GPU_CLASS, [], "--device", "cuda", status=3)
    gallery = {}
    for name, record in records.items():
        out = folder / ("gpu-out" if name in GPU_CLASS else "out")
        gallery[name], gallery[f"staff {name}"] = out / card_name(record), out / staff_card_name(record)
    gallery["board"], gallery["gpu board"] = folder / "out/leaderboard.html", folder / "gpu-out/leaderboard.html"
    assignment = load_assignment(layout.assignment("90_fake"))
    environment = make_environment(ROOT / "templates")
    for name, subject in _by_hand(assignment, records).items():
        record = dataclasses.replace(subject.record, folder=name)
        write_cards(environment, folder / "made", dataclasses.replace(subject, record=record), closed())
        gallery[name], gallery[f"staff {name}"] = (
            folder / "made" / card_name(record),
            folder / "made" / staff_card_name(record),
        )
    return gallery


def _graded(
    layout: Layout, folder: Path, out: Path, sources: dict[str, str], absent: list[str], *options: str, status: int
) -> dict[str, Record]:
    for name, source in sources.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "ladder.cu").write_text(f"// who {name}\n{source}\n{KERNELS}")
    people = "".join(
        f"{name.title()} of Alderley,{at},{name},{name}@example.edu\n" for at, name in enumerate([*sources, *absent], 1)
    )
    (folder / "roster.csv").write_text("name,sid,folder,email\n" + people.replace("Evil of Alderley", f'"{EVIL}"'))
    before = Path.cwd()
    os.chdir(layout.root)
    try:
        result = CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox", "--out", str(out), *options])
        assert result.exit_code == status, result.output
        assert "only the points are on it" not in result.output
        journal = open_journal(out)
        outlines = next(iter(load_classes(layout, journal).values()))[1]
        found = [journal.whole(one.assignment, one.folder, one.handed.number) for one in outlines]
    finally:
        os.chdir(before)
    return {record.folder: record for record in found}


def _by_hand(assignment: Assignment, records: dict[str, Record]) -> dict[str, Subject]:
    full, race = records["full"], records["race"]
    return {
        "two parties": Subject(assignment, _with_tests(race, _race)),
        "hidden": Subject(assignment, _with_tests(records["wrong"], _only_hidden)),
        "late": _late(assignment, records["wrong"]),
        "team": Subject(assignment, _team(full)),
        "hostile": Subject(assignment, _hostile(_with_tests(records["evil"], _evil))),
        "huge": Subject(assignment, dataclasses.replace(_with_tests(records["rejected"], _wordy), source=_huge())),
        "all fail": Subject(assignment, _many(records["rejected"])),
    }


def _with_tests(record: Record, change: Callable[[TestResult], TestResult]) -> Record:
    assert record.result
    tests = tuple(map(change, record.result.tests))
    return dataclasses.replace(record, result=dataclasses.replace(record.result, tests=tests))


def _race(test: TestResult) -> TestResult:
    if test.verdict != "RACE":
        return test
    at = [("store", (3, 0, 0)), ("load", (4, 0, 0))]
    places = tuple(
        Place("/x/ladder.cu", line, (0, 0, 0), thread, access)
        for line, (access, thread) in zip((4, 7), at, strict=True)
    )
    memory = Memory("sdata", "shared", 16, 4, 128)
    message = f"RACE  {test.name}\n  at      ladder.cu:4 and ladder.cu:7\n  found   thread 3 writes what 4 reads"
    return dataclasses.replace(
        test, message=message, findings=(Finding("race", "k0", places, message, 1, "barrier", memory),)
    )


def _only_hidden(test: TestResult) -> TestResult:
    return dataclasses.replace(test, verdict="PASS", message="", hint="") if "SumsAll" in test.name else test


def _evil(test: TestResult) -> TestResult:
    places = (Place("/x/ladder.cu", 3), Place("/x/ladder.cu", 5))
    finding = Finding(f"race{EVIL}", f"k<{HOSTILE}>", places, HOSTILE, 1)
    return dataclasses.replace(
        test, verdict="RACE", message=f"RACE  {HOSTILE}\n  at ladder.cu:3", output=HOSTILE, findings=(finding,)
    )


def _hostile(record: Record) -> Record:
    return dataclasses.replace(
        record,
        student=Student(HOSTILE, f"1{EVIL}", HOSTILE),
        handed=Handed(origin=HOSTILE, nearest=(HOSTILE,), is_matched=False),
        reason=HOSTILE,
    )


def _wordy(test: TestResult) -> TestResult:
    lines = "\n".join(f"  at      ladder.cu:{n}  word after word <&> of what was found there" for n in range(1, 2000))
    return dataclasses.replace(
        test, verdict="RACE", message=f"RACE  {test.name}\n{lines}", output="printed <&>\n" * 9000
    )


def _huge() -> str:
    return "".join(f"int a{n} = {n} < {n + 1} && '<' != \"&\"[0]; // {n}\n" for n in range(100_000))


def _many(record: Record) -> Record:
    """3,000 tests that all fail in different ways."""
    assert record.result
    one = record.result.tests[0]
    rungs = ("alpha_one", "beta_two", "gamma_bonus")
    tests = tuple(
        dataclasses.replace(
            _wordy(one), name=f"LadderTest.Sums{n}/{rungs[n % 3]}", rung=rungs[n % 3], findings=_faults(n)
        )
        for n in range(3000)
    )
    return dataclasses.replace(record, result=record.result.with_tests(tests), source=_huge())


def _faults(number: int) -> tuple[Finding, ...]:
    near = [(n, n + 1) for n in range(number + 1, number + 40)]
    return tuple(
        Finding("race", f"kernel_{one}", (Place("ladder.cu", one), Place("ladder.cu", other)), "", 1)
        for one, other in [(5, 99_000), *near]  # line 99,000 is not on the card
    )


def _late(assignment: Assignment, record: Record) -> Subject:
    score = record.score
    assert score
    change = Adjustment("late", assignment.id, 1.5, "a good question in the lecture", "Prof. Knuth")
    steps = ("−2.5 points: 26 h late, 5 % of 20 a day", "+1.5: a good question in the lecture (Prof. Knuth)")
    grade = AssignmentGrade(
        assignment.id, record, (record, record), "graded", score.total, 20.0, score.total - 1, penalty=2.5,
        late_seconds=93_600.0, adjustments=(change,), steps=steps, due="2026-03-01T12:00:00+00:00",
    )  # fmt: skip
    at = ("2026-03-01T11:58:00+00:00", "2026-03-02T14:01:00+00:00")
    attempts = tuple(
        dataclasses.replace(record, folder="late", handed=Handed(at=when, late=number == 2, number=number))
        for number, when in enumerate(at, 1)
    )
    past = [
        Past(at[0], 1, 0.0, 0.0, 20.0, "COMPILE", ("handed in",), is_in_force=False),
        Past(at[1], 2, score.total, score.bonus, 20.0, "WRONG", ("handed in again", "late"), is_in_force=True),
    ]
    return Subject(assignment, attempts[1], [(record.student, grade)], attempts, past)


def _team(record: Record) -> Record:
    members = (Student("Ada Lovelace", "1"), Student("Charles Babbage", "2"), Student("Mary Somerville", "3"))
    return dataclasses.replace(record, student=Student("Team 7"), handed=Handed(group=members))
