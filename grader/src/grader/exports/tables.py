"""Tables that a person opens in a spreadsheet, as CSV. Texts have to be safe already: `base.cells`."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from grader.base.csv_files import BOM, csv_cell, csv_rows
from grader.base.files import write_atomic


def csv_text(table: pd.DataFrame) -> str:
    """The table as CSV."""
    rows = [list(table.columns), *table.astype(object).values.tolist()]
    return "".join(",".join(csv_cell(cell_text(value)) for value in row) + "\n" for row in rows)


def cell_text(value: Any) -> str:
    """A cell's text: numbers without needless digits, nothing for None."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return value if isinstance(value, str) else f"{value:.10g}"


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Writes CSV in UTF-8 with a byte-order mark, which is how spreadsheets know it."""
    write_atomic(path, BOM + csv_rows([header, *([cell_text(value) for value in row] for row in rows)]))
