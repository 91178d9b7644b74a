"""Grading, killed at 50 moments (10 for a commit) or on a full disk, ends with the files of an undisturbed run."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import FAKE, add_assignment, in_namespace, journal_rows, needs_mounts
from fake.lives import STAGES
from grader.base.layout import Layout

pytestmark = pytest.mark.in_turn

KILLS = 50 if "LOCKSTEP_ALL" in os.environ else 10
SECRET = "f" * 64
SOURCES = {
    "perfect": "", "slower": "// slow 0.02", "half": "// value beta.fast 4", "wrong": "// fail beta_two WRONG",
    "racing": "// fail alpha_one RACE", "broken": "#error no", "again": "// harness 1", "ranked": "// time beta_two 5",
}  # fmt: skip
RESUBMITTED = {"half": "// value beta.fast 1", "broken": "// slow 0.02"}
LARGE = [f"large{index}" for index in range(6)]
COPIES = {"copied": "perfect", "copied_too": "perfect"}


@pytest.fixture
def two(in_checkout: Layout) -> Layout:
    """The checkout with a second assignment, 91_more."""
    add_assignment(in_checkout, "91_more", "more.cu")
    for path in (in_checkout.assignment("91_more") / "assignment.toml", in_checkout.suite("91_more")):
        path.write_text(path.read_text().replace("LadderTest", "MoreTest"))
    (in_checkout.root / "secret").write_text(SECRET)
    (in_checkout.root / "secret").chmod(0o600)
    return in_checkout


def hand_in(folder: Path, sources: dict[str, str]) -> None:
    """Each student hands in for both assignments; files of the two have nothing in common."""
    for name, source in sources.items():
        for file in ("ladder.cu", "more.cu"):
            (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / name / file).write_text(f"// who {name}/{file}\n{source}\n")


@pytest.fixture
def students(two: Layout) -> Path:
    folder = two.root.parent / "submissions"
    hand_in(folder, SOURCES)
    for name, original in COPIES.items():
        shutil.copytree(folder / original, folder / name)
    (folder / "nothing").mkdir()
    (folder / "nothing" / "notes.txt").write_text("sorry\n")
    (folder / "half" / "more.cu").unlink()
    names = [*SOURCES, *COPIES, "nothing", "absent", *LARGE]
    (folder / "roster.csv").write_text("name,sid\n" + "".join(f"{name},{100 + i}\n" for i, name in enumerate(names)))
    return folder


class Lives:
    """Runs of `grader grade` that may be killed."""

    def __init__(self, layout: Layout, folder: Path, shared: Path) -> None:
        shared.write_bytes(bytes(len(STAGES)))
        self._shared = shared
        self._layout = layout
        self._command = [
            "grade", str(folder), "--no-sandbox", "--jobs", "2", "--secret", str(layout.root / "secret"), "--out"
        ]  # fmt: skip
        environment = os.environ | {"PYTHONPATH": f"{Path(__file__).parents[1] / 'src'}"}
        self._process = subprocess.Popen(
            [sys.executable, str(FAKE / "lives.py"), str(shared)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        assert self._line() == "ready"

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def run(self, out: str, *, event: tuple[str, int] = ("", 0), seconds: float = 0.0) -> tuple[int, list[str]]:
        """One life: its status, and the stages that it was in when it ended."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([*event, *self._command, out]) + "\n")
        self._process.stdin.flush()
        child = int(self._line())
        if seconds:
            time.sleep(seconds)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        status = int(self._line())
        stages = [stage for stage, threads in zip(STAGES, self._shared.read_bytes(), strict=True) if threads]
        self._wait_for_children()
        assert status in (0, -signal.SIGKILL), Path(f"{self._shared}.said").read_text()
        return status, stages or ["between"]

    def _wait_for_children(self) -> None:
        """The kernel ends what a killed grader had started: until then these may still write to the log."""
        mark = str(self._layout.root).encode()
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and any(
            mark in words for pid, words in command_lines() if pid not in (os.getpid(), self._process.pid)
        ):
            time.sleep(0.005)


def command_lines() -> Iterator[tuple[int, bytes]]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes()
            if b"lives.py" not in words:
                yield int(path.parent.name), words


@pytest.fixture
def lives(two: Layout, students: Path, tmp_path: Path) -> Iterator[Lives]:
    made = Lives(two, students, tmp_path / "stages")
    yield made
    made.close()


def written(out: Path) -> dict[str, Any]:
    """All result files, without times."""
    found: dict[str, Any] = {}
    for path in sorted(out.glob("*.csv")):
        found[path.name] = path.read_bytes() if "leaderboard" not in path.name else b""
    for path in [out / "leaderboard.json", *out.glob("staff/results/*/*.json")]:
        found[str(path.relative_to(out))] = without_times(json.loads(path.read_text()))
    for board in found["leaderboard.json"]["boards"]:
        board["entries"].sort(key=lambda entry: (entry["rank"], entry["alias"]))  # who came first goes first in a tie
    found["cards"] = sorted(str(path.relative_to(out)) for path in out.glob("cards/*/*.html"))
    return found


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: without_times(inner) for key, inner in value.items() if key not in ("at", "graded_at", "scored_at")
        }
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


