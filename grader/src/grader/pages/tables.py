"""The gradebook: one row for each student, in a form that spreadsheets can open."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from grader.base.cells import safe_cell
from grader.base.files import write_atomic
from grader.model.record import Record

_IDENTITY = ("name", "sid", "email", "submission")
_NEEDS_QUOTES = re.compile(r'[,;|\t"\r\n]')


def csv_text(table: pd.DataFrame) -> str:
    """The table as CSV."""
    rows = [list(table.columns), *table.astype(object).values.tolist()]
    return "".join(",".join(_csv_cell(value) for value in row) + "\n" for row in rows)


def _csv_cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"' if _NEEDS_QUOTES.search(value) else value
    return f"{value:.10g}"


def gradebook(records: Mapping[str, Sequence[Record]]) -> pd.DataFrame:
    """All students' points by assignment and criterion.

    A submission that the harness failed on has empty cells, not zeros. Where a GPU measured, the ratio of each time has
    a column, which is empty where the repeats did not decide. With one assignment, criteria are columns by
    themselves; with several, each column says whose it is.
    """
    frames = [_frame(name, own, prefixed=len(records) > 1) for name, own in records.items()]
    if not frames:
        return pd.DataFrame(columns=list(_IDENTITY))
    table = frames[0]
    for frame in frames[1:]:
        table = table.merge(frame, on=list(_IDENTITY), how="outer")
    return table.sort_values(["name", "submission"], key=lambda column: column.str.casefold(), ignore_index=True)


def _frame(name: str, records: Sequence[Record], *, prefixed: bool) -> pd.DataFrame:
    prefix = f"{name}." if prefixed else ""
    rows: list[dict[str, Any]] = []
    for record in records:
        row: dict[str, Any] = {
            "name": safe_cell(record.student.name),
            "sid": safe_cell(record.student.sid),
            "email": safe_cell(record.student.email),
            "submission": safe_cell(record.folder),
            name: record.score.total if record.score else None,
            f"{prefix}verdict": record.verdict,
            f"{prefix}rung": record.score.rung if record.score else "",
            f"{prefix}bonus": record.score.bonus if record.score else None,
        }
        if record.score:
            row |= {f"{prefix}{criterion.id}": criterion.points for criterion in record.score.criteria}
        if record.result:
            row |= {f"{prefix}{timing.criterion} ratio": timing.value for timing in record.result.timings}
        rows.append(row)
    columns = list(dict.fromkeys(column for row in rows for column in row)) or [*_IDENTITY, name]
    return pd.DataFrame(rows, columns=columns)


def write_gradebook(path: Path, records: Mapping[str, Sequence[Record]]) -> None:
    """Writes gradebook.csv in UTF-8 with a byte-order mark, which is how spreadsheets know it."""
    write_atomic(path, "\ufeff" + csv_text(gradebook(records)))
