#!/usr/bin/env python3
"""What programs cost on the virtual GPU: plain, and with all checkers; beside another working copy's build too.

  harness/dev/bench/program_bench.py 'PROGRAM ARGUMENTS' ... [--times 3] [--threads 1] [--plain]
                                     [--against CHECKOUT] [--build build]

A program runs in its own folder. Variants take turns, and the fastest run of each counts. On one thread a run costs
processor time; with `--threads 0`, as many as vgpu-run takes by itself, it costs time by the clock. CHECKOUT is
built in its folder `build`. The exit status is 1 if a program fails, or if findings or counters differ.
"""

import argparse
import csv
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

Run = tuple[float, float, int, str]


def run(command: list[str], folder: Path, clock: bool) -> Run:
    """Seconds, MiB, exit status and findings of one run."""
    with tempfile.TemporaryFile() as said:
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=said, stderr=said, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin if clock else usage.ru_utime + usage.ru_stime
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        findings = said.read().decode(errors="replace").rpartition("\nFindings\n")[2] if "--check" in command else ""
    return seconds, usage.ru_maxrss / 1024, process.returncode, findings


def counted(command: list[str], folder: Path) -> list[dict[str, str]]:
    """Each launch's counters and modelled time."""
    with tempfile.NamedTemporaryFile("r", newline="") as file:
        run([command[0], f"--counters={file.name}", *command[1:]], folder, clock=True)
        return list(csv.DictReader(file))


def main() -> int:
    """Measures, and prints a row for each program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", metavar="PROGRAM", help="a program and its arguments, as one word")
    parser.add_argument("--times", type=int, default=3, help="runs of each variant")
    parser.add_argument("--threads", type=int, default=1, help="of vgpu-run; 0: its own choice (default 1)")
    parser.add_argument("--plain", action="store_true", help="without --check")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another working copy, built")
    parser.add_argument("--build", type=Path, default=Path(__file__).resolve().parents[3] / "build")
    options = parser.parse_args()
    threads = [f"--threads={options.threads}"] * bool(options.threads)
    builds = {"now": options.build} | ({"before": options.against / "build"} if options.against else {})
    sides = {name: [str((build / "bin" / "vgpu-run").resolve()), *threads] for name, build in builds.items()}
    flags = [""] if options.plain else ["", " --check"]
    variants = {f"{side}{flag}": [*words, *flag.split()] for side, words in sides.items() for flag in flags}
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    wrong = []
    print("program," + ",".join(f"{name} s,{name} MiB" for name in variants))
    for program in options.programs:
        path, *arguments = shlex.split(program)
        words, folder = [str(Path(path).resolve()), *arguments], Path(path).resolve().parent
        runs: dict[str, list[Run]] = {name: [] for name in variants}
        for _ in range(options.times):
            for name, command in variants.items():
                runs[name].append(run([*command, *words], folder, not options.threads))
        for name, done in runs.items():
            seconds[name].append(min(one[0] for one in done))
        cells = [f"{seconds[name][-1]:.2f},{max(one[1] for one in done):.0f}" for name, done in runs.items()]
        print(",".join([Path(path).name, *cells]), flush=True)
        counters = [counted([*command, *words], folder) for command in sides.values()]
        shared = [key for key in counters[0][0] if key in counters[-1][0]] if all(counters) else []
        if any(one[2] != 0 for done in runs.values() for one in done):
            wrong.append(f"{program} fails")
        if len({one[3] for name, done in runs.items() if "--check" in name for one in done}) > 1:
            wrong.append(f"the findings of {program} differ")
        if len({str([[row[key] for key in shared] for row in rows]) for rows in counters}) > 1:
            wrong.append(f"the counters of {program} differ")
    pairs = [("now --check", "now"), ("before --check", "before"), ("before", "now"), ("before --check", "now --check")]
    for above, below in [pair for pair in pairs if seconds.keys() >= set(pair)]:
        ratios = [a / max(b, 0.001) for a, b in zip(seconds[above], seconds[below], strict=True)]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        print(f"{above} / {below}: {statistics.geometric_mean(ratios):.2f}, geometric mean; {spread}")
    print("\n".join(wrong) or "each program is well; findings and counters are equal", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
