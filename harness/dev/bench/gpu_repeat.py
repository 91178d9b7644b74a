#!/usr/bin/env python3
"""How far apart the same submission's performance scores lie: the same timed run, again and again, on a real GPU.

    harness/dev/bench/gpu_repeat.py [--build build] [--runs 10]

For each timed assignment a submission between nothing and full marks is made of the reference, by another body for a
launcher. It prints a table: the figures, the points out of 100 that they are worth, and how far apart they lie. Needs a
GPU and the core target; exits with 1 where a spread is above two points, or a run did not decide.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MOST_POINTS = 2.0


@dataclass(frozen=True)
class Middling:
    """A submission in which `calls`, launchers of the same arguments, stand in for what the rung is."""

    assignment: str
    rung: str
    calls: tuple[str, ...]
    text: str


# real_NAME is the reference's own.
SUBMISSIONS = (
    Middling("03_circular_shift", "shift4_vectors", ("shift2_any",), "rung 2 in place of rung 4"),
    Middling("04_reduction", "reduce8_shuffle", ("reduce6_unrolled",), "rung 6 in place of rung 8"),
    Middling("05_scan", "scan5_lookback", ("real_scan5_lookback", "real_scan5_lookback"), "rung 5, done twice"),
    Middling("06_transpose", "transpose5_wide", ("transpose3_padded",), "rung 3 in place of rung 5"),
)


def main() -> int:
    """Builds, runs and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build tree (default: build)")
    parser.add_argument("--runs", type=int, default=10, help="of each submission (default: 10)")
    options = parser.parse_args()
    folder = options.build.resolve() / "gpu_repeat"
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda one: make_workers(one, options.build.resolve(), folder), SUBMISSIONS))
    print("| submission | runs | figures | points of 100 | apart |")
    print("|---|---:|---|---|---:|")
    worst = 0.0
    for one in SUBMISSIONS:
        figures = [run(one, seed, options.build.resolve(), folder) for seed in range(options.runs)]
        points = [points_of(one, figure) for figure in figures]
        apart = max(points) - min(points)
        worst = max(worst, apart)
        print(
            f"| {one.assignment[:2]}: {one.text} | {len(figures)} | {min(figures):.3f} to {max(figures):.3f} "
            f"| {min(points):.1f} to {max(points):.1f} | {apart:.2f} |",
            flush=True,
        )
    return 1 if worst > MOST_POINTS else 0


def criterion_of(one: Middling) -> dict[str, float]:
    """The timed criterion of the rung."""
    text = (ROOT / "assignments" / one.assignment / "assignment.toml").read_text()
    return next(entry for entry in tomllib.loads(text)["criterion"] if "timing" in entry and entry["rung"] == one.rung)


def points_of(one: Middling, figure: float) -> float:
    """Out of 100."""
    criterion = criterion_of(one)
    fraction = (figure - criterion["none"]) / (criterion["full"] - criterion["none"])
    return 100 * min(1.0, max(0.0, fraction))


def make_workers(one: Middling, build: Path, folder: Path) -> None:
    """Compiles the reference, and the submission that is made of it."""
    name = tomllib.loads((ROOT / "assignments" / one.assignment / "assignment.toml").read_text())["submission"]
    header = (ROOT / "assignments" / one.assignment / name).with_suffix(".h").read_text()
    declared = re.search(rf"^void {one.rung}\(([^)]*)\);", header, re.MULTILINE)
    if declared is None:
        message = f"{one.assignment}: the header declares no {one.rung}"
        raise SystemExit(message)
    arguments = ", ".join(re.findall(r"(\w+)(?:,|$)", declared[1]))
    reference = ROOT / "reference" / one.assignment / name
    body = " ".join(f"{call}({arguments});" for call in one.calls)
    source = folder / f"{one.assignment}.cu"
    text = reference.read_text().replace(f"void {one.rung}(", f"void real_{one.rung}(")
    source.write_text(f"{text}\nvoid {one.rung}({declared[1]}) {{ {body} }}\n")
    for given, worker in ((reference, "reference"), (source, "middling")):
        flags: list[str | Path] = [
            "--assignment",
            ROOT / "assignments" / one.assignment,
            "--source",
            given,
            "--build",
            build,
        ]
        out = folder / f"{one.assignment}.{worker}"
        subprocess.run([ROOT / "harness/worker/build.sh", *flags, "--out", out], check=True)


def run(one: Middling, seed: int, build: Path, folder: Path) -> float:
    """One run's figure, on the inputs of this seed."""
    result = folder / f"{one.assignment}.json"
    suite = subprocess.run(
        [
            build / "bin" / f"{one.assignment}_full_suite",
            f"--assignment={ROOT / 'assignments' / one.assignment}",
            f"--worker={folder / one.assignment}.middling",
            f"--reference={folder / one.assignment}.reference",
            f"--result={result}",
            "--device=cuda",
            "--quiet",
            f"--seed={seed}",
            f"--gtest_filter=Timing.*/{one.rung}",
        ],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    timings = json.loads(result.read_text())["timings"] if suite.returncode in (0, 1) else []
    if len(timings) != 1 or timings[0]["figure"] is None:
        message = f"{one.assignment}: no figure\n{suite.stdout}{suite.stderr}{timings}"
        raise SystemExit(message)
    return float(timings[0]["figure"]["value"])


if __name__ == "__main__":
    sys.exit(main())
