"""The two report cards: the student's reveals nothing about hidden tests, the staff's shows everything."""

import dataclasses
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conftest import BUILD, ROOT, needs_build, needs_sandbox
from grader.base.layout import Layout, find_layout
from grader.base.toolchain import find_toolchain
from grader.commands.cli import cli
from grader.course.adjustments import Adjustment
from grader.course.grades import AssignmentGrade
from grader.model.assignment import load_assignment
from grader.model.handed import Handed
from grader.model.record import NOT_GRADED, Record
from grader.model.result import Evidence, Finding, Place, SaidLine, TestResult
from grader.model.roster import Student
from grader.pages.cards import Subject, openings, score_words, write_cards
from grader.pages.environment import make_environment
from grader.pages.publish import load_classes, open_journal
from grader.pages.student_view import HIDDEN_TEST, Opening, closed, for_student
from grader.running.build import Order, build_worker

TEMPLATES = ROOT / "templates"
RULES = """
[[visibility]]
tests = ["LadderTest.SumsNone*"]
shown = "hidden"

[[visibility]]
tests = ["LateTest.*"]
shown = "after the deadline"
title = "Calls in a row"
hint = "What is left behind?"
"""
LEAK = re.compile(r"LEAK\w+")


@pytest.fixture
def graded(in_checkout: Layout, submissions: Callable[..., Path]) -> tuple[Layout, Record]:
    """One submission that fails on alpha_one; SumsNone is hidden, and so is the criterion beta.fast."""
    path = in_checkout.assignment("90_fake") / "assignment.toml"
    text = path.read_text().replace('id = "beta.fast"', 'id = "beta.fast"\nvisibility = "hidden"')
    path.write_text(text + RULES)
    folder = submissions(ada="// fail alpha_one RACE\n// value beta.fast 4\n__global__ void k() {}\nint x;")
    assert CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox"]).exit_code == 0
    journal = open_journal(Path("out"))
    (outline,) = next(iter(load_classes(in_checkout, journal).values()))[1]
    record = journal.whole(outline.assignment, outline.folder, outline.handed.number)
    return in_checkout, record


def planted(record: Record) -> Record:
    """The record with a distinct marker in every field that a hidden test, or the harness, may fill."""
    assert record.result
    count = iter(range(10_000))

    def mark(text: str) -> str:
        return f"{text} LEAK{next(count)}LEAK"

    def hide(test: TestResult) -> TestResult:
        if "SumsNone" not in test.name:
            return test
        places = (Place("/x/ladder.cu", 4), Place("hidden_test.cc", 7), Place("ladder.cu", 4711))
        finding = Finding("race", mark("k"), places, mark("at 0x7f00"), 4712)  # a kind is one of the judge's
        return dataclasses.replace(
            test,
            name=test.name.replace("SumsNone", "SumsNone" + mark("").strip()),
            message=mark("RACE  expected 523 776"),
            lines=(SaidLine(mark("at"), mark("x")), SaidLine("at", mark("x"), mark("y"), 3)),
            launches=(mark("k<<<513,1>>>"),),
            hint=mark("n = 513"),
            output=mark("n = 513"),
            reproduce=mark("make test SEED=5"),
            device=mark("vgpu"),
            seconds=47.11,
            findings=(finding, dataclasses.replace(finding, kind="race", kernel="k<int, 513>", places=places[:1])),
        )

    evidence = tuple(
        dataclasses.replace(entry, message=mark(entry.message), metric=mark(entry.metric), unmet=mark(""), value=4713.0)
        for entry in record.result.evidence
    )
    assert [entry.criterion for entry in evidence] == ["beta.fast"]
    assert record.score
    criteria = tuple(
        dataclasses.replace(one, detail=mark(one.detail), metric=mark(one.metric), value=4713.0)
        if one.id == "beta.fast"
        else one
        for one in record.score.criteria
    )
    return dataclasses.replace(
        record,
        result=dataclasses.replace(record.result, tests=tuple(map(hide, record.result.tests)), evidence=evidence),
        score=dataclasses.replace(record.score, criteria=criteria),
        provenance=dataclasses.replace(
            record.provenance, command=mark("grader grade"), suite=mark(""), reference=mark(""), seed=87_654_321_012
        ),
        handed=Handed(origin=mark("download/"), nearest=(mark("x"),), is_matched=False),
        reason=mark("because"),
    )


def cards(layout: Layout, record: Record, opening: Opening, **more: Any) -> tuple[str, str]:
    """The student's card and the staff's."""
    assignment = load_assignment(layout.assignment("90_fake"))
    out = layout.root / "made"
    write_cards(make_environment(TEMPLATES), out, Subject(assignment, record, **more), opening)
    (own,), (staffs,) = out.glob("cards/*/*.html"), out.glob("staff/cards/*/*.html")
    return own.read_text(), staffs.read_text()


