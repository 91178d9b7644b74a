"""The documentation's pictures are up to date, and the README's figures match their source pages."""

from pathlib import Path

import card
import plots
import pytest
import tables
import terminal

from conftest import BUILD, ROOT, needs_build, needs_sandbox

pytestmark = pytest.mark.in_turn

_TYPE = "is out of date; type: make pictures"


def test_plots_show_what_the_reference_pages_say() -> None:
    stale = plots.outdated()
    assert not stale, f"{', '.join(stale)} {_TYPE}"


def test_no_figure_is_left_over() -> None:
    pages = "".join(path.read_text() for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")))
    assert not [path.name for path in plots.FIGURES.iterdir() if path.name not in pages]


@needs_build
def test_the_terminal_shows_what_a_run_prints() -> None:
    stale = terminal.outdated(BUILD)
    assert not stale, f"{', '.join(stale)} {_TYPE}"


@pytest.mark.daily
@needs_build
@needs_sandbox
def test_the_report_card_is_the_one_that_the_picture_was_taken_of() -> None:
    stale = card.outdated(BUILD)
    assert not stale, f"{', '.join(stale)} {_TYPE}"


def test_pictures_are_small() -> None:
    for path in plots.FIGURES.iterdir():
        assert path.stat().st_size < 60_000, path


def test_a_changed_table_is_named(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A\n\n## B\n\n| size | speed |\n|---|---:|\n| 1 | x |\n")
    assert tables.table(page, "B", ("size", "speed")) == [{"size": "1", "speed": "x"}]
    with pytest.raises(tables.TableError, match=r"page\.md has no section 'C'"):
        tables.table(page, "C", ("size",))
    with pytest.raises(tables.TableError, match=r"page\.md, 'B': no column copy in \['size', 'speed'\]"):
        tables.table(page, "B", ("size", "copy"))
    with pytest.raises(tables.TableError, match="'x' is no number"):
        tables.figure("x")


@pytest.mark.parametrize("name", ["Reduction", "Scan", "Transpose"])
def test_the_readme_says_what_the_page_of_limits_says(name: str) -> None:
    page = ROOT / "docs/records/gpu-limits.md"
    rows = tables.table(page, f"{name}, GB/s", ("size", "reference"))
    _, _, library, ceiling, over_library, over_ceiling = rows[0]
    ratios = [tables.figure(row[over_library]) or 0 for row in rows]
    shares = [tables.figure(row[over_ceiling]) or 0 for row in rows]
    words = (
        f"| {len(rows)} | {min(ratios):.2f} to {max(ratios):.2f} × `{library}` "
        f"| {min(shares):.0%} to {max(shares):.0%} of a {ceiling} |"
    ).replace("%", " %")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert words in readme, f"README.md should have: {words}"
    assert min(ratios) > 1, f"README.md says that the reference is faster than {library} at every size"
