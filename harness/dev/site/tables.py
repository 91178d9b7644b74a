"""Tables of pages as data. If a page lacks what a figure is drawn from, the error names both."""

from collections.abc import Sequence
from pathlib import Path

Row = dict[str, str]


class TableError(Exception):
    """A page does not have the table that a figure is drawn from."""


def section(page: Path, heading: str) -> str:
    """The page's text from a heading of level 2 to the next."""
    text = page.read_text(encoding="utf-8")
    _, found, rest = text.partition(f"\n## {heading}\n")
    if not found:
        raise TableError(f"{page.name} has no section '{heading}'; harness/dev/site/plots.py draws from it")
    return rest.partition("\n## ")[0]


def tables(text: str) -> list[list[Row]]:
    """Each table of the text: its rows, by the heads of the columns."""
    found: list[list[Row]] = []
    head: list[str] = []
    for line in text.splitlines():
        if not line.startswith("|"):
            head = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not head:
            head = cells
            found.append([])
        elif set(line) - set("|-: "):
            found[-1].append(dict(zip(head, cells, strict=True)))
    return found


def table(page: Path, heading: str, columns: Sequence[str]) -> list[Row]:
    """The section's first table, which has these columns and at least one row."""
    found = tables(section(page, heading))
    rows = found[0] if found else []
    lacking = [column for column in columns if not rows or column not in rows[0]]
    if lacking:
        there = list(rows[0]) if rows else "an empty table"
        raise TableError(
            f"{page.name}, '{heading}': no column {', '.join(lacking)} in {there}; "
            "harness/dev/site/plots.py draws from it"
        )
    return rows


def figure(cell: str) -> float | None:
    """The number in a cell; None where it is empty."""
    plain = cell.strip("*").replace(" ", "").replace("\N{NO-BREAK SPACE}", "")
    if not plain:
        return None
    try:
        return float(plain)
    except ValueError:
        raise TableError(f"'{cell}' is no number") from None
