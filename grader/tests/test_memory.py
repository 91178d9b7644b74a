"""The grader's memory use for a class."""

import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.base.layout import Layout
from grader.commands.cli import cli
from grader.model.record import Record
from grader.model.result import Finding, Place
from grader.pages.publish import publish
from grader.running.store import Journal

_LARGE = 40_000  # characters of source, message and output: more than most submissions have


def large(record: Record, number: int) -> Record:
    """A record of its own, with much of everything that a person reads."""
    assert record.result
    text = f"{number} " + "long " * (_LARGE // 5)
    finding = Finding(kind="race", kernel="k", places=(Place("ladder.cu", 1),), text=text, count=1)
    tests = tuple(replace(test, message=text, output=text, findings=(finding,)) for test in record.result.tests)
    return replace(
        record,
        folder=f"student{number}",
        student=replace(record.student, name=f"Student {number}"),
        key=f"{record.key}{number}",
        source=f"// {text}\n",
        result=record.result.with_tests(tests),
    )


def fill(journal: Journal, record: Record, students: int) -> None:
    outlines = []
    for number in range(students):
        journal.add(made := large(record, number))
        outlines.append(made.outline())
    journal.set_class(record.assignment, outlines, whole=True)


def graded(layout: Layout, folder: Path) -> Record:
    assert CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox"]).exit_code == 0
    journal = Journal(layout.root / "out/journal.sqlite")
    try:
        return journal.whole("90_fake", "ada", 1)
    finally:
        journal.close()


def peak(layout: Layout, out: Path, record: Record, students: int) -> int:
    """Peak bytes while the pages of a class are written."""
    journal = Journal(out / "journal.sqlite")
    try:
        fill(journal, record, students)
        gc.collect()
        tracemalloc.start()
        try:
            assert publish(layout, out, journal).cards == students
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    finally:
        journal.close()


@pytest.mark.daily
def test_a_student_more_costs_an_outline(in_checkout: Layout, submissions: Callable[..., Path], tmp_path: Path) -> None:
    record = graded(in_checkout, submissions(ada="int x;"))
    whole = len(large(record, 1).to_json())
    assert whole > 10 * _LARGE
    peak(in_checkout, tmp_path / "warm", record, 2)
    few, many = (peak(in_checkout, tmp_path / str(count), record, count) for count in (5, 25))
    growth = (many - few) / 20
    assert growth < 20_000 < whole / 10  # 9,200 when it was written


def test_an_outline_has_all_that_counts(in_checkout: Layout, submissions: Callable[..., Path]) -> None:
    record = graded(in_checkout, submissions(ada="// fail alpha_one RACE\nint x;"))
    outline = record.outline()
    assert record.result
    assert outline.result
    assert (outline.score, outline.verdict, outline.shown_verdict) == (
        record.score,
        record.verdict,
        record.shown_verdict,
    )
    assert [(one.name, one.verdict, one.seconds) for one in outline.result.tests] == [
        (one.name, one.verdict, one.seconds) for one in record.result.tests
    ]
    assert [one.value for one in outline.result.evidence] == [one.value for one in record.result.evidence]
    assert outline.is_final == record.is_final
    assert (outline.source, outline.message) == ("", "")
