"""A miniature checkout: a fake build script, suite and assignment that follow the contracts, and a class."""

import contextlib
import fcntl
import importlib.util
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chromium
import pytest

from grader.authoring.shard import Shard
from grader.authoring.solutions import DECLARED, solutions_in
from grader.base import cgroup, sandbox
from grader.base.layout import Layout

FAKE = Path(__file__).parent / "fake"
ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("LOCKSTEP_BUILD", ROOT / "build"))  # of the real checkout
ARCHITECTURE = ROOT / "docs/concepts/architecture.md"
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell that started pytest in the background makes child processes ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
_HEAD = 2  # rows of a table: the titles and the line below them


def parts_in_order(section: str) -> list[str]:
    """The first column of the table under a heading of the page on architecture: the parts, lowest first."""
    text = ARCHITECTURE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    rows = [line for line in text.split("\n") if line.startswith("|")][_HEAD:]
    return [row.split("|")[1].strip(" `") for row in rows]


def make_executable(path: Path) -> None:
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def hidden_entries() -> dict[str, bytes]:
    """Solutions stored as entries of a file, by the path that each would have as a file."""
    return {
        str(hidden / solution.name): solution.source
        for hidden in (ROOT / "reference").iterdir()
        for submission in (path.name for suffix in ("cu", "py") for path in hidden.glob(f"*.{suffix}"))
        for kind in DECLARED
        for solution in solutions_in(hidden, kind, submission)[0]
        if solution.base
    }


@pytest.fixture
def checkout(tmp_path: Path) -> Layout:
    """A repository with one assignment, 90_fake, built."""
    return make_checkout(tmp_path)


def make_checkout(tmp_path: Path) -> Layout:
    """Makes such a repository in any folder, so that a module's tests can share one."""
    root = tmp_path / "checkout"
    layout = Layout(root, root / "build")
    for folder in (layout.assignment("90_fake"), layout.reference("90_fake") / "wrong", layout.libraries):
        folder.mkdir(parents=True)
    (root / "harness" / "suites").mkdir(parents=True)
    for folder in layout.build_folders:
        folder.mkdir()
    (root / "build" / "bin").mkdir()
    shutil.copy(FAKE / "assignment.toml", layout.assignment("90_fake"))
    shutil.copy(FAKE / "build.sh", layout.build_script)
    make_executable(layout.build_script)
    layout.glue("90_fake").write_text("// glue\n")
    (layout.libraries / "liblockstep_worker.a").write_text("library\n")
    (layout.assignment("90_fake") / "ladder.cu").write_text(
        "// TODO(alpha): this\n// TODO(beta): that\n// TODO(gamma): more\n"
        "// fail alpha_one WRONG\n// fail beta_two WRONG\n// fail gamma_bonus WRONG\n// who stub\n"
    )
    (layout.reference("90_fake") / "ladder.cu").write_text("// who reference\n")
    for path, text in (
        (
            layout.assignment("90_fake") / "README.md",
            "# A ladder\n\n[Task](../../docs/task.md), [secret](../../docs/how.md)\n\n"
            "`alpha_one`, `beta_two`, `gamma_bonus`\n",
        ),
        (layout.assignment("90_fake") / "Makefile", "include ../assignment.mk\n"),
        (layout.assignment("90_fake") / "ladder.h", "void alpha_one();\n"),
        (layout.reference("90_fake") / "hidden_test.cc", "// hidden tests\n"),
        (root / "harness" / "suites" / "90_fake_test.cc", "// public tests\n"),
        (root / "harness" / "tests" / "inner_test.cc", "// not for students\n"),
        (root / "docs" / "task.md", "# Task\n\n[Elsewhere](how.md)\n"),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    suite = root / "build" / "bin" / "90_fake_suite"
    # As a shell script, the first line starts Python, whose path may have blanks; in Python it is a string.
    start = f"#!/bin/sh\n'''exec' '{sys.executable}' -IS \"$0\" \"$@\"\n' '''\n"
    suite.write_text(start + (FAKE / "suite.py").read_text())
    make_executable(suite)
    nvcc = tmp_path / "toolkit" / "bin" / "nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.88'\n")
    make_executable(nvcc)
    (layout.build / "nvcc.txt").write_text(f"{nvcc}\n")
    return layout


def add_assignment(layout: Layout, name: str, file: str) -> None:
    """An assignment like 90_fake with other names."""
    first = "90_fake"
    for folder in (layout.assignment, layout.reference):
        shutil.copytree(folder(first), folder(name))
        (folder(name) / "ladder.cu").rename(folder(name) / file)
    toml = layout.assignment(name) / "assignment.toml"
    toml.write_text(toml.read_text().replace(first, name).replace("ladder.cu", file))
    shutil.copy(layout.glue(first), layout.glue(name))
    suite = layout.suite(first).with_name(f"{name}_suite")
    suite.write_text(layout.suite(first).read_text().replace(first, name))
    make_executable(suite)


