#!/usr/bin/env python3
"""How the virtual GPU's cost grows with blocks, warps, launches, allocations, a module's lines, bytes and CPU threads.

  harness/dev/bench/scale_bench.py [KIND ...] [--check] [--build build]

Prints, for each size, seconds by the clock and of a processor, and MiB at most; and for each kind the exponent between
its two largest sizes, by processor time without the least size's: 1 is linear. Runs are on one thread, except those of
`threads`.
"""

import argparse
import math
import os
import subprocess
import tempfile
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent
SIZES = {
    "blocks": [2**k for k in range(10, 25, 2)],
    "warps": [1, 2, 4, 8, 16, 32],
    "launches": [10**k for k in range(1, 7)],
    "allocations": [10**k for k in range(2, 6)],
    "pool": [10**k for k in range(2, 6)],
    "lines": [10**k for k in range(2, 6)],
    "MiB": [2**k for k in range(0, 13, 2)],
    "threads": [1, 2, 4, 8, 16],
}


def main() -> None:
    """Measures, and prints a row for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(SIZES)}; default: all")
    parser.add_argument("--check", action="store_true", help="with all checkers")
    parser.add_argument("--build", type=Path, default=BENCH.parents[2] / "build")
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(SIZES):
        parser.error(f"there is no {unknown.pop()}; there are {', '.join(SIZES)}")
    build = options.build.resolve()
    print("kind,size,clock s,processor s,MiB")
    with tempfile.TemporaryDirectory() as folder:
        nvcc = (build / "nvcc.txt").read_text().strip()
        target = ["-std=c++17", "-cudart", "shared", "-gencode", "arch=compute_80,code=compute_80"]
        program = f"{folder}/scale"
        subprocess.run([nvcc, *target, BENCH / "scale_bench.cu", "-o", program], check=True)
        for kind in options.kinds or SIZES:
            spent = []
            for size in SIZES[kind]:
                work = ["blocks", str(2**22)] if kind == "threads" else [kind, str(size)]
                flags = [f"--threads={size if kind == 'threads' else 1}", *["--check"] * options.check]
                begin = time.monotonic()
                process = subprocess.Popen([build / "bin/vgpu-run", *flags, program, *work], cwd=folder)
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                clock = time.monotonic() - begin
                spent.append(usage.ru_utime + usage.ru_stime)
                said = f"{clock:.2f},{spent[-1]:.2f},{usage.ru_maxrss / 1024:.0f}"
                print(f"{kind},{size},{said}{f',ended with {process.returncode}' if status else ''}", flush=True)
            if kind != "threads":
                above, below = (max(seconds - spent[0], 0.001) for seconds in spent[:-3:-1])
                print(f"{kind}: exponent {math.log(above / below) / math.log(SIZES[kind][-1] / SIZES[kind][-2]):.2f}")


main()
