#!/usr/bin/env python3
"""Where the virtual GPU's time goes on ten programs that others wrote, and what more CPU threads bring.

    tier_programs.py CHECKOUT [PROGRAM ...]              wall clock on 1, 2, 8 and 16 threads
    tier_programs.py CHECKOUT --threads 1,2 --gpu        and on the machine's GPU, twice: the first run loads the driver
    tier_programs.py CHECKOUT --threads '' --perf        where one thread's time goes, by perf's samples

CHECKOUT is a clone of https://github.com/NVIDIA/cuda-samples. The programs run with their own checks; what they compute
on the host is part of their time. `serial` is the share of the warp instructions in kernels whose
blocks may see each other's work, which run on one CPU thread (docs/concepts/execution.md). The figures stand in
docs/records/runs.md.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import csv
import os
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import gpu_pages
from gpu_programs import build

sys.path.insert(0, str(gpu_pages.ROOT / "harness" / "dev" / "public_suites"))
from checkout import Checkout

# Sizes that take one thread up to a minute.
PROGRAMS: dict[str, list[str]] = {
    "BlackScholes": [],
    "FDTD3d": ["--dimx=256", "--dimy=256", "--dimz=256"],
    "binomialOptions": [],
    "convolutionSeparable": [],
    "eigenvalues": [],
    "fastWalshTransform": [],
    "histogram": [],
    "matrixMul": ["-wA=320", "-hA=320", "-wB=320", "-hB=320"],
    "mergeSort": [],
    "sortingNetworks": [],
}
RUNTIME = "libcudart.so.13"
# Groups of the runtime's functions, by a word in their name; the first that fits. Inlined code counts for the function
# around it.
GROUPS = {
    "counters": ("Count", "Locality", "Cost", "Footprint"),
    "memory": ("Access", "Move", "Load", "Store", "CheckLanes", "Atomic", "Pattern", "LanesInShared"),
    "control": (
        "Engine::",
        "Branch",
        "onverge",
        "WarpState",
        "StartWarp",
        "Exit",
        "Barrier",
        "Gather",
        "Group",
        "Split",
    ),
    "arithmetic": ("Elementwise", "Setp", "Selp", "Convert", "Predicate", "Special", "Lop3", "Shift", "void lockstep"),
}


def seconds_of(command: list[str], cwd: Path, limit: float) -> tuple[float, str]:
    """Wall clock of a run, and what is wrong with it."""
    begin = time.monotonic()
    try:
        done = subprocess.run(command, cwd=cwd, check=False, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return limit, "out of time"
    return time.monotonic() - begin, "" if done.returncode == 0 else f"exit status {done.returncode}"


def serial_share(vgpu_run: Path, program: Path, counters: Path) -> float:
    """The share of warp instructions in kernels that run on one CPU thread whatever --threads says."""
    listing = subprocess.run([vgpu_run, "--disassemble", program], check=True, capture_output=True, text=True).stdout
    serial = re.findall(
        r"^(\S.*?)(?:  \(\w+\))?\n(?:  .*\n)*?  blocks may see each other's work", listing, re.MULTILINE
    )
    instructions: Counter[bool] = Counter()
    with counters.open(newline="") as file:
        for launch in csv.DictReader(file):
            instructions[launch["kernel"] in serial] += int(launch["warp_instructions"])
    return instructions[True] / max(1, instructions.total())


def samples_by_group(data: Path, program: str) -> defaultdict[str, float]:
    """perf's samples in percent, by group."""
    command = ["perf", "report", "-i", str(data), "--stdio", "--no-children", "-g", "none", "-t", "|"]
    command += ["-F", "overhead,dso,symbol"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    shares: defaultdict[str, float] = defaultdict(float)
    for line in text.splitlines():
        if (found := re.match(r"\s*([\d.]+)%\s*\|\s*([^|]*?)\s*\|\[.\] (.*)", line)) is None:
            continue
        share, object_name, symbol = float(found[1]), found[2], found[3]
        group = "rest"
        if object_name == RUNTIME:
            group = next((key for key, words in GROUPS.items() if any(word in symbol for word in words)), "rest")
        elif object_name == program:
            group = "host code"
        elif object_name.startswith("libm."):
            group = "arithmetic"
        shares[group] += share
    return shares


def print_table(cells: dict[str, dict[str, str]]) -> None:
    """Rows by program, as CSV; a missing cell stays empty."""
    columns = list(dict.fromkeys(column for row in cells.values() for column in row))
    print(",".join(["program", *columns]))
    for name, row in cells.items():
        print(",".join([name, *(row.get(column, "") for column in columns)]))


def main() -> None:
    """Builds the programs side by side and measures them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"of {', '.join(PROGRAMS)}")
    parser.add_argument("--threads", default="1,2,8,16", help="numbers of CPU threads (default 1,2,8,16)")
    parser.add_argument(
        "--at-once", type=int, default=1, help="runs go side by side up to this many CPU threads in all"
    )
    parser.add_argument("--gpu", action="store_true", help="run them on the machine's GPU too")
    parser.add_argument("--perf", action="store_true", help="sample a run on one thread with perf")
    parser.add_argument("--seconds", type=float, default=120, help="limit of a run (default 120)")
    parser.add_argument("--work", type=Path, default=Path("out/tier"))
    parser.add_argument("--vgpu-run", type=Path, default=Path("build/bin/vgpu-run"))
    arguments = parser.parse_intermixed_args()
    vgpu_run, work = arguments.vgpu_run.resolve(), arguments.work.resolve()
    checkout = Checkout(arguments.checkout.resolve())
    samples = {sample.name: sample for sample in checkout.samples}
    cells: dict[str, dict[str, str]] = {name: {} for name in arguments.programs or PROGRAMS}
    missing = [name for name in cells if not (work / name / name).exists()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        reasons = pool.map(lambda name: build(checkout, samples[name], work / name), missing)
        for name, reason in zip(missing, reasons, strict=True):
            if reason:
                sys.exit(f"{name}: does not build: {reason}")

    def measure(name: str, column: str, prefix: list[str]) -> None:
        command = [*prefix, str(work / name / name), *PROGRAMS[name]]
        seconds, why = seconds_of(command, samples[name].folder, arguments.seconds)
        cells[name][column] = f"{seconds:.2f}"
        print(f"{name}, {column}: {seconds:.2f} s {why}", file=sys.stderr, flush=True)

    for column in ["GPU", "GPU again"] if arguments.gpu else []:
        for name in cells:
            measure(name, column, [])
    for threads in [int(number) for number in arguments.threads.split(",") if number]:
        with concurrent.futures.ThreadPoolExecutor(max(1, arguments.at_once // threads)) as pool:
            runs = []
            for name in cells:
                counters = work / name / f"counters.{threads}.csv"
                flags = [str(vgpu_run), f"--threads={threads}", f"--counters={counters}"]
                runs.append(pool.submit(measure, name, f"{threads} threads", flags))
            for run in runs:
                run.result()
        for name, row in cells.items():
            counters = work / name / f"counters.{threads}.csv"
            if counters.exists():
                row["serial"] = f"{serial_share(vgpu_run, work / name / name, counters):.2f}"
    for name, row in cells.items() if arguments.perf else ():
        data = work / name / "perf.data"
        measure(name, "with perf", ["perf", "record", "-q", "-F", "499", "-o", str(data), str(vgpu_run)])
        shares = samples_by_group(data, name)
        row |= {group: f"{shares[group]:.0f}" for group in (*GROUPS, "host code", "rest")}
    print_table(cells)


if __name__ == "__main__":
    main()