@pytest.fixture
def submissions(tmp_path: Path) -> Callable[..., Path]:
    """Makes a folder of submissions from names and sources."""

    def make(**sources: str) -> Path:
        folder = tmp_path / "submissions"
        for name, source in sources.items():
            (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / name / "ladder.cu").write_text(f"// who {name}\n{source}\n")
        return folder

    return make


@pytest.fixture
def in_checkout(checkout: Layout) -> Iterator[Layout]:
    """The checkout as the current folder."""
    before = Path.cwd()
    os.chdir(checkout.root)
    yield checkout
    os.chdir(before)


def journal_rows(layout: Layout, query: str) -> list[tuple[str, ...]]:
    path = layout.root / "out/journal.sqlite"
    if not path.exists():
        return []
    with contextlib.closing(sqlite3.connect(path)) as database:
        try:
            return database.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []  # killed before the tables were made


@pytest.fixture
def alone_with_boxes() -> Iterator[None]:
    """Serialises tests with sandboxes by user id: they count leftover processes."""
    with (Path(tempfile.gettempdir()) / "lockstep-tests-of-boxes").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def needs(is_there: bool, missing: str) -> pytest.MarkDecorator:
    """Skips a test if a requirement is missing; in CI it fails instead, and `missing` says what to install.

    .ci/run sets LOCKSTEP_CI.
    """
    return pytest.mark.needs(is_there, missing)


ONCE_A_DAY = "LOCKSTEP_ALL" in os.environ  # make check-all: once a day
SHARE = Shard.of_text(os.environ.get("LOCKSTEP_SHARE", "1/1"))  # of the tests marked in_turn: make check sets it


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test that this run leaves out, or that lacks a requirement here; in CI the latter fails."""
    in_browser = "open_page" in getattr(item, "fixturenames", ())
    if not ONCE_A_DAY and (in_browser or item.get_closest_marker("daily")):
        pytest.skip("runs once a day: make check-all; or with LOCKSTEP_ALL=1")
    if item.get_closest_marker("in_turn") and not ONCE_A_DAY and not SHARE.holds(item.nodeid):
        pytest.skip(f"another commit's turn: this one meets share {os.environ['LOCKSTEP_SHARE']}")
    marks = [*item.iter_markers("needs"), *([needs_browser.mark] if in_browser else [])]
    for mark in marks:
        is_there, missing = mark.args
        if not is_there:
            (pytest.fail if "LOCKSTEP_CI" in os.environ else pytest.skip)(missing)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Lists skipped tests at the end: each reason with its tests' files."""
    by_reason: dict[str, Counter[str]] = {}
    for report in terminalreporter.stats.get("skipped", ()):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        file = report.nodeid.partition("::")[0].rpartition("/")[2]
        by_reason.setdefault(reason.removeprefix("Skipped: "), Counter())[file] += 1
    for reason, files in sorted(by_reason.items()):
        names = ", ".join(f"{file} {count}" for file, count in sorted(files.items()))
        terminalreporter.write_line(f"left out, {sum(files.values())}: {reason} ({names})")


def can_group() -> bool:
    """Whether control groups that limit processes and memory can be made here. Even CI may lack them."""
    with cgroup.group(64, 1 << 30) as folders:
        return bool(folders)


def why_no_browser() -> str:
    """What browser tests lack here; empty if nothing."""
    if importlib.util.find_spec("playwright") is None:
        return "Playwright is missing; type: harness/setup.sh --browser"
    return "" if chromium.find_chromium() else chromium.HOW


needs_browser = needs(not why_no_browser(), why_no_browser())
needs_build = needs((BUILD / "nvcc.txt").is_file(), f"{BUILD} has no C++ side; type: make build")
needs_cgroups = pytest.mark.skipif(not can_group(), reason="no control groups of this user here")
needs_sandbox = needs(
    not sandbox.why_no_sandbox(),
    f"no sandbox: {sandbox.why_no_sandbox()}; install bubblewrap, and allow user namespaces",
)


def empty_place() -> str:
    """A system folder that a test may hide under an empty mount: no program that the tests run is in it."""
    used = (ROOT, BUILD, Path(sys.executable), Path(sys.base_prefix), Path(tempfile.gettempdir()))
    nvcc = (BUILD / "nvcc.txt").read_text().strip() if (BUILD / "nvcc.txt").is_file() else "/usr"
    paths = [one for path in (*used, Path(nvcc)) for one in (path.absolute(), path.resolve())]
    places = (Path(one) for one in ("/opt", "/srv", "/mnt", "/media"))
    return str(next(one for one in places if one.is_dir() and not any(path.is_relative_to(one) for path in paths)))


def in_namespace(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    words = ["unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-euc", script, "sh", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    return subprocess.run(words, capture_output=True, text=True, check=False, env=environment)


needs_mounts = needs(
    bool(shutil.which("unshare")) and in_namespace("mount -t tmpfs -o size=1m none /mnt").returncode == 0,
    "no mounts of one's own: install util-linux, and allow user namespaces",
)
