"""The pages of `grader ladder`: tables with missing times, and with different sizes."""

from pathlib import Path

import pytest

from grader.authoring.ladder import Ladder, check_pages, ladder_assignments, ladder_text, page_text
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.model.assignment import Assignment, load_assignment
from grader.model.result import Profile

_COUNTERS = (
    *("divergent_branches", "shared_wavefronts", "shared_wavefronts_ideal", "barriers", "warp_instructions"),
    *("global_load_sectors", "global_store_sectors"),
)


def _profile(rung: str, n: int, microseconds: float, counter: float = 16_777_216) -> Profile:
    return Profile(rung, "submission", n, microseconds, dict.fromkeys(_COUNTERS, counter), (), ())


@pytest.fixture
def fake(checkout: Layout) -> Assignment:
    return load_assignment(checkout.assignment("90_fake"))


@pytest.fixture
def ladder() -> Ladder:
    """beta_two can't run on the course's GPU; gamma_bonus has another number of elements."""
    modern = [_profile("alpha_one", 1024, 30), _profile("beta_two", 1024, 10), _profile("gamma_bonus", 64, 2)]
    course = [_profile("alpha_one", 1024, 4000), _profile("gamma_bonus", 64, 500)]
    return Ladder({one.rung: one for one in modern}, {one.rung: one for one in course})


def _row(text: str, rung: str) -> list[str]:
    found = [line for line in text.splitlines() if line.startswith(f"| `{rung}`")][-1]
    return [cell.strip() for cell in found.strip("|").split("|")]


def test_a_rung_that_the_courses_gpu_refuses_has_no_time_of_it(fake: Assignment, ladder: Ladder) -> None:
    text = page_text(fake, ladder, [1, 2], "13.0.88")
    assert "The G80 can't run `beta_two`: there is no time of it on that GPU." in text
    assert _row(text, "alpha_one") == ["`alpha_one`", "30.0", "1.00", "4.000", "1.00", "8.000", "1.00", "0.50"]
    assert _row(text, "beta_two") == ["`beta_two`", "10.0", "3.00", "", "", "", "", ""]


def test_speed_ups_compare_equal_sizes(fake: Assignment, ladder: Ladder) -> None:
    text = page_text(fake, ladder, [1, 2], "13.0.88")
    assert _row(text, "gamma_bonus") == ["`gamma_bonus`", "2.0", "1.00", "0.500", "1.00", "", "", ""]
    assert "| rung | elements | divergent branches |" in text
    assert "| `gamma_bonus` | 64 | 16 777 216 |" in text


def test_a_terminal_of_100_columns_is_wide_enough(fake: Assignment, ladder: Ladder) -> None:
    lines = ladder_text(fake, ladder).splitlines()
    assert max(len(line) for line in lines) <= 100
    assert len([line for line in lines if line.startswith("beta_two")]) == 2


def test_ladders_are_what_the_course_published_times_for(checkout: Layout) -> None:
    assert ladder_assignments(checkout) == ["90_fake"]
    toml = checkout.assignment("90_fake") / "assignment.toml"
    toml.write_text(toml.read_text().replace("published_ms = 8.0\n", ""))
    assert ladder_assignments(checkout) == []


def test_a_page_of_no_ladder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "04_reduction.md").write_text("")
    check_pages(tmp_path, ["04_reduction"])
    with pytest.raises(GraderError, match="04_reduction"):
        check_pages(tmp_path, ["05_scan"])
