"""Tables for spreadsheets, as CSV. Texts must be made safe before: see `base.cells`."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from grader.base.csv_files import BOM, csv_cell, csv_rows
from grader.base.files import write_atomic


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV, with one type per column."""
    import pandas as pd  # noqa: PLC0415  # a second of a processor's time, which few commands need

    table = pd.DataFrame(list(rows), columns=list(columns))
    cells = [list(table.columns), *table.astype(object).values.tolist()]
    return "".join(",".join(csv_cell(cell_text(value)) for value in row) + "\n" for row in cells)


def cell_text(value: Any) -> str:
    """A cell's text: numbers without needless digits, nothing for None."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return value if isinstance(value, str) else f"{value:.10g}"


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Writes CSV in UTF-8 with a byte-order mark, so that spreadsheets recognise the encoding."""
    write_atomic(path, BOM + csv_rows([header, *([cell_text(value) for value in row] for row in rows)]))