def test_nothing_of_a_hidden_test_reaches_the_student(graded: tuple[Layout, Record]) -> None:
    layout, record = graded
    marked = planted(record)
    own, staffs = cards(layout, marked, closed())
    assert not LEAK.findall(own)
    for text in (
        "523 776",
        "513",
        "4711",
        "4712",
        "4713",
        "4,713",
        "47.11",
        "0x7f00",
        "SumsNone",
        "87654321012",
        "seed",
    ):
        assert text not in own, text
    # What students do see: the verdict, the kind of fault, their own kernel and line, the criterion's title and a hint.
    assert f"RACE  {HIDDEN_TEST}: Right" in html_text(for_student_text(layout, marked))
    for text in ("race in k", 'href="#L4"', "1 hidden test", "what was measured is not shown"):
        assert text in own, text
    seen = set(LEAK.findall(staffs))
    planted_texts = set(LEAK.findall(json.dumps(marked.document(), default=str)))
    # Findings' texts are in the message; the hashes of suite and reference, the command and the origin are only for
    # staff.
    assert len(seen) >= 12
    assert seen <= planted_texts


def for_student_text(layout: Layout, record: Record) -> str:
    seen = for_student(load_assignment(layout.assignment("90_fake")), record, closed())
    text = json.dumps(seen.document(), default=str)
    assert not LEAK.findall(text), "the record itself has nothing to leak, whatever a template shows"
    return text


def html_text(text: str) -> str:
    return text


def test_a_hidden_test_that_fails_alone_says_where_and_why_it_is_not_public(graded: tuple[Layout, Record]) -> None:
    layout, record = graded
    assert record.result
    tests = tuple(
        dataclasses.replace(test, verdict="PASS") if "SumsAll/alpha" in test.name else test
        for test in record.result.tests
    )
    own, _ = cards(layout, dataclasses.replace(record, result=record.result.with_tests(tests)), closed())
    assert "This test is not public. make test RUNG=alpha_one runs the public ones." in own
    assert "make test TEST=" not in own
    assert "find each value that one thread writes and another reads" in own


def test_what_opens_after_the_deadline(graded: tuple[Layout, Record]) -> None:
    layout, record = graded
    assert record.result
    late = dataclasses.replace(
        record.result.tests[0], name="LateTest.Twice/alpha_one", message="RACE  LEAK1LEAK", output=""
    )
    record = dataclasses.replace(record, result=record.result.with_tests((late,)))
    now = datetime(2026, 3, 1, tzinfo=UTC)
    before, _ = cards(layout, record, Opening(now, now + timedelta(hours=1)))
    assert "LEAK1LEAK" not in before
    assert "Calls in a row" in before
    assert "What is left behind?" in before
    after, _ = cards(layout, record, Opening(now, now - timedelta(hours=1)))
    assert "LEAK1LEAK" in after


def test_output_after_a_hidden_test_is_not_shown(graded: tuple[Layout, Record]) -> None:
    layout, record = graded
    assert record.result
    first = next(test for test in record.result.tests if "SumsAll" in test.name)
    hidden = next(test for test in record.result.tests if "SumsNone" in test.name)
    later = dataclasses.replace(first, name="LadderTest.SumsLater/alpha_one", output="remembered: 513")
    seen = for_student(
        load_assignment(layout.assignment("90_fake")),
        dataclasses.replace(record, result=record.result.with_tests((first, hidden, later))),
        closed(),
    )
    assert seen.result
    assert [bool(test.output) for test in seen.result.tests] == [True, False, False]


def test_a_failure_after_a_hidden_test_shows_no_value(graded: tuple[Layout, Record]) -> None:
    layout, record = graded
    assert record.result
    first = next(test for test in record.result.tests if "SumsAll" in test.name)
    hidden = next(test for test in record.result.tests if "SumsNone" in test.name)
    told = dataclasses.replace(
        first,
        name="LadderTest.SumsLater/alpha_one",
        verdict="WRONG",
        message="WRONG  LadderTest.SumsLater   remembered_513()",
        lines=(SaidLine("found", "513 instead of 7"),),
        launches=("k<<<513,1>>>",),
        findings=(Finding("race", "k", (Place("ladder.cu", 4),), "address 0x513", 513),),
    )
    slow = dataclasses.replace(told, name="Evidence.Fast/beta_two", verdict="SLOW", message="SLOW  4 instead of 2")
    assignment = load_assignment(layout.assignment("90_fake"))

    def seen(*tests: TestResult) -> str:
        result = for_student(
            assignment, dataclasses.replace(record, result=record.result.with_tests(tests)), closed()
        ).result
        assert result
        return json.dumps([dataclasses.asdict(test) for test in result.tests if test.name == told.name])

    assert "513 instead of 7" in seen(told, hidden)
    after = seen(hidden, told)
    assert "513" not in after
    assert "WRONG  LadderTest.SumsLater/alpha_one" in after
    assert '"text": "ladder.cu:4  race in k"' in after
    assert "make test shows them" in after
    result = for_student(
        assignment, dataclasses.replace(record, result=record.result.with_tests((hidden, slow))), closed()
    ).result
    assert result
    assert result.tests[1].message == "SLOW  4 instead of 2"  # the judge counted it


