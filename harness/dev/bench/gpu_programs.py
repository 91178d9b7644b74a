#!/usr/bin/env python3
"""Compares the virtual GPU's counters with Nsight Compute's on programs that others wrote.

    gpu_programs.py record CHECKOUT    with a GPU: builds the programs, counts with ncu and with the virtual GPU
    gpu_programs.py page               anywhere: writes docs/records/gpu-programs.md from the recording
    gpu_programs.py page --verify      says whether the page is up to date

CHECKOUT is a clone of https://github.com/NVIDIA/cuda-samples; gpu_programs.json names the programs and their arguments.
Of each program the first launches are compared, one by one. Unlike gpu_counting.py's cases, which ask what a counter
means, these ask how often the count of the PTX is the count of the machine code. Both counts are kept in the recording.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import gpu_pages
from gpu_counting import METRICS, SUMS, passes, run_ncu, where_and_ncu

sys.path.insert(0, str(gpu_pages.ROOT / "harness" / "dev" / "public_suites"))
from checkout import Checkout, Sample

PROGRAMS = gpu_pages.HERE / "gpu_programs.json"
RECORDING = "programs.csv"
MOST_LAUNCHES = 12  # of a program
BUILD_SECONDS, RUN_SECONDS = 120.0, 240.0


def build(checkout: Checkout, sample: Sample, folder: Path) -> str:
    """Builds a program with machine code and PTX of compute capability 9.0; returns why if that fails."""
    folder.mkdir(parents=True, exist_ok=True)
    includes = [path for path in (*checkout.common, sample.folder, sample.folder / "inc") if path.is_dir()]
    command = [os.environ.get("NVCC", "nvcc"), "-std=c++17", "-O3", "-lineinfo", "-cudart", "shared"]
    command += ["-gencode", "arch=compute_90,code=[compute_90,sm_90]", *(f"-I{path}" for path in includes)]
    command += [*map(str, sample.sources), "-o", str(folder / sample.name)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=BUILD_SECONDS)
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip().splitlines()[-1]


def ncu(program: Path, arguments: list[str], cwd: Path) -> list[dict[str, str]]:
    """The first launches as ncu counts them: kernel, grid and block, and the sum of each metric."""
    launches: list[dict[str, str]] = []
    for metrics in passes():
        most = "--launch-count", str(MOST_LAUNCHES)
        rows = run_ncu(metrics, *most, program, *arguments, cwd=cwd, seconds=RUN_SECONDS)
        launches = launches or [{} for _ in rows]
        if len(rows) != len(launches):
            return []
        for launch, row in zip(launches, rows, strict=True):
            launch["kernel"] = re.split(r"[<(]", row["Kernel Name"].removeprefix("void "))[0]
            launch["blocks"], launch["threads"] = (_count(row[f"{name} Size"]) for name in ("Grid", "Block"))
            launch.update({title.removesuffix(".sum"): row[title] for title in metrics})
    return launches


def _count(size: str) -> str:
    product = 1
    for number in re.findall(r"\d+", size):
        product *= int(number)
    return str(product)


def virtual(vgpu_run: Path, program: Path, arguments: list[str], cwd: Path) -> list[dict[str, str]]:
    """The launches as the virtual GPU counts them; none where it did not come to an end in time."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counters.csv"
        command = [vgpu_run, "--device=h200", "--threads=4", f"--counters={file}", program, *arguments]
        try:
            subprocess.run(list(map(str, command)), cwd=cwd, check=False, capture_output=True, timeout=RUN_SECONDS)
        except subprocess.TimeoutExpired:
            return []
        if not file.is_file():
            return []
        with file.open(newline="") as text:
            return list(csv.DictReader(text))


def record(root: Path, work: Path, vgpu_run: Path) -> None:
    """Builds in parallel; counts one program at a time on the GPU, and meanwhile on the virtual one."""
    checkout = Checkout(root.resolve())
    programs: dict[str, list[str]] = json.loads(PROGRAMS.read_text())
    samples = {sample.name: sample for sample in checkout.samples if sample.name in programs}
    for name in programs.keys() - samples.keys():
        print(f"{name}: not in this checkout", file=sys.stderr)
    counters = list(METRICS)
    rows: list[list[str]] = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        built = {name: pool.submit(build, checkout, sample, work / name) for name, sample in samples.items()}
        ours = {}
        for name, sample in samples.items():
            if reason := built[name].result():
                print(f"{name}: does not build: {reason}", file=sys.stderr)
                continue
            place = (work / name / name).resolve(), programs[name], sample.folder
            ours[name] = pool.submit(virtual, vgpu_run.resolve(), *place)
        for name, counted in ours.items():
            try:
                theirs = ncu((work / name / name).resolve(), programs[name], samples[name].folder)
            except subprocess.TimeoutExpired:
                theirs = []
            mine = counted.result()
            print(f"{name}: {len(theirs)} launches by ncu, {len(mine)} on the virtual GPU", flush=True)
            for index, (real, own) in enumerate(zip(theirs, mine, strict=False)):
                if (real["blocks"], real["threads"]) != (own["blocks"], own["threads"]):
                    print(f"{name}: launch {index}: {real['kernel']} is not {own['kernel']}", file=sys.stderr)
                    break
                row = [name, str(index), real["kernel"]]
                for counter in counters:
                    row.append(str(sum(int(own[part]) for part in SUMS.get(counter, (counter,)))))
                    row.append(_sum(real, METRICS[counter]))
                rows.append(row)
    alike: dict[tuple[str, ...], list[str]] = {}
    for program, launch, *counted_of in rows:
        alike.setdefault((program, *counted_of), []).append(launch)
    rows = [[program, " ".join(launches), *counted_of] for (program, *counted_of), launches in alike.items()]
    header = ["program", "launches", "kernel", *(f"{who} {counter}" for counter in counters for who in ("ours", "ncu"))]
    gpu_pages.write_recorded(RECORDING, where_and_ncu(), header, rows)


