#!/usr/bin/env python3
"""What --check costs: processor time and memory of programs on the virtual GPU, plain and with all checkers.

  harness/dev/bench/check_bench.py 'PROGRAM ARGUMENTS' ... [--times 3] [--against CHECKOUT] [--build build]

Programs run on one thread. Variants take turns, and the fastest run of each counts. CHECKOUT is another working copy,
built in its folder `build`: its --check is measured too. The exit status is 1 if findings differ or a program fails.
"""

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def run(command: list[str]) -> tuple[float, float, int, str]:
    """Processor seconds, MiB, exit status and findings of one run."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        findings = said.read().decode(errors="replace").rpartition("\nFindings\n")[2]
    return (
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / 1024,
        process.returncode,
        findings,
    )


def main() -> int:
    """Measures, and prints a row for each program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "programs",
        nargs="+",
        metavar="PROGRAM",
        help="a program and its arguments, as one word",
    )
    parser.add_argument("--times", type=int, default=3, help="runs of each variant")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another working copy, built")
    parser.add_argument("--build", type=Path, default=Path(__file__).resolve().parents[3] / "build")
    options = parser.parse_args()
    ours = [str(options.build / "bin" / "vgpu-run"), "--threads=1"]
    variants = {"plain": ours, "--check": [*ours, "--check"]}
    if options.against:
        variants["before"] = [
            str(options.against / "build" / "bin" / "vgpu-run"),
            "--threads=1",
            "--check",
        ]
    ratios, wrong = [], False
    print("program," + ",".join(f"{name} s,{name} MiB" for name in variants) + ",--check / plain")
    for program in options.programs:
        turns = [
            [run([*command, *shlex.split(program)]) for command in variants.values()] for _ in range(options.times)
        ]
        runs = list(zip(*turns, strict=True))
        least = [min(seconds for seconds, *_ in done) for done in runs]
        cells = [f"{least[k]:.2f},{max(mib for _, mib, *_ in done):.0f}" for k, done in enumerate(runs)]
        ratios.append(least[1] / max(least[0], 0.001))
        print(",".join([shlex.split(program)[0], *cells, f"{ratios[-1]:.1f}"]), flush=True)
        findings = {one[3] for done in runs[1:] for one in done}
        if any(one[2] != 0 for done in runs for one in done) or len(findings) > 1:
            wrong = True
            print(f"{program}: it fails, or its findings differ", file=sys.stderr)
    print(f"--check / plain, geometric mean: {statistics.geometric_mean(ratios):.2f}")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
