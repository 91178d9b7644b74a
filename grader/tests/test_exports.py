"""gradebook.csv and criteria.csv, and CSV with difficult names."""

import csv
import io
from pathlib import Path

import pytest

from grader.base.cells import safe_cell
from grader.base.csv_files import csv_rows, parse_csv
from grader.course.grades import compute_grades
from grader.exports.gradebook import write_criteria, write_gradebook
from grader.model.roster import Student
from made_class import ADA, ALAN, GRACE, Classes, absent, course, handed_in, one_class

HOSTILE = (
    "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "a;=1+1", "a|=1+1", "a\t=1+1", 'a"b', "a,b", "a\nb", "a\r\nb", "'=1",
    "Zoë “Z” O'Hara", "＝1+1", "<script>alert(1)</script>", "null", "1e5", "Points Possible", "王, 小明", "\u202egnp",
)  # fmt: skip


def written(tmp_path: Path, classes: Classes, toml: str = "", adjustments: str = "") -> tuple[str, str]:
    grades = compute_grades(classes, course(toml, adjustments))
    assignments = {name: one for name, (one, _) in classes.items()}
    for name, write in (("gradebook", write_gradebook), ("criteria", write_criteria)):
        write(tmp_path / f"{name}.csv", assignments, grades)
    return tuple((tmp_path / f"{name}.csv").read_bytes().decode("utf-8-sig") for name in ("gradebook", "criteria"))


def rows_of(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))


def test_a_gradebook_has_a_row_a_student_and_a_column_an_assignment(tmp_path: Path) -> None:
    classes = one_class(
        handed_in(ADA, 95, "03T15:00"),
        handed_in(ADA, 80.5, name="05_scan"),
        handed_in(ALAN, None),
        absent(ALAN, "05_scan"),
        handed_in(Student("Somebody"), 10, is_matched=False),
    )
    toml = (
        "[late]\npenalty = '10 % per day'\n[late_days]\nbank = 1\n"
        "[assignment.04_reduction]\ndeadline = '2026-11-02 12:00Z'\n[excused]\n'1912' = ['05_scan']\n"
    )
    book, criteria = written(tmp_path, classes, toml, "1815,05_scan,2,forum,hopper\n")
    rows = rows_of(book)
    assert list(rows[0]) == [
        "name", "sid", "email", "login", "section", "total", "possible", "04_reduction", "05_scan", "status",
    ]  # fmt: skip
    assert [(row["name"], row["total"], row["possible"], row["04_reduction"], row["05_scan"]) for row in rows] == [
        ("Ada Lovelace", "167.5", "200", "85", "82.5"),
        ("Turing, Alan", "", "100", "", ""),
        ("Somebody", "10", "200", "10", "0"),
    ]
    assert [row["status"] for row in rows] == [
        "04_reduction 1 day 3 hours late, 1 late day spent / 05_scan adjusted",
        "04_reduction not graded, hand-in time not known / 05_scan excused",
        "not on the roster / 04_reduction hand-in time not known / 05_scan missing",
    ]
    detail = rows_of(criteria)[0]
    assert (detail["04_reduction.earned"], detail["04_reduction.penalty"], detail["04_reduction"]) == ("95", "10", "85")
    assert (detail["04_reduction.hours late"], detail["04_reduction.late days"]) == ("27", "1")
    assert detail["04_reduction.handed in"] == "2026-11-03T15:00:00+00:00"
    assert (detail["04_reduction.one.sum"], detail["05_scan.adjusted"]) == ("47.5", "2")
    assert rows_of(criteria)[1]["04_reduction.verdict"] == "HARNESS"
    assert "one.sum" in rows_of(written(tmp_path, one_class(handed_in(GRACE, 4)))[1])[0]


@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_person_opens_holds_no_formula_and_every_name(tmp_path: Path, name: str) -> None:
    student = Student(name, sid=name, email=name, section=name)
    lines = csv_rows([[name, "04_reduction", "1", name, name]])
    for text in written(tmp_path, one_class(handed_in(student, 5, folder=name)), adjustments=lines):
        row = rows_of(text)[0]
        assert (row["name"], row["sid"], row["email"]) == (safe_cell(name),) * 3
        for delimiter in ",;|\t":
            cells = next(iter(list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))[1:]))
            assert not any(
                cell.lstrip(" \"'").startswith(("=", "@", "＝")) and not cell.startswith("'") for cell in cells
            )


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_comes_back_as_it_was(delimiter: str) -> None:
    rows = [["name", "x", "y"], *([name, "", name[::-1]] for name in HOSTILE)]
    text = csv_rows(rows, delimiter=delimiter, newline="\r\n")
    assert list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)) == rows
    table = parse_csv("\ufeff" + text, "x.csv")
    assert [table.header, *(row for _, row in table.rows)] == rows
    assert (table.delimiter, table.newline, table.has_bom) == (delimiter, "\r\n", True)
    assert table.rows[9][0] == 11
    assert table.rows[10][0] == 14
