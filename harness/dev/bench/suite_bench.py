#!/usr/bin/env python3
"""Processor time of the references' full suites; with another checkout, both in turn.

  harness/dev/bench/suite_bench.py [ASSIGNMENT ...] [--times 5] [--against CHECKOUT] [--build build]

A suite's time is that of all threads of the suite and its workers; the fastest run counts, as on a quiet machine.
CHECKOUT is another working copy, built in its folder `build`; each copy's own build script makes its worker, and the
two take turns. The slowest test is by wall-clock time, so it means something on a quiet machine only. If the copies'
evidence differs, the counters and figures that do are named, and the exit status is 1.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


@dataclass
class Side:
    """One checkout: its root, its build tree, and what its runs took."""

    root: Path
    build: Path
    seconds: dict[str, list[float]] = field(default_factory=dict)  # by assignment
    evidence_seconds: dict[str, list[float]] = field(default_factory=dict)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)

    def make_worker(self, assignment: str, folder: Path) -> Path:
        """The reference's worker, made by this checkout's build script."""
        settings = tomllib.loads((self.root / "assignments" / assignment / "assignment.toml").read_text("utf-8"))
        worker = folder / f"{assignment}.worker"
        source = self.root / "reference" / assignment / settings["submission"]
        command = [str(self.root / "harness/worker/build.sh"), "--assignment", f"{self.root}/assignments/{assignment}"]
        command += ["--source", str(source), "--build", str(self.build), "--out", str(worker)]
        subprocess.run(command, check=True)
        return worker

    def run(self, assignment: str, worker: Path, result: Path, filters: list[str]) -> float:
        """Seconds of processor time."""
        before = os.times()
        command = [str(self.build / "bin" / f"{assignment}_full_suite"), f"--worker={worker}", "--seed=7", *filters]
        command += [f"--assignment={self.root / 'assignments' / assignment}", f"--result={result}"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        after = os.times()
        if run.returncode != 0:
            sys.exit(f"{assignment} of {self.root}: the reference fails\n{run.stdout[-2000:]}{run.stderr}")
        seconds = after.children_user + after.children_system - before.children_user - before.children_system
        return max(seconds, 0)


def evidence_of(result: dict[str, Any]) -> dict[str, Any]:
    """What has to be the same: each criterion's value, each rung's counters and figures."""
    values: dict[str, Any] = {row["criterion"]: row["value"] for row in result["evidence"]}
    for profile in result["profiles"]:
        for kind in ("counters", "figures"):
            for name, value in profile.get(kind, {}).items():
                values[f"{profile['source']}'s {profile['rung']}: {name}"] = value
    return values


def main() -> int:
    """Measures, prints a line for each assignment, and compares the evidence."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = sorted(path.name for path in (ROOT / "assignments").iterdir() if (path / "assignment.toml").is_file())
    parser.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help="such as 04_reduction; default: all")
    parser.add_argument("--times", type=int, default=5, help="runs of each suite")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another working copy, built")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    options = parser.parse_args()
    unknown = [name for name in options.assignments if name not in every]
    if unknown:
        parser.error(f"there is no assignment {unknown[0]}; there are {', '.join(every)}")
    sides = [Side(ROOT, options.build.resolve())]
    if options.against:
        other = options.against.resolve()
        sides.insert(0, Side(other, other / "build"))
    for side in sides:
        if not (side.build / "bin").is_dir():
            parser.error(f"{side.build} has no suites: type make build in {side.root}")
    names = options.assignments or every
    different = 0
    head = "".join(f"{title:>22}" for title in (["before", "now"] if options.against else [""]))
    print(f"processor seconds    {head}      ratio   slowest test" if options.against else "processor seconds")
    totals = [0.0] * len(sides)
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / str(k) for k in range(len(sides))]
        for folder in folders:
            folder.mkdir()
        for name in names:
            workers = [side.make_worker(name, folder) for side, folder in zip(sides, folders, strict=True)]
            for _ in range(options.times):
                for side, worker, folder in zip(sides, workers, folders, strict=True):
                    result = folder / "result.json"
                    side.seconds.setdefault(name, []).append(side.run(name, worker, result, []))
                    side.results[name] = json.loads(result.read_text("utf-8"))
                    only = ["--gtest_filter=Evidence*"]
                    side.evidence_seconds.setdefault(name, []).append(side.run(name, worker, result, only))
            least = [min(side.seconds[name]) for side in sides]
            evidence = [min(side.evidence_seconds[name]) for side in sides]
            totals = [total + part for total, part in zip(totals, least, strict=True)]
            slowest = max(sides[-1].results[name]["tests"], key=lambda test: float(test["seconds"]))
            columns = "".join(f"{a:9.2f} (evidence {b:4.2f})" for a, b in zip(least, evidence, strict=True))
            ratio = f"{least[0] / least[-1]:8.2f}" if options.against else ""
            print(f"{name:20} {columns}{ratio}   {slowest['seconds']:.2f} s {slowest['name']}", flush=True)
            if options.against:
                before, now = (evidence_of(side.results[name]) for side in sides)
                for key in sorted(before.keys() | now.keys()):
                    if before.get(key) != now.get(key):
                        different += 1
                        print(f"  {key}: {before.get(key)}, now {now.get(key)}")
    columns = "".join(f"{total:9.2f}{'':16}" for total in totals)
    print(f"{'all':20} {columns}" + (f"{totals[0] / totals[-1]:8.2f}" if options.against else ""))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
