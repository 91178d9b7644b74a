"""The class report in a browser: sort, filter, search, keyboard, size; hostile text stays text."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from grader.course.grades import StudentGrades, compute_grades
from grader.model.assignment import Assignment
from grader.model.roster import Student
from grader.pages.class_index import write_index
from grader.pages.environment import make_environment
from made_board import by_name, made_assignments, made_board, made_record, made_student
from made_class import absent

pytest_plugins = ("browser",)

EVIL = "<img src=x onerror=alert(1)>\"'><script>alert(2)</script>"
_BYTES = 1_000_000  # measured: 0.66 MB for 200 students and 7 assignments
_SECONDS = 10.0  # measured: 0.4 s to write, 1 s to open
_TEMPLATES = ROOT / "templates"


def written(out: Path, known: dict[str, Assignment], grades: list[StudentGrades]) -> Path:
    return write_index(make_environment(_TEMPLATES), out, known, grades, {}, has_board=False)


@pytest.fixture
def page(tmp_path: Path, open_page: Callable[..., Any]) -> Any:
    return open_page(written(tmp_path, *made_board(40, 3)))


def names(page: Any) -> list[str]:
    """The students in the order of the visible rows."""
    return page.eval_on_selector_all(
        "#matrix tbody tr:not([hidden]):not(.below) > th", "all => all.map(one => one.dataset.sort)"
    )


def column(page: Any, number: int) -> list[str]:
    return page.eval_on_selector_all(
        f"#matrix tbody tr > :nth-child({number})", "all => all.map(one => one.dataset.sort)"
    )


def test_columns_sort_by_what_is_in_them(page: Any) -> None:
    first = names(page)
    assert len(first) == 40
    total = page.get_by_role("button", name="Total")
    total.click()
    points = [float(text) for text in column(page, 3)]
    assert points == sorted(points, reverse=True)
    assert points[0] > points[-1]
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    total.press("Enter")
    assert [float(text) for text in column(page, 3)] == sorted(points)
    page.get_by_role("button", name="Student", exact=True).click()
    assert names(page) == page.evaluate("all => all.sort((a, b) => a.localeCompare(b))", first)
    assert page.locator("th[aria-sort]").count() == 1


def test_what_has_no_points_stays_last(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    page = open_page(written(tmp_path, *made_board(150, 3)))
    for _ in range(2):
        page.get_by_role("button", name="Vector copy").click()
        found = column(page, 4)
        assert "" in found
        assert "" not in found[: -found.count("")]


def test_search_and_filters_work_together(page: Any) -> None:
    search = page.get_by_role("searchbox")
    search.fill("jose")
    assert {name.split()[0] for name in names(page)} == {"José"}
    assert page.locator("#shown").inner_text() == "4 of 40 students"
    search.fill("ada S30@")
    assert names(page) == ["Ada Wójcik"]
    search.fill("")
    page.get_by_label("Section", exact=True).select_option("A")
    assert len(names(page)) == 20
    page.get_by_label("With", exact=True).select_option("RACE")
    left = names(page)
    assert 0 < len(left) < 20
    shown = page.locator("#matrix tbody tr:not([hidden])")
    for index in range(len(left)):
        assert shown.nth(index).locator("td[data-verdict=RACE]:not(.faded)").count() > 0
    page.get_by_role("button", name="Total").click()
    assert sorted(names(page)) == sorted(left)  # sorting brings no hidden row back


def test_the_keyboard_is_enough(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("grace hopper")
    assert page.get_by_role("searchbox").input_value() == "grace hopper"
    assert names(page) == ["Grace Hopper"]
    page.keyboard.press("Escape")
    assert len(names(page)) == 40
    focus = "document.activeElement.closest('tr').rowIndex + ',' + document.activeElement.closest('th, td').cellIndex"
    page.locator("#matrix tbody th button").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focus) == "2,0"
    page.keyboard.press("End")
    assert page.evaluate(focus) == "2,5"
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focus) == "1,5"
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    below = page.locator("tr.below")
    assert below.count() == 1
    assert "Vector copy" in below.inner_text()
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focus) == "3,0"  # past the opened row
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert below.count() == 0


def test_anchors_lead_to_sections_that_are_there(page: Any) -> None:
    links = page.eval_on_selector_all(".contents a", "all => all.map(one => one.getAttribute('href'))")
    assert {"#students", "#unmatched", "#look", "#spread", "#costs", "#tests", "#slowest"} == set(links)
    for link in links:
        page.locator(f'.contents a[href="{link}"]').click()
        assert page.locator(link).bounding_box()["y"] < 900
    cards = page.eval_on_selector_all("#matrix tbody td a", "all => all.map(one => one.getAttribute('href'))")
    assert cards
    assert all(link.startswith("staff/cards/") for link in cards)


def test_hostile_names_stay_text(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    known = made_assignments(1)
    ((name, assignment),) = known.items()
    evil = Student(EVIL, EVIL, section=EVIL)
    records = [made_record(assignment, evil, 0, late=True), made_record(assignment, made_student(1), 1)]
    grades = compute_grades({name: (assignment, records)})
    page = open_page(written(tmp_path, known, grades))
    assert EVIL in names(page)
    assert page.locator("script").count() == 1
    assert page.locator("img").count() == 0
    page.get_by_role("searchbox").fill("onerror=alert")
    assert names(page) == [EVIL]
    page.get_by_label("Section", exact=True).select_option(EVIL)
    page.locator("#matrix tbody tr:not([hidden]) th button").click()
    assert EVIL in page.locator("tr.below").inner_text()
    assert page.locator("img").count() == 0


def test_only_its_own_script_may_run(page: Any) -> None:
    policy = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]


def test_a_class_of_200_is_small_and_fast(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    known, grades = made_board(200, 7)
    start = time.monotonic()
    path = written(tmp_path, known, grades)
    assert path.stat().st_size < _BYTES, path.stat().st_size
    page = open_page(path)
    assert len(names(page)) == 200
    page.get_by_role("button", name="Total").click()
    page.get_by_role("searchbox").fill("park")
    assert len(names(page)) == 10
    assert time.monotonic() - start < _SECONDS
    page.get_by_role("searchbox").fill("")
    heights = page.eval_on_selector_all("#matrix tbody tr", "all => all.map(one => one.offsetHeight)")
    assert sum(heights) < 5 * 1080  # a full-HD screen


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(tmp_path: Path, open_page: Callable[..., Any], width: int) -> None:
    page = open_page(written(tmp_path, *made_board(60, 7)), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_class_of_one_and_one_with_nothing(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    page = open_page(written(tmp_path, *made_board(1, 1)))
    assert page.locator("#shown").inner_text() == "1 student"
    known = made_assignments(2)
    nobody = {name: (one, [absent(made_student(k), name) for k in range(3)]) for name, one in known.items()}
    page = open_page(written(tmp_path / "none", known, compute_grades(nobody)))
    assert len(names(page)) == 3
    assert page.locator("#matrix td[data-verdict=MISSING]").count() == 6
    assert "3 students have handed in nothing" in page.inner_text("main")


def test_the_points_are_the_courses(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    known = made_assignments(1)
    ((name, assignment),) = known.items()
    student = made_student(0)
    attempts = [made_record(assignment, student, went, attempt) for attempt, went in ((1, 0), (2, 5))]
    grades = compute_grades({name: (assignment, attempts)})
    page = open_page(written(tmp_path, known, grades))
    grade = by_name(grades)[student.name].assignments[name]
    cell = page.locator("#matrix td[data-verdict]")
    assert cell.locator(".points").inner_text() == f"{grade.points:g}"
    assert "×2" in cell.inner_text()
    assert "Attempt 2 of 2 counts" in cell.get_attribute("title")


def test_what_to_look_at_is_listed_once_with_all_who_are_meant(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    known, grades = made_board(200, 7)
    unmade = {("01_copy", grades[0].assignments["01_copy"].record.folder): "it took too long"}
    page = open_page(write_index(make_environment(_TEMPLATES), tmp_path, known, grades, unmade, has_board=False))
    rows = page.locator("#look + table tbody tr")
    assert rows.count() < 15
    text = page.locator("#look + table").inner_text()
    for part in ("HARNESS", "it took too long", "The platform marks it late", "the same file"):
        assert part in text
    same = rows.filter(has_text="the same file").first
    assert same.locator("a").count() == 2
    rows.filter(has_text="The platform marks it late").locator("summary").click()
    assert rows.filter(has_text="The platform marks it late").locator("a").first.is_visible()


def test_long_points_do_not_cover_the_verdict(page: Any) -> None:
    points = page.locator("#matrix td .points").first
    points.evaluate("one => { one.textContent = '110.25'; }")
    assert points.evaluate("one => one.scrollWidth <= one.clientWidth")