def _sum(real: dict[str, str], metrics: tuple[str, ...]) -> str:
    values = [real.get(name, "") for name in metrics]
    return str(sum(map(int, values))) if all(value.isdigit() for value in values) else ""


@dataclass(frozen=True)
class Tally:
    """How often one counter is equal: over launches that have it, and over programs where all of them are."""

    launches: int
    equal: int
    programs: int
    programs_equal: int


def tally(rows: list[dict[str, str]], counter: str) -> Tally:
    """Counts the launches in which either side counts anything."""
    seen = [
        row for row in rows if row[f"ncu {counter}"] and (row[f"ours {counter}"], row[f"ncu {counter}"]) != ("0", "0")
    ]
    differs = Counter(row["program"] for row in seen if row[f"ours {counter}"] != row[f"ncu {counter}"])
    programs = {row["program"] for row in seen}
    return Tally(len(seen), len(seen) - differs.total(), len(programs), len(programs - differs.keys()))


def page_text() -> str:
    """The page, in Markdown."""
    where, alike = gpu_pages.read_recorded(RECORDING)
    programs = list(dict.fromkeys(row["program"] for row in alike))
    launches = [(int(launch), row) for row in alike for launch in row["launches"].split()]
    rows = [row for _, row in sorted(launches, key=lambda one: (programs.index(one[1]["program"]), one[0]))]
    lines = [
        "# Counters of other people's programs beside Nsight Compute's",
        "",
        f"The first launches, at most {MOST_LAUNCHES}, of {len(programs)} programs of cuda-samples, which this "
        f"project did not write: {len(rows)} launches.",
        f"Hardware: {where}.",
        "",
        "```sh",
        "harness/dev/bench/gpu_programs.py record CUDA-SAMPLES --work out/programs   # with a GPU",
        "harness/dev/bench/gpu_programs.py page                                      # anywhere: this page",
        "```",
        "",
        "The virtual GPU counts what the PTX does, exactly and the same in every run. The hardware counts what the",
        "machine code does, and the assembler may have predicated a branch, joined neighbouring loads, or unrolled a",
        "loop: [the differences](../concepts/counting.md#where-hardware-counts-otherwise). How often the two agree:",
        "",
        "| counter | launches that have it | equal | programs that have it | equal in all launches |",
        "|---|---:|---:|---:|---:|",
    ]
    for counter in METRICS:
        one = tally(rows, counter)
        if one.launches:
            share = f"{one.equal} ({100 * one.equal / one.launches:.0f} %)"
            lines.append(f"| `{counter}` | {one.launches} | {share} | {one.programs} | {one.programs_equal} |")
    lines += [
        "",
        "## By program",
        "",
        "Counters that differ in some launch, with the first such launch: ours, then ncu's.",
        "",
        "| program | launches | counters that differ |",
        "|---|---:|---|",
    ]
    for program in programs:
        mine = [row for row in rows if row["program"] == program]
        parts = []
        for counter in METRICS:
            differs = [row for row in mine if row[f"ncu {counter}"] and row[f"ours {counter}"] != row[f"ncu {counter}"]]
            if differs:
                first = differs[0]
                both = f"{first[f'ours {counter}']} ≠ {first[f'ncu {counter}']}"
                parts.append(f"`{counter}` in {len(differs)}: `{first['kernel']}` {both}")
        lines.append(f"| {program} | {len(mine)} | {'; '.join(parts) or 'none'} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Records on hardware, or writes or verifies the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["record", "page"])
    parser.add_argument("checkout", type=Path, nargs="?")
    parser.add_argument("--work", type=Path, default=Path("out/programs"))
    parser.add_argument("--vgpu-run", type=Path, default=Path("build/bin/vgpu-run"))
    parser.add_argument("--verify", action="store_true")
    arguments = parser.parse_args()
    if arguments.what == "record":
        if arguments.checkout is None:
            parser.error("record needs a checkout of cuda-samples")
        record(arguments.checkout, arguments.work, arguments.vgpu_run)
    else:
        gpu_pages.finish(gpu_pages.RECORD_PAGES / "gpu-programs.md", page_text(), verify=arguments.verify)


if __name__ == "__main__":
    main()
