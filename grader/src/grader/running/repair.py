"""Recovers the readable part of a damaged journal.

Tables are read from both ends up to the damage: a damaged page loses the rows on it. An invalid result is left out, so
that it is graded again. The secret of the seeds is in another file, so all seeds stay the same.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.base.errors import GraderError
from grader.model.record import record_from_json
from grader.running.store import Journal, is_readable

_TABLES = {
    "meta": ("name", "value"),
    "record": ("assignment", "folder", "key", "is_final", "run", "attempt", "document"),
    "regrade": ("assignment", "folder", "run", "number", "reason", "staff"),
    "test": ("key", "folder", "name", "document"),
    "class": ("assignment", "folder", "number", "key", "student", "handed"),
}


@dataclass(frozen=True)
class Repaired:
    """How many results were kept, and where the damaged file is now."""

    results: int
    damaged: Path


def repair(path: Path) -> Repaired:
    """Replaces a damaged journal, which is kept under another name."""
    fresh = path.with_name("journal.repaired.sqlite")
    _remove(fresh)
    rows = _rows(path)
    rows["record"] = [row for row in rows["record"] if is_readable(record_from_json, str(row[-1]))]
    Journal(fresh).close()
    with contextlib.closing(sqlite3.connect(fresh)) as database, database:
        database.execute("DELETE FROM meta")
        for table, columns in _TABLES.items():
            places = ", ".join("?" * len(columns))
            database.executemany(
                f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({places})",  # noqa: S608
                rows[table],
            )
        # A class refers to results: a lost one is added again when it is graded.
        database.execute(
            "DELETE FROM class WHERE NOT EXISTS (SELECT 1 FROM record WHERE record.assignment=class.assignment "
            "AND record.folder=class.folder AND record.key=class.key)"
        )
    damaged = next(
        name for index in range(1, 1000) if not (name := path.with_name(f"journal.damaged-{index}.sqlite")).exists()
    )
    path.rename(damaged)
    for suffix in ("-wal", "-shm"):  # they belong to the old file
        beside = path.with_name(path.name + suffix)
        if beside.exists():
            beside.rename(damaged.with_name(damaged.name + suffix))
    fresh.rename(path)
    return Repaired(len(rows["record"]), damaged)


def _remove(path: Path) -> None:
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)


def _rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    try:
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.text_factory = lambda data: data.decode("utf-8", "replace")
            return {table: list(_table(database, table, columns)) for table, columns in _TABLES.items()}
    except sqlite3.Error as error:
        raise GraderError(
            f"nothing of {path} can be read ({error}).\nMove it away; the same command as before then grades afresh"
        ) from error


def _table(database: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> Iterator[tuple[object, ...]]:
    """The readable rows, in insertion order."""
    found: dict[int, tuple[object, ...]] = {}
    for order in ("ASC", "DESC"):
        # NOT INDEXED reads the table itself, since an index may be damaged where the table is not.
        query = f"SELECT rowid, {', '.join(columns)} FROM {table} NOT INDEXED ORDER BY rowid {order}"  # noqa: S608
        with contextlib.suppress(sqlite3.DatabaseError):
            for row in database.execute(query):
                found[row[0]] = row[1:]
    return (found[rowid] for rowid in sorted(found))
