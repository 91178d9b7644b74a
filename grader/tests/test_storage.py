"""Full, unwritable or damaged disks: a sentence says what to type, and nothing is lost."""

import contextlib
import errno
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import in_namespace, needs_mounts
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.base.storage import need_space, storage_problem
from grader.commands.cli import main
from grader.running.repair import repair
from grader.running.store import Journal

pytestmark = pytest.mark.in_turn

Submissions = Callable[..., Path]
Typed = Callable[..., tuple[int, str]]  # a command line as typed: its status, and what it wrote to standard error
CLASS = [f"s{index}" for index in range(12)]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    def typed(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["grader", *map(str, arguments)])
        status = main()
        return status, capsys.readouterr().err

    return typed


@pytest.fixture
def graded(in_checkout: Layout, submissions: Submissions, run: Typed) -> Path:
    """A class that was graded: its folder of submissions."""
    folder = submissions(**dict.fromkeys(CLASS, "// padding " + "x" * 6000))
    assert run("grade", folder, "--no-sandbox")[0] == 0
    return folder


def journal(layout: Layout) -> Path:
    return layout.root / "out/journal.sqlite"


def rows(path: Path, query: str) -> list[tuple[str, ...]]:
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


def damage(path: Path, page: int) -> None:
    size = rows(path, "PRAGMA page_size")[0][0]
    with path.open("r+b") as file:
        file.seek((page - 1) * int(size))
        file.write(b"\xa5" * int(size))


def runs(layout: Layout) -> list[str]:
    return [line for line in (layout.build / "bin/runs.log").read_text().splitlines() if line.startswith("run ")]


@pytest.mark.daily
def test_a_damaged_page_is_told_and_repaired(in_checkout: Layout, graded: Path, run: Typed) -> None:
    path = journal(in_checkout)
    gradebook = (in_checkout.root / "out/gradebook.csv").read_bytes()
    pages = int(rows(path, "PRAGMA page_count")[0][0])
    whole = path.read_bytes()
    kept = set()
    for page in range(2, pages + 1):
        path.write_bytes(whole)
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        damage(path, page)
        status, said = run("report")
        assert status in (0, 1)  # a damaged page of an unused index is not noticed
        if status:
            assert "grader repair --out out" in said
            assert "Traceback" not in said
            assert run("repair")[0] == 0
            kept.add(len(rows(path, "SELECT folder FROM record")))
    assert kept - {len(CLASS)}  # some pages held results
    assert max(kept) >= len(CLASS) - 3
    before = len(runs(in_checkout))
    assert run("grade", graded, "--no-sandbox")[0] == 0
    assert len(runs(in_checkout)) <= before + len(CLASS)
    assert (in_checkout.root / "out/gradebook.csv").read_bytes() == gradebook


def test_repair_grades_only_what_was_lost(in_checkout: Layout, graded: Path, run: Typed) -> None:
    path = journal(in_checkout)
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE record SET document='{' WHERE folder='s3'")
    status, said = run("report")
    assert status == 1
    assert "is damaged" in said
    assert repair(path).results == len(CLASS) - 1
    assert run("report")[0] == 0
    before = runs(in_checkout)
    assert run("grade", graded, "--no-sandbox")[0] == 0
    assert runs(in_checkout)[len(before) :] == ["run s3"]


DAMAGED = ["", "{", "[]", "{}", '{"format": 1}', "\ud800", "9" * 5000, "[" * 100_000]


def test_damaged_results_are_graded_again(in_checkout: Layout, graded: Path, run: Typed) -> None:
    with contextlib.closing(sqlite3.connect(journal(in_checkout))) as database, database:
        for name, document in zip(CLASS, DAMAGED, strict=False):
            data = document.encode("utf-8", "surrogatepass")
            database.execute("UPDATE record SET document=CAST(? AS TEXT) WHERE folder=?", (data, name))
    before = runs(in_checkout)
    status, said = run("grade", graded, "--no-sandbox")
    assert status == 1  # text that is no UTF-8 is the database's own complaint
    assert "grader repair --out out" in said
    assert run("repair")[0] == 0
    assert run("grade", graded, "--no-sandbox")[0] == 0
    assert sorted(runs(in_checkout)[len(before) :]) == [f"run {name}" for name in CLASS[: len(DAMAGED)]]
    assert run("report")[0] == 0


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_file_that_is_no_journal(in_checkout: Layout, submissions: Submissions, run: Typed, content: bytes) -> None:
    journal(in_checkout).parent.mkdir()
    journal(in_checkout).write_bytes(content)
    status, said = run("grade", submissions(ada=""), "--no-sandbox")
    assert status == (1 if content else 0)
    assert not content or "--out" in said


