#!/usr/bin/env python3
"""Checks on a real GPU that a fault costs its own test and nothing else.

    harness/tests/gpu_faults/run.py [--build build] [NAME...]

Each .cu here is the reference of 04_reduction with another rung 4. Its first line declares the verdicts of that rung's
tests and of its timed run. All other rungs have to pass, also those that run after it on the same GPU. Needs a GPU and
a build of the core target; the exit status is 1 if a verdict is not as declared, 2 without a GPU.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
ASSIGNMENT = ROOT / "assignments" / "04_reduction"
RUNG = "reduce4_first_add"
# The replaced rung between one before it and one after it; judge() adds all timed runs.
RUNGS = ("reduce3*", "reduce4*", "reduce8*")
FILTER = ":".join(
    f"ReductionTest.{test}/{rung}" for test in ("SumsOneBlock", "LeavesTheInputUnchanged") for rung in RUNGS
)
DECLARED = re.compile(r"// tests (\w+|\*), timing (\w+|\*): ")


def main() -> int:
    """Builds and runs the named sources, or all; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build tree (default: build)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these (default: all)")
    options = parser.parse_args()
    if shutil.which("nvidia-smi") is None:
        print("run.py: there is no NVIDIA GPU here")
        return 2
    build = options.build.resolve()
    sources = [source for source in sorted(HERE.glob("*.cu")) if not options.names or source.stem in options.names]
    folder = build / "gpu_faults"
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor() as pool:
        reference = pool.submit(make_worker, build, ROOT / "reference/04_reduction/reduction.cu", folder / "reference")
        list(pool.map(lambda source: make_worker(build, source, folder / source.stem), sources))
        reference.result()
    wrong = [source.stem for source in sources if not judge(build, source, folder)]
    print(f"{len(sources) - len(wrong)} of {len(sources)} as declared" + (": not " + ", ".join(wrong) if wrong else ""))
    return 1 if wrong else 0


def make_worker(build: Path, source: Path, worker: Path) -> None:
    """Compiles a submission."""
    flags: list[str | Path] = ["--assignment", ASSIGNMENT, "--source", source, "--build", build, "--out", worker]
    subprocess.run([ROOT / "harness/worker/build.sh", *flags], check=True)


def judge(build: Path, source: Path, folder: Path) -> bool:
    """Runs the suite on one source, and says whether every verdict is as declared."""
    declared = DECLARED.match(source.read_text())
    if declared is None:
        message = f"{source.name}: its first line has to be '// tests VERDICT, timing VERDICT: what it does'"
        raise SystemExit(message)
    result = folder / f"{source.stem}.json"
    begin = time.monotonic()
    run = subprocess.run(
        [
            build / "bin/04_reduction_full_suite",
            f"--assignment={ASSIGNMENT}",
            f"--worker={folder / source.stem}",
            f"--reference={folder / 'reference'}",
            f"--result={result}",
            "--device=cuda",
            "--seed=1",
            f"--gtest_filter={FILTER}:Timing.*",
        ],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    seconds = time.monotonic() - begin
    found = json.loads(result.read_text())
    rows = [("tests", entry) for entry in found["tests"]] + [("timing", entry) for entry in found["timings"]]
    expected = {"tests": declared[1], "timing": declared[2]}
    fine = found["finished"] and {kind for kind, entry in rows if entry["rung"] == RUNG} == {"tests", "timing"}
    for kind, entry in rows:
        want = expected[kind] if entry["rung"] == RUNG else "PASS"
        if want in ("*", entry["verdict"]):
            continue
        fine = False
        print(f"  {source.stem}: {entry.get('name', entry.get('criterion'))} is {entry['verdict']}, not {want}")
        print("    " + entry["message"].replace("\n", "\n    "))
    verdicts = " ".join(f"{entry['rung'].split('_')[0]}:{entry['verdict']}" for _, entry in rows)
    print(
        f"{'ok  ' if fine else 'FAIL'} {source.stem:20} {seconds:6.1f} s  exit {run.returncode}  {verdicts}", flush=True
    )
    if not fine:
        print(run.stderr)
    return bool(fine)


if __name__ == "__main__":
    sys.exit(main())