def test_a_failure_of_the_harness_quotes_no_test(graded: tuple[Layout, Record]) -> None:
    layout, record = graded
    failed = dataclasses.replace(record, status=NOT_GRADED, score=None, message="HARNESS  HiddenTest LEAK1LEAK")
    own, staffs = cards(layout, failed, closed())
    assert "LEAK1LEAK" not in own
    assert "LEAK1LEAK" in staffs


def test_without_a_sandbox_the_compiler_quotes_only_the_students_own_file(graded: tuple[Layout, Record]) -> None:
    layout, record = graded
    said = (
        "In file included from ladder.cu:1:\nreference/90_fake/hidden_test.cc(3): error: LEAK1LEAK\n"
        '  int LEAK2LEAK = 513;\n  ^\nladder.cu(2): error: expected a ";"\n  int LEAK3LEAK\nladder.cu LEAK4LEAK error\n'
    )
    assert record.score
    failed = dataclasses.replace(
        record, message=said, result=None, score=dataclasses.replace(record.score, verdict="COMPILE", rung="")
    )
    own, staffs = cards(layout, failed, closed())
    assert not LEAK.findall(own)
    assert "expected a &#34;;&#34;" in own
    assert len(set(LEAK.findall(staffs))) == 4


@needs_build
@needs_sandbox
def test_in_the_sandbox_the_compiler_sees_no_hidden_source(tmp_path: Path) -> None:
    layout = find_layout(BUILD)
    assignment = load_assignment(ROOT / "assignments/01_handson_copy")
    hidden = ROOT / "reference/01_handson_copy/hidden_test.cc"
    source = f'#include "{hidden}"\n'.encode()
    built = build_worker(Order(layout, find_toolchain(layout), assignment, source, tmp_path, sandboxed=True))
    assert built.worker is None
    assert "No such file" in built.message or "could not open" in built.message
    assert "HiddenCopyTest" not in built.message


def test_points_that_count_are_told_with_their_steps(graded: tuple[Layout, Record]) -> None:
    layout, record = graded
    assert record.score
    student = Student("Ada")
    change = Adjustment("ada", "90_fake", 1.0, "a good question", "Prof")
    grade = AssignmentGrade(
        "90_fake", record, (record, record), "graded", record.score.total, 20.0, 9.5, penalty=2.5,
        late_seconds=7200.0, adjustments=(change,), steps=("−2.5 points: 2 h late", "+1: a good question (Prof)"),
    )  # fmt: skip
    attempts = tuple(dataclasses.replace(record, handed=Handed(number=number)) for number in (1, 2))
    own, staffs = cards(layout, record, closed(), grades=[(student, grade)], attempts=attempts)
    for text in ('<span class="big">9.5</span>', f"earned {score_words(record)}", "a good question", "2 h late"):
        assert text in own
        assert text in staffs
    assert "Attempts" not in own
    assert "Attempts" in staffs
    assert score_words(record) == "10 + 3 bonus"


def test_the_deadline_is_the_last_of_all(graded: tuple[Layout, Record]) -> None:
    layout, record = graded
    assignment = load_assignment(layout.assignment("90_fake"))

    def opening(*due: str) -> Opening:
        grades = [
            (Student("Ada"), AssignmentGrade("90_fake", record, (record,), "graded", 1.0, 20.0, 1.0, due=one))
            for one in due
        ]
        return openings([Subject(assignment, record, grades)])["90_fake"]

    first, last = "2026-03-01T12:00:00+00:00", "2026-03-08T12:00:00+00:00"
    assert opening(last, first).deadline == datetime.fromisoformat(last)
    assert opening(last, "").deadline is None
    assert opening().deadline is None


def test_evidence_is_never_a_test_of_its_own(graded: tuple[Layout, Record]) -> None:
    """A criterion that the assignment no longer has is hidden, too."""
    layout, record = graded
    assert record.result
    gone = Evidence(
        message="LEAK1LEAK", criterion="gone", rung="alpha_one", metric="LEAK2LEAK", value=4714.0, verdict="SLOW"
    )
    own, _ = cards(
        layout, dataclasses.replace(record, result=dataclasses.replace(record.result, evidence=(gone,))), closed()
    )
    assert not LEAK.findall(own)
    assert "4714" not in own
