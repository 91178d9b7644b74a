"""CSV files that people and platforms made: any usual separator and encoding, cells of many lines."""

import csv
import difflib
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.base.errors import GraderError
from grader.base.files import FileError, read_regular
from grader.base.names import shown

_LIMIT = 64 << 20
_DELIMITERS = ",;\t"
_NEEDS_QUOTES = re.compile(r'[,;|\t"\r\n]')
BOM = "\ufeff"


@dataclass(frozen=True)
class CsvFile:
    """A CSV file and how it is written. Rows have the number of the line they begin on; empty ones are left out."""

    name: str
    header: list[str]
    rows: list[tuple[int, list[str]]]
    delimiter: str
    newline: str
    has_bom: bool

    def titles(self, known: Sequence[str], needed: Sequence[str]) -> list[str]:
        """The header in lower case; raises GraderError for a title that is not `known`, or one of `needed` missing."""
        header = [cell.strip().casefold() for cell in self.header]
        for title in header:
            if title and title not in known:
                near = difflib.get_close_matches(title, known, n=1)
                meant = f'; did you mean "{near[0]}"?' if near else ""
                raise GraderError(
                    f'{self.name}: line 1: unknown column "{shown(title, 40)}"{meant}\n'
                    f"The columns are {','.join(known)}"
                )
        if missing := [title for title in needed if title not in header]:
            raise GraderError(f"{self.name}: the first line has no column {missing[0]}.\nIt needs {','.join(needed)}")
        return header


def read_csv(path: Path) -> CsvFile:
    """Reads a file with a header line; raises GraderError saying what is wrong with it, and on which line."""
    return parse_csv(decoded(read_table_bytes(path, _LIMIT)), str(path))


def read_table_bytes(path: Path, limit: int) -> bytes:
    """The raw bytes of a table's file; raises GraderError if it is missing, not a file, or larger than `limit`."""
    try:
        return read_regular(path, limit)
    except FileNotFoundError:
        raise GraderError(f"{path}: no such file") from None
    except FileError as error:
        raise GraderError(str(error)) from error


def parse_csv(text: str, name: str) -> CsvFile:
    """The same as `read_csv`, for text that was read already."""
    has_bom = text.startswith(BOM)
    text = text.removeprefix(BOM)
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=lambda one: _cells(first, one))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    table: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                table.append((line, row))
            line = reader.line_num + 1
    except csv.Error as error:
        raise GraderError(
            f"{name}: line {line}: {error}.\nPut the whole cell between quotes, and write a quote inside it twice"
        ) from error
    if not table:
        raise GraderError(f"{name} is empty; its first line should name the columns")
    return CsvFile(name, table[0][1], table[1:], delimiter, "\r\n" if first.endswith("\r") else "\n", has_bom)


def _cells(line: str, delimiter: str) -> int:
    """How many cells a line has; quotes keep what is inside them together."""
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:
        return 0


def decoded(data: bytes) -> str:
    """Text in the encoding that spreadsheets wrote it in: UTF-8, UTF-16, else Windows-1252."""
    if len(data) > 1 and data[:2].count(0) == 1:  # UTF-16 without a mark: every other byte of a title is 0
        return data.decode("utf-16-be" if data[0] == 0 else "utf-16-le", "replace")
    encodings = ("utf-16",) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ()
    for encoding in (*encodings, "utf-8"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("cp1252", "replace")


def csv_rows(rows: Iterable[Iterable[str]], *, delimiter: str = ",", newline: str = "\n") -> str:
    """Rows as CSV; a reader gets exactly these cells back, whichever usual separator it takes."""
    return "".join(delimiter.join(map(csv_cell, row)) + newline for row in rows)


def csv_cell(value: str) -> str:
    """A cell between quotes where it needs them."""
    return '"' + value.replace('"', '""') + '"' if _NEEDS_QUOTES.search(value) else value