def log(layout: Layout) -> list[str]:
    path = layout.build / "bin/runs.log"
    return path.read_text().splitlines() if path.exists() else []


def fresh(layout: Layout, out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    (layout.build / "bin/runs.log").unlink(missing_ok=True)


class Once:
    """Checks that what the journal has is never run again."""

    def __init__(self, layout: Layout) -> None:
        """The journal may already have results of files that some students have replaced since."""
        self._layout = layout
        self._before = set(journal_rows(layout, "SELECT DISTINCT key FROM record"))
        self._start = len(log(layout))
        self._ended: dict[str, int] = {}  # a line of the log, and how long the log was when it was known to the journal

    def look(self) -> None:
        lines = len(log(self._layout))
        graded = "SELECT folder, json_extract(value, '$.name'), key FROM record, json_each(document, '$.result.tests')"
        for query in (graded, "SELECT folder, name, key FROM test"):
            for folder, name, key in journal_rows(self._layout, query):
                file = "more.cu" if name.startswith("MoreTest") else "ladder.cu"
                if (key,) not in self._before:
                    self._ended.setdefault(f"test {folder}/{file} {name}", lines)

    def check(self) -> int:
        lines = log(self._layout)
        for line, position in self._ended.items():
            assert line not in lines[position:], line
        if self._before:
            ran = {line.split()[1].partition("/")[0] for line in lines[self._start :] if line.startswith("run ")}
            assert ran <= set(RESUBMITTED)
        return len(self._ended)


def test_killed_at_many_moments(
    two: Layout, students: Path, lives: Lives, record_property: Callable[[str, object], None]
) -> None:
    out = two.root / "out"
    texts = {path: path.read_bytes() for path in students.glob("*/*.cu")}
    began = time.monotonic()
    assert lives.run("out")[0] == 0
    seconds = time.monotonic() - began
    first = written(out)
    hand_in(students, RESUBMITTED)
    assert lives.run("out")[0] == 0
    second = written(out)
    assert first["gradebook.csv"] != second["gradebook.csv"]

    chance = random.Random(17)
    hit: Counter[str] = Counter()
    kills = rounds = checked = 0
    left = list(STAGES)
    while kills < KILLS or left or rounds < 1:
        rounds += 1
        fresh(two, out)
        for path, text in texts.items():
            path.write_bytes(text)
        (students / "half" / "more.cu").unlink(missing_ok=True)
        for wanted in (first, second):
            once = Once(two)
            while True:
                # First a run is killed in each stage, since some are too short for a timer; then half of the kills are
                # timed. At the third event of a record one is in the journal: a finished test that must not run again.
                if left:
                    moment: dict[str, Any] = {"event": (left[0], 3 if left[0] == "record to journal" else 1)}
                elif kills >= KILLS:
                    moment = {}
                elif kills % 2:
                    moment = {"seconds": chance.uniform(0.02, 0.4 * seconds)}
                else:
                    moment = {"event": (STAGES[kills // 2 % len(STAGES)], chance.randrange(1, 6))}
                status, stages = lives.run("out", **moment)
                if status == 0:
                    break
                assert status == -signal.SIGKILL
                kills += 1
                hit.update(stages)
                left = [stage for stage in left if stage not in hit]
                once.look()
            checked += once.check()
            assert written(out) == wanted
            assert not (out / "work").exists()
            hand_in(students, RESUBMITTED)
    record_property("kills", dict(hit))
    print(f"{kills} kills in {rounds} rounds, by stage: {dict(hit)}; {checked} ended tests ran once")
    assert checked > 0


@needs_mounts
def test_a_disk_that_fills_up_once(two: Layout, students: Path) -> None:
    """The journal, the workers and the pages share a disk that gets full, and then is made larger."""
    padding = "// padding " + "x" * 900_000
    hand_in(students, {name: f"{padding}{name}" for name in LARGE})
    script = """mount -t tmpfs -o size=36m none "$1"; shift; count=0
    while true; do
      status=0; "$@" || status=$?
      [ $status = 0 ] && break
      [ $status = 1 ] && [ $count = 0 ] || exit 9
      count=1; mount -o remount,size=400m "$PWD/out"
    done
    echo "filled $count"; cp -r out ../saved"""
    (two.root / "out").mkdir()
    command = ["grade", students, "--no-sandbox", "--jobs", "1", "--secret", two.root / "secret"]
    ended = in_namespace(script, two.root / "out", sys.executable, "-m", "grader", *command)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "filled 1" in ended.stdout
    assert "Finished work is kept" in ended.stderr
    assert "Traceback" not in ended.stderr
    tests = [line for line in log(two) if line.startswith("test ") and "again" not in line]
    twice = [line for line, count in Counter(tests).items() if count > 1]
    assert len({line.split()[1] for line in twice}) <= 1  # only the one that was at work
    disturbed = written(two.root.parent / "saved")
    undisturbed = in_namespace('"$@"', sys.executable, "-m", "grader", *command, "--out", two.root / "other")
    assert undisturbed.returncode == 0, undisturbed.stderr
    assert disturbed == written(two.root / "other")
