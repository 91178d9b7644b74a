#!/usr/bin/env python3
"""Run the test suites of Python packages for CUDA on the virtual GPU, and write a page of how they did.

    harness/dev/public_suites/python_suites.py --python VENV/bin/python --checkouts FOLDER [SUITE | SUITE/FILE ...]

VENV has the packages, from PyPI and unmodified, and pytest. FOLDER has clones of their repositories, under the names of
python_suites.toml, which says what files of each suite are run, and why the others are not. Each file is run as

    vgpu-run python -m pytest FILE

with a limit of time for a test and for a file. A test that ends the process counts as a crash, and the file continues
after it. A test that does not pass gets the first reason of python_suites.toml that matches its text.

Exit status: 0 when every test passed, was skipped, or failed for a reason in python_suites.toml; 1 otherwise.
"""

import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trial import GO_ON, execute, shortened

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PAGE = ROOT / "docs/records/python-suites.md"
OURS = "other"  # the reason of a test that no reason of the table explains
OUTCOMES = ("passed", "skipped", "failed")


@dataclass(frozen=True)
class Case:
    """One test: how it ended, and if it did not pass, why."""

    suite: str
    file: str
    test: str
    outcome: str  # one of OUTCOMES
    reason: str
    text: str


@dataclass(frozen=True)
class File:
    """One file of a suite, and the seconds that its run took."""

    suite: str
    file: str
    seconds: float
    cases: tuple[Case, ...]


class Bench:
    """Runs files of suites."""

    def __init__(self, table: dict[str, Any], options: argparse.Namespace, work: Path) -> None:
        self.table = table
        self.options = options
        self.work = work
        self.reasons = [
            (re.compile(pattern, re.M), why) for why, patterns in table["reasons"].items() for pattern in patterns
        ]

    def files(self, suite: str) -> list[str]:
        """The files of a suite that are run."""
        of = self.table["suites"][suite]
        folder = self._folder(suite)
        left_out = {name for names in of.get("left_out", {}).values() for name in names}
        found = (str(path.relative_to(folder)) for glob in of["files"] for path in sorted(folder.glob(glob)))
        return [name for name in dict.fromkeys(found) if name not in left_out]

    def run(self, suite: str, name: str) -> File:
        """Run one file to its end, or until its time is up."""
        notes = self.work / f"{suite}-{name.replace('/', '-')}.notes"
        notes.unlink(missing_ok=True)
        paths = [
            str(Path(self.options.checkouts).resolve() / path) for path in self.table["suites"][suite].get("paths", [])
        ]
        folder = self.work if "module" in self.table["suites"][suite] else self._folder(suite)
        begin = time.monotonic()
        log = ""
        ended = False
        while not ended:
            left = self.options.seconds - (time.monotonic() - begin)
            run = execute(
                self._command(suite, name, notes), folder, left, {"PYTHONPATH": os.pathsep.join([str(HERE), *paths])}
            )
            log += run.output
            running = _unended(notes)
            ended = run.status is None or (not running and run.status != GO_ON)
            if running:
                stuck = "longer than the limit, in one call: Timeout (0:" if "\nTimeout (0:" in run.output else ""
                why = "the file's time was up" if run.status is None else stuck or f"crash: status {run.status}"
                text = json.dumps(["end", running, "failed", f"{why}\n{run.output[-3000:]}"])
                with notes.open("a") as file:
                    file.write(text + "\n")
        notes.with_suffix(".log").write_text(log)
        cases = [self._case(suite, name, *end) for end in _ends(notes)]
        if not cases:
            cases = [self._case(suite, name, name, "error", log[-3000:])]
        return File(suite, name, time.monotonic() - begin, tuple(cases))

    def _folder(self, suite: str) -> Path:
        return Path(self.options.checkouts).resolve() / str(self.table["suites"][suite]["folder"])

    def _command(self, suite: str, name: str, notes: Path) -> list[str]:
        of = self.table["suites"][suite]
        begin = [str(self.options.vgpu_run), *self.options.vgpu_flag, str(self.options.python), "-m", "pytest"]
        plugin = ["-p", "note_tests", "--notes", str(notes), f"--test-seconds={self.options.test_seconds}"]
        file = f"{of['module']}.{name.removesuffix('.py').replace('/', '.')}" if "module" in of else name
        quiet = ["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-W", "ignore"]
        return [*begin, *plugin, *quiet, *of.get("flags", []), file]

    def _case(self, suite: str, file: str, test: str, outcome: str, text: str) -> Case:
        if outcome in ("passed", "skipped", "xfailed"):
            return Case(suite, file, test, "passed" if outcome == "xfailed" else outcome, "", text.strip())
        return Case(suite, file, test, "failed", self.reason(text), text)

    def reason(self, text: str) -> str:
        """Why a test with this text failed."""
        return next((why for pattern, why in self.reasons if pattern.search(text)), OURS)


