"""The journal: finished work, which survives when the grader is killed.

One SQLite file in the output folder. A test is stored moments after it ends, a submission as soon as its suite ends;
stored work is never repeated. A row's key is a hash of everything that the result depends on (submission, suite,
libraries, assignment, reference, toolchain, seed), so a change of any of them makes another row, and the old rows are
the history. Harness failures and inconclusive times are kept for display, and replaced by the next attempt.
"""

import contextlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from grader.base.errors import GraderError
from grader.base.files import sha256_bytes
from grader.base.schema import Fields, SchemaError
from grader.base.storage import DamagedError, journal_problem
from grader.model.handed import Handed, handed_document, handed_from, student_from
from grader.model.record import Record, record_from_json
from grader.model.result import TestResult, test_from
from grader.model.roster import Student

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS record (
  serial INTEGER PRIMARY KEY,
  assignment TEXT NOT NULL, folder TEXT NOT NULL, key TEXT NOT NULL,
  is_final INTEGER NOT NULL, document TEXT NOT NULL, run TEXT NOT NULL, attempt INTEGER NOT NULL,
  UNIQUE (assignment, folder, key)
);
CREATE INDEX IF NOT EXISTS record_run ON record (assignment, run);
CREATE TABLE IF NOT EXISTS test (
  key TEXT NOT NULL, folder TEXT NOT NULL, name TEXT NOT NULL, document TEXT NOT NULL,
  PRIMARY KEY (folder, key, name)
);
CREATE TABLE IF NOT EXISTS regrade (
  assignment TEXT NOT NULL, folder TEXT NOT NULL, run TEXT NOT NULL, number INTEGER NOT NULL,
  reason TEXT NOT NULL, staff TEXT NOT NULL,
  PRIMARY KEY (assignment, folder, run)
);
CREATE TABLE IF NOT EXISTS class (
  assignment TEXT NOT NULL, folder TEXT NOT NULL, number INTEGER NOT NULL, key TEXT NOT NULL,
  student TEXT NOT NULL, handed TEXT NOT NULL,
  PRIMARY KEY (assignment, folder, number)
);
"""
_ATTEMPTS = "SELECT document, student, handed FROM record JOIN class USING (assignment, folder, key) WHERE assignment=?"
_VERSION = "4"  # of the documents too: results of format 2
UNREADABLE = (SchemaError, ValueError, KeyError, TypeError, RecursionError)  # raised for a damaged document


def gpu_key(key: str) -> str:
    """The key of a GPU's tests, because the virtual GPU's have the same names."""
    return f"{key}/cuda"


def is_readable(read: Callable[[str], object], document: str) -> bool:
    """Whether a stored document can still be parsed."""
    try:
        read(document)
    except UNREADABLE:
        return False
    return True


def _test(document: str) -> TestResult:
    return test_from(Fields(json.loads(document), "journal"))


@dataclass(frozen=True)
class Asked:
    """A requested regrade: its number among the run's regrades, the reason, and who requested it."""

    number: int
    reason: str
    staff: str


