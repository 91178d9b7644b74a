"""A class of 200: the most urgent things are in the first lines, ten at most."""

from pathlib import Path

import pytest
from rich.console import Console

from grader.base.layout import Layout
from grader.commands.match import show_class
from grader.commands.summary import show_summary
from grader.course.grades import compute_grades
from grader.intake.download import open_class
from grader.model.roster import Student
from grader.pages.look_first import look_first
from made_class import absent, course, handed_in, made_assignment
from platforms.classes import lay_out, random_class

pytestmark = pytest.mark.in_turn

LATE = "[late]\npenalty = '10 % per day'\n[assignment.04_reduction]\ndeadline = '2026-11-02 12:00Z'\n"


def class_of_200() -> list:  # type: ignore[type-arg]
    records = []
    for number in range(200):
        student = Student(f"Student {number:03}", str(1000 + number))
        kind = number % 20
        if kind == 0:
            records.append(absent(student))
        elif kind == 1:
            records.append(handed_in(student, None, "01T10:00"))
        elif kind == 2:
            records.append(handed_in(student, 80, late=True, source="file names"))
        elif kind == 3:
            records.append(handed_in(student, 70, "01T10:00", is_matched=False))
        elif kind == 4:
            records += [handed_in(student, 70, "01T10:00", folder=name) for name in ("a", f"b{number}")]
        else:
            records.append(handed_in(student, 90, "" if kind < 8 else "01T10:00"))
    return compute_grades({"04_reduction": (made_assignment(), records)}, course(LATE))


def test_it_is_ten_lines_at_most_and_names_each_kind() -> None:
    lines = look_first(["04_reduction"], class_of_200())
    assert 5 <= len(lines) <= 10
    text = "\n".join(lines)
    assert "10 submissions not graded yet" in text
    assert "Hand-in times are not known: 30 of 190 in 04_reduction" in text
    assert "10 submissions marked late by the platform" in text
    assert "10 students handed in and not on the roster: Student 003, Student 023, Student 043 and 7 more" in text
    assert "10 students with nothing handed in at all" in text
    assert "10 flags: Student 004: Handed in under 2 names" in text
    assert all(len(line) < 200 for line in lines)


def test_nothing_to_look_at_is_no_line() -> None:
    ada = Student("Ada", "1")
    grades = compute_grades({"04_reduction": (made_assignment(), [handed_in(ada, 90, "01T10:00")])}, course(LATE))
    assert look_first(["04_reduction"], grades) == []


def test_the_terminal_begins_with_them(tmp_path: Path, in_checkout: Layout) -> None:
    grades = class_of_200()
    console = Console(width=100, record=True, file=(tmp_path / "said").open("w"))
    show_summary(console, grades, ["04_reduction"], tmp_path)
    said = console.export_text().splitlines()
    assert said[0].startswith("10 submissions not graded yet")
    assert next(place for place, line in enumerate(said) if "200 students" in line) < 16  # lines of 100 columns


def test_a_download_is_told_in_ten_lines(tmp_path: Path) -> None:
    download, roster = lay_out("blackboard", tmp_path, random_class(9, 200))
    console = Console(width=400, record=True, file=(tmp_path / "said").open("w"))
    with open_class(download, roster) as opened:
        show_class(console, opened, propose=False, most=3)
        several = sum(len(one.attempts) > 1 for one in opened.owners)
    said = console.export_text().splitlines()
    assert len(said) <= 10
    assert f"… and {several - 3} more have several attempts" in "".join(said)
    assert "34 students without a submission: José 李, Ivy Hopper, Ivy Müller and 31 more" in "".join(said)