def _ends(notes: Path) -> list[list[str]]:
    lines = notes.read_text().splitlines() if notes.exists() else []
    return [words[1:] for words in map(json.loads, lines) if words[0] == "end"]


def _unended(notes: Path) -> str:
    """The test that had begun and not ended when the process did."""
    ended = {end[0] for end in _ends(notes)}
    lines = notes.read_text().splitlines() if notes.exists() else []
    begun = [words[1] for words in map(json.loads, lines) if words[0] == "begin"]
    return next((test for test in begun if test not in ended), "")


def exception(text: str) -> str:
    """The line of a failure's text that says what was wrong."""
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    return shortened(next((line for line in lines if line), text.strip().partition("\n")[0]))


def page(files: list[File], bench: Bench, versions: str) -> str:
    """The page: a table of suites, of reasons, and of files."""
    suites = bench.table["suites"]
    cases = [case for file in files for case in file.cases]
    text = [
        "# Test suites of Python packages",
        "",
        "Generated by `harness/dev/public_suites/python_suites.py`, which runs the packages' own tests, unmodified, "
        "on the",
        "virtual GPU: each file by `vgpu-run python -m pytest FILE`.",
        "`harness/dev/public_suites/python_suites.toml` says what is run.",
        "",
        f"{datetime.datetime.now(datetime.UTC).date()}: {versions}. A test may take {bench.options.test_seconds} s,",
        f"a file {bench.options.seconds:.0f} s; {bench.options.jobs} at a time, on a busy machine with 2 cores.",
        "Where a file's time was up, the tests after that are not counted. The two suites of cuda-python are of June",
        "2026; what they import from `cuda/bindings/_test_helpers`, which the package lacks, was copied beside it.",
        "",
        "```sh",
        "harness/dev/public_suites/python_suites.py --python VENV/bin/python --checkouts FOLDER --page",
        "```",
        "",
        "| suite | files | tests | passed | skipped by themselves | failed | seconds |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for suite in suites:
        own = [file for file in files if file.suite == suite]
        if own:
            count = collections.Counter(case.outcome for file in own for case in file.cases)
            numbers = [len(own), sum(count.values()), *(count[outcome] for outcome in OUTCOMES)]
            seconds = sum(file.seconds for file in own)
            text.append(f"| {suite} | " + " | ".join(f"{number:,}" for number in numbers) + f" | {seconds:.0f} |")
    text += ["", "## Why tests fail", "", "| suite | tests | reason |", "|---|---:|---|"]
    reasons = collections.Counter((case.suite, case.reason) for case in cases if case.outcome == "failed")
    text += [f"| {suite} | {count} | {reason} |" for (suite, reason), count in sorted(reasons.items(), key=_by_count)]
    others = [case for case in cases if case.reason == OURS]
    if others:
        text += ["", f"Those of the reason `{OURS}`:", "", "| test | what it says |", "|---|---|"]
        text += [f"| {case.test.rsplit('/', 1)[-1]} | {_cell(exception(case.text))} |" for case in others]
    text += ["", "## What is not run", "", "| suite | files | reason |", "|---|---|---|"]
    for suite, of in suites.items():
        for why, names in of.get("left_out", {}).items():
            text.append(f"| {suite} | {', '.join(Path(name).name for name in names)} | {why} |")
        if "rest" in of:
            text.append(f"| {suite} | all others | {of['rest']} |")
    return "\n".join(text) + "\n"


def _by_count(row: tuple[tuple[str, str], int]) -> tuple[str, bool, int]:
    return row[0][0], row[0][1] == OURS, -row[1]


def _cell(text: str) -> str:
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`"


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="only these, or only files whose names hold this")
    parser.add_argument("--python", type=Path, required=True, help="the interpreter that has the packages and pytest")
    parser.add_argument("--checkouts", type=Path, required=True, help="folder of the clones")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="our build folder (default: build)")
    parser.add_argument("--jobs", type=int, default=1, help="files at a time (default 1)")
    parser.add_argument("--seconds", type=float, default=120, help="limit of a file (default 120)")
    parser.add_argument("--test-seconds", type=int, default=30, help="limit of a test (default 30)")
    parser.add_argument("--vgpu-flag", action="append", default=[], metavar="FLAG", help="a flag for vgpu-run")
    parser.add_argument("--work", default="", help="keep notes and logs in this folder")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the cases there; files in it that are not run now stay"
    )
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_intermixed_args(arguments)
    options.vgpu_run = (options.build / "bin" / "vgpu-run").resolve()
    return options


def known(path: Path | None, bench: Bench) -> dict[tuple[str, str], File]:
    """What an earlier run left in its file, with the reasons that the table has now."""
    if path is None or not path.exists():
        return {}

    def case(words: dict[str, str]) -> Case:
        return Case(**words | {"reason": bench.reason(words["text"]) if words["outcome"] == "failed" else ""})

    files = [File(**(one | {"cases": tuple(map(case, one["cases"]))})) for one in json.loads(path.read_text())]
    return {(file.suite, file.file): file for file in files}


def versions(python: Path, table: dict[str, Any]) -> str:
    """The packages and their versions."""
    names = [of["package"] for of in table["suites"].values()]
    script = "import sys, importlib.metadata as m; print(', '.join(n + ' ' + m.version(n) for n in sys.argv[1:]))"
    command = [str(python), "-c", script, *map(str, names)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main(arguments: list[str]) -> int:
    """Run the program; returns its exit status."""
    options = parse(arguments)
    table = tomllib.loads((HERE / "python_suites.toml").read_text())
    with tempfile.TemporaryDirectory(prefix="lockstep-suites-") as temporary:
        work = Path(options.work or temporary).resolve()
        work.mkdir(parents=True, exist_ok=True)
        bench = Bench(table, options, work)
        every = [(suite, name) for suite in table["suites"] for name in bench.files(suite)]
        chosen = [
            pair for pair in every if not options.suites or any(word in "/".join(pair) for word in options.suites)
        ]
        results = known(options.json, bench)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for file in pool.map(lambda pair: bench.run(*pair), chosen):
                results[file.suite, file.file] = file
                count = collections.Counter(case.reason or case.outcome for case in file.cases)
                said = ", ".join(f"{number} {what}" for what, number in count.most_common())
                print(f"{file.suite}/{file.file}: {said} ({file.seconds:.0f} s)", flush=True)
        files = [results[pair] for pair in every if pair in results]
        if options.json:
            options.json.write_text(json.dumps([asdict(file) for file in files], indent=1) + "\n")
        if options.page:
            PAGE.write_text(page(files, bench, versions(options.python, table)))
    return 1 if any(case.reason == OURS for file in files for case in file.cases) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
