#!/usr/bin/env python3
"""Test the race checker on public sets of programs whose races are known.

    harness/dev/public_suites/labelled.py SUITE FOLDER [--schedules N] [--jobs N] [--list]

FOLDER is a checkout. SUITE says which programs in it are held to race, and how they are built:

scor        https://github.com/csl-iisc/ScoR: microbenchmarks/src, named race_… and norace_…
esbmc-gpu   https://github.com/ssvlab/esbmc-gpu: regression/cuda. Those under data-racer race, those under pass don't;
            the others have other faults, and are left out. Their macro for a launch is replaced by a launch
named       any folder of .cu files: those with "norace" or "race-free" in their names don't race, others with "race" do

A program is FOUND or MISSED if it races, CLEAN or ACCUSED if it does not; FAULT: an access out of bounds, or another
fault, ended it before a race was found; BUILD: nvcc does not build it; TIME: it ran longer than a minute; NOT ALL: it
was clean, but not fully checked. The table says so for each program that is not FOUND or CLEAN, or for all with --list.
"""

import argparse
import concurrent.futures
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 60
LAUNCHES = "".join(
    f"#define {name}(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)\n"
    for name in [
        "ESBMC_verify_kernel",
        *(
            f"ESBMC_verify_kernel_{kind}"
            for kind in [
                "f",
                "u",
                "c",
                "i",
                "ui",
                "intt",
                "four",
                "five",
                "fuintint",
                "fuintt",
                "no_params",
                "with_two_args",
                "with_three_args",
                "three_args_iuull",
            ]
        ),
    ]
)
HEADER = "#include <cassert>\n#include <cstdio>\n#include <cstdlib>\n" + LAUNCHES


@dataclass(frozen=True)
class Program:
    """A program of a suite, and whether it races."""

    source: Path
    races: bool


def of_scor(folder: Path) -> Iterator[Program]:
    """ScoR's microbenchmarks."""
    for source in sorted((folder / "microbenchmarks/src").glob("*.cu")):
        yield Program(source, source.name.startswith("race_"))


def of_esbmc(folder: Path) -> Iterator[Program]:
    """ESBMC-GPU's programs that race, and those that pass."""
    supported = folder / "regression/cuda/gpu_verify/supported"
    for kind, races in (("data-racer", True), ("pass", False)):
        for source in sorted((supported / kind).glob("*/main.cu")):
            yield Program(source, races)


def of_names(folder: Path) -> Iterator[Program]:
    """Programs whose names say whether they race."""
    for source in sorted(folder.rglob("*.cu")):
        name = source.name.lower()
        if "race" in name:
            yield Program(source, "norace" not in name and "race-free" not in name)


SUITES = {"scor": of_scor, "esbmc-gpu": of_esbmc, "named": of_names}


def verdict(program: Program, build: Path, schedules: int) -> str:
    """What vgpu-run --check finds in a program, as one of the table's words."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "launches.h").write_text(HEADER)
        (Path(folder) / "call_kernel.h").write_text("")
        built = Path(folder) / "program"
        nvcc = (build / "nvcc.txt").read_text().split()[0]
        command = [
            nvcc,
            "-w",
            "-std=c++17",
            "-g",
            "-lineinfo",
            "-cudart",
            "shared",
            "-gencode",
            "arch=compute_80,code=compute_80",
            "-I",
            folder,
            "-include",
            f"{folder}/launches.h",
            str(program.source),
            "-o",
            str(built),
        ]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return "BUILD"
        command = [
            str(build / "bin/vgpu-run"),
            "--color=never",
            "--check=races",
            f"--schedules={schedules}",
            str(built),
        ]
        try:
            ran = subprocess.run(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "TIME"
        text = ran.stderr.decode(errors="replace")
    found = any(line.startswith("RACE") for line in text.splitlines())
    if not found and any(line.startswith(("BOUNDS", "CRASH", "TIMEOUT", "UNSUPPORTED")) for line in text.splitlines()):
        return "FAULT"
    if program.races:
        return "FOUND" if found else "MISSED"
    if found:
        return "ACCUSED"
    return "NOT ALL" if "NOT FULLY CHECKED" in text else "CLEAN"


def main() -> int:
    """Does what the command line asks, and gives the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--schedules",
        type=int,
        default=1,
        help="orders of warps and blocks to try (default 1)",
    )
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time (default 1)")
    parser.add_argument(
        "--build",
        type=Path,
        default=ROOT / "build",
        help="the build folder (default build)",
    )
    parser.add_argument("--list", action="store_true", help="show each program")
    options = parser.parse_args()
    programs = list(SUITES[options.suite](options.folder))
    if not programs:
        parser.error(f"{options.folder} has no programs of {options.suite}: give the folder of a checkout")
    verdicts = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        words = pool.map(lambda program: verdict(program, options.build, options.schedules), programs)
        for program, word in zip(programs, words, strict=True):
            verdicts.append(word)
            if options.list or word not in ("FOUND", "CLEAN"):
                print(f"{word:8} {program.source.relative_to(options.folder)}", flush=True)
    for races, what in ((True, "race"), (False, "do not race")):
        count = Counter(word for program, word in zip(programs, verdicts, strict=True) if program.races == races)
        print(f"{count.total()} {what}: " + ", ".join(f"{times} {word}" for word, times in sorted(count.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