class Journal:
    """The journal of one output folder. Thread-safe."""

    def __init__(self, path: Path) -> None:
        """Opens or creates the file; raises GraderError if it is not a journal."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._mutex = threading.Lock()
        self._outlines: dict[str, Record] = {}  # by their documents' hashes
        try:
            # Records contain seeds. SQLite gives its other files the same mode as this one.
            with contextlib.suppress(OSError):  # SQLite reports the error better
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=30)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript(_SCHEMA)
        except sqlite3.Error as error:
            raise journal_problem(path, error) from error
        if self._meta("version", _VERSION) != _VERSION:
            raise GraderError(f"{path} was written by another version of the grader; choose another folder with --out")

    def close(self) -> None:
        """Closes the file."""
        with self._mutex, contextlib.suppress(sqlite3.Error):  # the failure was reported before
            self._db.close()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """The database for one thread at a time; errors say what to type."""
        with self._mutex:
            try:
                yield self._db
            except sqlite3.Error as error:
                raise journal_problem(self._path, error) from error

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Like `_reading`, but for writes: a transaction that is committed or rolled back as a whole."""
        with self._reading() as database, database:
            database.execute("BEGIN IMMEDIATE")
            yield database

    def find(self, assignment: str, folder: str, key: str) -> Record | None:
        """The final result for this key, if there is one."""
        place = (assignment, folder, key)
        with self._reading() as database:
            row = database.execute(
                "SELECT document FROM record WHERE assignment=? AND folder=? AND key=? AND is_final=1", place
            ).fetchone()
        if row is None:
            return None
        with contextlib.suppress(*UNREADABLE):
            return record_from_json(row[0])
        with self._writing() as database:  # it will be graded again, so remove it
            database.execute("DELETE FROM record WHERE assignment=? AND folder=? AND key=?", place)
        return None

    def has(self, assignment: str, folder: str, key: str) -> bool:
        """Whether there is a final result for this key."""
        return self._is_there("folder=? AND key=?", assignment, folder, key)

    def has_run(self, assignment: str, run: str) -> bool:
        """Whether there is a final result of a run of the same code."""
        return self._is_there("run=?", assignment, run)

    def _is_there(self, condition: str, *values: str) -> bool:
        query = f"SELECT 1 FROM record WHERE assignment=? AND {condition} AND is_final=1"  # noqa: S608
        with self._reading() as database:
            return database.execute(query, values).fetchone() is not None

    def find_runs(self, assignment: str, run: str, most: int, folder: str, regrade: int) -> list[Record]:
        """Some final results of a run of the same code: the folder's own of this regrade first, then the latest.

        The folder's own results of other regrades are left out, because they are not in force.
        """
        with self._reading() as database:
            rows = database.execute(
                "SELECT document FROM record WHERE assignment=? AND run=? AND is_final=1 AND (folder<>? OR "
                "substr(key, instr(key || '#', '#'))=?) ORDER BY folder=? DESC, serial DESC LIMIT ?",
                (assignment, run, folder, f"#{regrade}" if regrade else "", folder, most),
            ).fetchall()
        return [record_from_json(row[0]) for row in rows if is_readable(record_from_json, row[0])]

    def has_regrades(self, assignment: str, folder: str) -> bool:
        """Whether a regrade was ever requested for a folder."""
        with self._reading() as database:
            row = database.execute(
                "SELECT 1 FROM regrade WHERE assignment=? AND folder=? UNION ALL "
                "SELECT 1 FROM record WHERE assignment=? AND folder=? AND key LIKE '%#%' LIMIT 1",
                (assignment, folder, assignment, folder),
            ).fetchone()
        return row is not None

    def regrades(self, assignment: str, folder: str, run: str) -> int:
        """The number of a run's last finished regrade, which is the one that counts; 0 if there is none."""
        with self._reading() as database:
            rows = database.execute(
                "SELECT key FROM record WHERE assignment=? AND folder=? AND run=? AND is_final=1 AND key LIKE '%#%'",
                (assignment, folder, run),
            ).fetchall()
        return max((int(row[0].rpartition("#")[2]) for row in rows), default=0)

    def asked(self, assignment: str, folder: str, run: str) -> Asked | None:
        """The last requested regrade of a run, until `end_regrades`."""
        with self._reading() as database:
            row = database.execute(
                "SELECT number, reason, staff FROM regrade WHERE assignment=? AND folder=? AND run=?",
                (assignment, folder, run),
            ).fetchone()
        return Asked(*row) if row else None

    def ask(self, assignment: str, folder: str, run: str, asked: Asked) -> None:
        """Records a requested regrade."""
        row = (assignment, folder, run, asked.number, asked.reason, asked.staff)
        with self._writing() as database:
            database.execute("INSERT OR REPLACE INTO regrade VALUES (?, ?, ?, ?, ?, ?)", row)

    def end_regrades(self) -> None:
        """Removes finished requests: the same words then make a new one."""
        with self._writing() as database:
            database.execute(
                "DELETE FROM regrade WHERE EXISTS (SELECT 1 FROM record WHERE record.assignment=regrade.assignment "
                "AND record.folder=regrade.folder AND record.run=regrade.run AND record.is_final=1 "
                "AND record.key LIKE '%#' || regrade.number)"
            )

    def last(self, assignment: str, folder: str, number: int) -> Record | None:
        """The latest result of a folder's attempt with this number, final or not."""
        with self._reading() as database:
            row = database.execute(
                "SELECT document FROM record WHERE assignment=? AND folder=? AND attempt=? "
                "ORDER BY serial DESC LIMIT 1",
                (assignment, folder, number),
            ).fetchone()
        return record_from_json(row[0]) if row and is_readable(record_from_json, row[0]) else None

    def add(self, record: Record) -> None:
        """Stores a result durably. A final one is never replaced."""
        is_final = int(record.is_final)
        with self._writing() as database:
            database.execute(
                "INSERT INTO record (assignment, folder, key, is_final, document, run, attempt) "
                "VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET is_final=excluded.is_final, document=excluded.document WHERE is_final=0",
                (
                    record.assignment,
                    record.folder,
                    record.key,
                    is_final,
                    record.to_json(),
                    record.run,
                    record.handed.number,
                ),
            )
            if is_final:
                database.execute(
                    "DELETE FROM test WHERE folder=? AND key IN (?, ?)",
                    (record.folder, record.key, gpu_key(record.key)),
                )

    def add_tests(self, folder: str, key: str, tests: Iterable[TestResult]) -> None:
        """Durably stores finished tests of an unfinished run."""
        rows = [(key, folder, test.name, json.dumps(asdict(test))) for test in tests]
        with self._writing() as database:
            database.executemany("INSERT OR IGNORE INTO test VALUES (?, ?, ?, ?)", rows)

    def tests(self, folder: str, key: str) -> list[TestResult]:
        """Tests that finished before the run was interrupted."""
        with self._reading() as database:
            rows = database.execute("SELECT document FROM test WHERE folder=? AND key=?", (folder, key)).fetchall()
        return [_test(row[0]) for row in rows if is_readable(_test, row[0])]

    def set_class(self, assignment: str, records: Sequence[Record], *, whole: bool) -> None:
        """Sets the current result of each folder's attempts; with `whole`, folders missing here are dropped.

        A listed folder gets exactly the listed attempts.
        """
        rows = [
            (
                assignment, record.folder, record.handed.number, record.key,
                json.dumps(asdict(record.student)), json.dumps(handed_document(record.handed)),
            )
            for record in records
        ]  # fmt: skip
        with self._writing() as database:
            if whole:
                database.execute("DELETE FROM class WHERE assignment=?", (assignment,))
            else:
                folders = {(assignment, record.folder) for record in records}
                database.executemany("DELETE FROM class WHERE assignment=? AND folder=?", folders)
            database.executemany("INSERT OR REPLACE INTO class VALUES (?, ?, ?, ?, ?, ?)", rows)

    def assignments(self) -> list[str]:
        """Assignments with results."""
        with self._reading() as database:
            return [row[0] for row in database.execute("SELECT DISTINCT assignment FROM class ORDER BY 1")]

    def attempts(self, assignment: str) -> list[Record]:
        """The result of every attempt, by folder, oldest first, under the students' current names.

        They are outlines: a class's full results would not fit into memory. `whole` returns a full one.
        """
        return list(self._attempts(assignment, self._outline))

    def _outline(self, document: str) -> Record:
        digest = sha256_bytes(document.encode())  # each is needed several times, and parsing takes 100 times as long
        if digest not in self._outlines:
            self._outlines[digest] = record_from_json(document).outline()
        return self._outlines[digest]

    def whole(self, assignment: str, folder: str, number: int) -> Record:
        """The full record of one attempt."""
        return next(self._attempts(assignment, record_from_json, " AND folder=? AND number=?", folder, number))

    def _attempts(
        self, assignment: str, read: Callable[[str], Record], where: str = "", *values: object
    ) -> Iterator[Record]:
        query = f"{_ATTEMPTS}{where} ORDER BY folder, number"
        with self._reading() as database:
            for document, student, handed in database.execute(query, (assignment, *values)):
                try:
                    record = replace(
                        read(document),
                        student=student_from(Fields(json.loads(student), "journal")),
                        handed=handed_from(Fields(json.loads(handed), "journal")),
                    )
                except UNREADABLE as error:
                    why = f"a result of {assignment} can't be read ({error})"
                    raise DamagedError(self._path, why) from error
                yield record

    def owners(self) -> list[tuple[str, Student, Handed]]:
        """Every folder with its owners."""
        with self._reading() as database:
            rows = database.execute("SELECT DISTINCT folder, student, handed FROM class ORDER BY 1, 2, 3").fetchall()
        return [
            (
                folder,
                student_from(Fields(json.loads(student), "journal")),
                handed_from(Fields(json.loads(handed), "journal")),
            )
            for folder, student, handed in rows
        ]

    def students(self) -> list[tuple[Student, bool]]:
        """Everyone with a result or a missing one, including team members, and whether they are on the roster."""
        with self._reading() as database:
            rows = database.execute("SELECT DISTINCT student, handed FROM class").fetchall()
        found: dict[tuple[Student, bool], None] = {}
        for student, handed in rows:
            how = handed_from(Fields(json.loads(handed), "journal"))
            for one in how.group or (student_from(Fields(json.loads(student), "journal")),):
                found[one, how.is_matched] = None
        return list(found)

    def current(self, assignment: str) -> list[Record]:
        """The result of each folder's last attempt."""
        return list({record.folder: record for record in self.attempts(assignment)}.values())

    def with_history(self, assignment: str) -> set[str]:
        """The folders with several results, for which `history` is useful."""
        with self._reading() as database:
            rows = database.execute(
                "SELECT folder FROM record WHERE assignment=? GROUP BY folder HAVING count(*)>1", (assignment,)
            ).fetchall()
        return {row[0] for row in rows}

    def history(self, assignment: str, folder: str) -> list[Record]:
        """Outlines of all results of a folder, oldest first."""
        with self._reading() as database:
            rows = database.execute(
                "SELECT document FROM record WHERE assignment=? AND folder=? AND is_final=1 ORDER BY serial",
                (assignment, folder),
            )
            return [record_from_json(row[0]).outline() for row in rows if is_readable(record_from_json, row[0])]

    def state(self) -> str:
        """A hash that changes with the result of `attempts`; cheap enough to poll."""
        with self._reading() as database:
            rows = database.execute(
                "SELECT assignment, folder, number, key, student, handed, is_final, serial "
                "FROM record JOIN class USING (assignment, folder, key) ORDER BY 1, 2, 3"
            )
            return sha256_bytes(repr(rows.fetchall()).encode())

    def remember(self, name: str, text: str) -> None:
        """Stores a text under a name, replacing the previous one."""
        with self._writing() as database:
            database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"kept {name}", text))

    def recall(self, name: str) -> str:
        """The text stored under a name; empty if there is none."""
        with self._reading() as database:
            row = database.execute("SELECT value FROM meta WHERE name=?", (f"kept {name}",)).fetchone()
        return str(row[0]) if row else ""

    def _meta(self, name: str, first: str) -> str:
        with self._writing() as database:
            database.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (name, first))
            return str(database.execute("SELECT value FROM meta WHERE name=?", (name,)).fetchone()[0])