def test_a_full_journal_is_told_and_goes_on(
    in_checkout: Layout, submissions: Submissions, run: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = submissions(**dict.fromkeys(CLASS, "// padding " + "x" * 6000))

    class Full(Journal):
        def __init__(self, path: Path) -> None:
            super().__init__(path)
            self._db.execute("PRAGMA max_page_count=40")

    monkeypatch.setattr("grader.commands.common.Journal", Full)
    status, said = run("grade", folder, "--no-sandbox", "--jobs", "1")
    assert status == 1
    assert "the disk is full" in said
    assert "run the same command" in said
    done = [name for (name,) in rows(journal(in_checkout), "SELECT folder FROM record")]
    assert done
    monkeypatch.setattr("grader.commands.common.Journal", Journal)
    before = runs(in_checkout)
    assert run("grade", folder, "--no-sandbox")[0] == 0
    assert not {f"run {name}" for name in done} & set(runs(in_checkout)[len(before) :])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO])
@pytest.mark.parametrize(
    "where", ["pages.publish.write_gradebook", "pages.cards.write_atomic", "running.build.shutil.rmtree"]
)
def test_errors_of_the_disk_are_sentences(
    in_checkout: Layout,
    submissions: Submissions,
    run: Typed,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    where: str,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), "out/some\x1b[31mwhere")

    monkeypatch.setattr(f"grader.{where}", fail)
    status, said = run("grade", submissions(ada=""), "--no-sandbox")
    assert status == 1
    assert "Finished work is kept" in said.replace("\n", " ")
    assert "\x1b" not in said


def test_other_errors_are_not_taken_for_the_disks() -> None:
    assert storage_problem(OSError(errno.ENOENT, "x")) is None
    assert storage_problem(OSError(errno.ENOSPC, "full")) is not None


def test_a_nearly_full_disk_is_told_before_anything_begins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    need_space(tmp_path / "not" / "there")
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr("grader.base.storage.shutil.disk_usage", lambda _: usage._replace(free=1 << 20))
    with pytest.raises(GraderError, match="1 MB left"):
        need_space(tmp_path / "not" / "there")


@needs_mounts
def test_a_folder_on_a_read_only_disk(in_checkout: Layout, graded: Path) -> None:
    out = in_checkout.root / "out"
    script = 'mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"; shift; exec "$@"'
    for arguments in (["grade", graded, "--no-sandbox"], ["report"], ["leaderboard"], ["repair"]):
        ended = in_namespace(script, out, sys.executable, "-m", "grader", *arguments)
        assert ended.returncode == 1, ended.stderr
        assert "--out DIR" in ended.stderr
        assert "Traceback" not in ended.stderr


@needs_mounts
def test_a_full_disk_is_no_compile_error(in_checkout: Layout, submissions: Submissions) -> None:
    """A class on a disk that fills up during grading: nobody gets a zero for it."""
    folder = submissions(ada="", grace="", zuse="// FILL_THE_DISK")
    build = in_checkout.build_script
    build.write_text(
        build.read_text().replace(
            "# Tests put",
            'if grep -q FILL_THE_DISK "$source"; then cat /dev/zero > "$out" || exit 2; fi\n# Tests put',
        )
    )
    out = in_checkout.root / "out"
    out.mkdir()
    script = """mount -t tmpfs -o size=64m none "$1"; shift
    "$@" && status=0 || status=$?
    rm -rf out/work; cp out/journal.sqlite* ..; exit $status"""
    ended = in_namespace(script, out, sys.executable, "-m", "grader", "grade", folder, "--no-sandbox", "--jobs", "1")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "MB left" in ended.stderr or "No space left" in ended.stderr
    assert "Traceback" not in ended.stderr
    statuses = rows(in_checkout.root.parent / "journal.sqlite", "SELECT folder FROM record ORDER BY folder")
    assert statuses == [("ada",), ("grace",)]
