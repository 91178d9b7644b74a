#!/usr/bin/env python3
"""How near the references come to what a GPU's memory allows, beside NVIDIA's own libraries.

Builds gpu_limits/ with the references, runs it on this machine's GPU, has compute-sanitizer watch gpu_sanitize/, and
writes docs/records/gpu-limits.md.

    harness/dev/bench/gpu_limits.py            # on a machine with a GPU and the CUDA toolkit, cuBLAS included
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from gpu_pages import HERE, RECORD_PAGES, ROOT, gpu_and_driver, run

_REFERENCES = {
    "reduction": "04_reduction",
    "scan": "05_scan",
    "transpose": "06_transpose",
    "circular shift": "03_circular_shift",
    "matrix product": "14_matmul",
    "matrix product of halves": "14_matmul",
    "histogram": "15_histogram",
    "histogram of 16 bits": "15_histogram",
}
_OPERATIONS = ("matrix product", "matrix product of halves")
_BASES = {"read", "copy"}

# compute-sanitizer's tools, each with a wrong solution that it has to find fault with.
_TOOLS = {
    "memcheck": "04_reduction/wrong/second_load_unguarded.cu",
    "racecheck": "04_reduction/wrong/missing_barrier.cu",
    "initcheck": "05_scan/wrong/words_not_cleared.cu",
    "synccheck": "04_reduction/wrong/barrier_in_branch.cu",
}

_NOTES = """\
Found by timing some hundred variants of each kernel side by side, with a copy and the library in the same run, on an
H200 and an H100 80GB HBM3, on 2026-11-21 and 2026-11-23:

- **Reduction.** Up to 2^25 what counts is what comes before the kernel: `cudaMemsetAsync`, and one atomic operation
  a block in place of a second launch. At 2^28 blocks of 256 to 1024 threads, with two to eight loads under way, are
  within 2 % of each other, as long as they fill the SMs.
- **Scan.** What decides is how far apart the tiles' words are. Side by side, four share a sector, and every SM polls
  the few sectors that others are about to write. With words 8, 16, 32, 64 and 128 bytes apart a scan of 2^27 reaches
  84, 90, 94, 95 and 95 % of a copy on an H200 (one block of 1024 threads an SM, 49152 elements a tile). Once they are
  apart, four blocks of 256 threads an SM with 12288 elements each are within 1 % of that at 2^27, and 3 to 5 % faster
  at 2^24 and 2^25, where large tiles leave SMs without a last one. Looking back over 64 or 128 words at once is 3 to
  8 % slower, `__nanosleep` between polls changes nothing, and stores without `__stcs` cost 5 to 7 %. Blocks that stay
  and load their next tile early, into registers or by `cp.async`, are 6 % slower at best, most of them 30 %.
- **Transpose, aligned.** Tiles are numbered down the columns: along the rows, in bands or in squares of 4 to 32 tiles
  they are up to 3 % slower. 512 threads a tile, two loads each, gain up to 0.7 % on 256 threads with four. `__ldcs`
  and `__stcs` together gain 10 % at 1024², 3 to 4 % at 2048², 1 % at 4096² and nothing beyond; either alone loses up
  to 2 %. Other tiles from 32 × 32 to 256 × 64 and blocks that stay for several tiles gain nothing. Three blocks of 256
  threads an SM, in place of six, are 0.3 % faster on the H100 and 3 % slower on the H200.
- **Transpose, unaligned.** To store whole sectors gains 5 %, to have the L2 cache fetch 256 bytes where a load misses
  another 1.5 %. A tile of 128 columns and 64 rows is the best of thirteen on both GPUs. Loads that begin at multiples
  of 128 bytes gain nothing on the H100 and lose 5 % on the H200; `__ldcs` and `__stcs` lose 2 %.
- **Circular shift.** One int4 a thread and a grid as large as it takes. Two to eight int4s a thread are 1 to 3 %
  slower, a bounded grid 6 to 9 %, two aligned loads in place of a load and shuffles 2 to 4 %.

What bounds them, by `ncu --clock-control none` on an H200 (driver 580.159.04, 2026-11-23), one launch each:

| kernel | µs | DRAM busy | L2 throughput | L2 tag lookups | DRAM read, MB | written, MB |
|---|---:|---:|---:|---:|---:|---:|
| copy of 8192², one float4 a thread | 124.0 | 86.1 % | 92.2 % | 42.3 % | 268.5 | 244.9 |
| transpose of 8192², tile by 256 threads | 127.3 | 83.6 % | 90.6 % | 41.9 % | 268.5 | 243.5 |
| transpose of 8191², stores that share sectors | 140.5 | 76.4 % | 94.7 % | 56.6 % | 269.0 | 247.5 |
| transpose of 8191², whole sectors | 134.1 | 80.2 % | 94.8 % | 63.5 % | 270.0 | 247.6 |
| scan of 2^27, words side by side | 304.1 | 71.6 % | 78.7 % | 34.5 % | 536.9 | 510.5 |
| scan of 2^27, words 96 bytes apart | 272.8 | 79.9 % | 85.9 % | 39.8 % | 537.6 | 510.4 |

These are `dram__cycles_active`, ncu's "L2 Cache Throughput", `lts__t_tag_requests` and `dram__bytes_*`. All
kernels read their input from memory once. An aligned transpose is bound as the copy is, by memory, which is busy 3
% less of the time. Where rows are not aligned, 32 neighbouring floats lie in two lines of 128 bytes, so the L2
cache looks up 1.6 times as many tags; it is nearer its limit than under the copy, and memory is further from its
own. A scan whose words are side by side has nothing near a limit: it waits.

On an NVIDIA H100 80GB HBM3, driver 580.159.04, 2026-11-23, by the same program:

| | reference, GB/s | ÷ library | ÷ copy |
|---|---:|---:|---:|
| scan, 2^20 | 876 | 1.123 | 0.612 |
| scan, 2^22 | 1823 | 1.208 | 0.779 |
| scan, 2^24 | 2455 | 1.148 | 0.873 |
| scan, 2^24-3 | 2455 | 1.145 | 0.925 |
| scan, 2^27 | 2896 | 1.190 | 0.969 |
| transpose, 1024x1024 | 1587 | 1.366 | 1.069 |
| transpose, 2048x2048 | 2374 | 1.022 | 1.009 |
| transpose, 4096x4096 | 2766 | 1.042 | 0.982 |
| transpose, 8192x8192 | 2904 | 1.019 | 0.973 |
| transpose, 16384x16384 | 2933 | 1.016 | 0.973 |
| transpose, 12288x5120 | 2880 | 1.020 | 0.966 |
| transpose, 8191x8191 | 2850 | 1.256 | 0.965 |
| transpose, 5003x12007 | 2800 | 1.256 | 0.954 |

The matrix product (assignment 14), GFLOP/s of square products, on an NVIDIA H100 80GB HBM3, driver 580.159.04,
2026-11-28, by the same program. The library is `cublasGemmEx`, in float with `CUBLAS_COMPUTE_32F_PEDANTIC`:

| n | rung 1 | rung 2 | rung 3 | rung 4 | library | rung 4 ÷ library | rung 5, halves | library | rung 5 ÷ library |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
| 1024 | 4508 | 8825 | 18964 | 25474 | 38089 | 0.669 | 49917 | 244793 | 0.204 |
| 4096 | 4823 | 8670 | 23529 | 28810 | 52100 | 0.553 | 94359 | 842316 | 0.112 |
| 1023 | 4738 | 9110 | 19550 | 19555 | 40401 | 0.484 | 26154 | 77690 | 0.337 |

These references are behind the library on purpose: each shows one technique. Theirs are tiles of 64 × 64 with 4 × 4
sums a thread and one buffer, so that loading and multiplying take turns; the library has larger tiles, loads the next
while it multiplies, and multiplies halves by `wgmma`, which `wmma` does not reach. With rows that are no multiple of
16 bytes rung 4 goes rung 3's way.

The histogram (assignment 15), microseconds, on an NVIDIA H200, 2026-11-28, by the same program; skewed: one value has
15/16 of the elements. The library is `cub::DeviceHistogram`:

| bytes, values | rung 1 | rung 2 | rung 4 | library | library ÷ rung 4 |
|---|---:|---:|---:|---:|---:|
| 2^20, random | 273.8 | 10.8 | 5.7 | 8.8 | 1.53 |
| 2^24, random | 4341.6 | 34.4 | 17.0 | 13.2 | 0.78 |
| 2^24, skewed | 11934.3 | 35.3 | 17.6 | 11.0 | 0.62 |
| 2^27, random | 34709.2 | 188.8 | 49.8 | 65.8 | 1.32 |
| 2^27, skewed | 95473.2 | 189.1 | 49.7 | 42.2 | 0.85 |

Of 2^24 words of 16 bits rung 5 counts random ones in 188 µs (library: 224) and skewed ones in 409 (157): it adds once a
warp to the word that all want. At 2^24 bytes rung 4 has 1,024 blocks, which clear and add up 32 KiB of bins each for
16,384 elements. Equal bytes cost rung 2 nothing: ones are added together (`ATOMS.POPC.INC`). Rung 3 is not measured."""


@dataclass(frozen=True)
class Watched:
    """What one tool of compute-sanitizer reports of the references, and of a wrong solution."""

    tool: str
    calls: int
    errors: int
    control_errors: int


def build(program: Path, folder: str, sources: list[Path], *options: str) -> None:
    """Compiles one of the programs for this machine's GPU."""
    includes = [f"-I{HERE / folder}", *(f"-I{header.parent}" for header in (ROOT / "assignments").glob("*/*.h"))]
    run(
        os.environ.get("NVCC", "nvcc"),
        *("-std=c++17", "-O3", "-lineinfo", "-arch=native"),
        *includes,
        *sorted((HERE / folder).glob("*.cu")),
        *sources,
        *options,
        "-o",
        program,
    )


def build_all(folder: Path) -> None:
    """The six programs at once: nvcc takes a program's files one after the other, and nothing is measured meanwhile."""
    limits = [source for name in {*_REFERENCES.values()} for source in (ROOT / "reference" / name).glob("*.cu")]
    references = sorted((ROOT / "reference").glob("0[1-6]_*/*.cu"))
    with ThreadPoolExecutor() as pool:
        begun = [
            pool.submit(build, folder / "limits", "gpu_limits", limits, "-lcublas"),
            pool.submit(build, folder / "references", "gpu_sanitize", references),
        ]
        for tool, wrong in _TOOLS.items():
            assignment, _, name = wrong.partition("/")
            others = [source for source in references if source.parent.name != assignment]
            control = folder / f"{tool}.cu"
            control.write_text(run(ROOT / ".venv/bin/grader", "check", assignment, "--show", name), encoding="utf-8")
            sources = [*others, control]
            begun.append(pool.submit(build, folder / f"control_{tool}", "gpu_sanitize", sources))
    for program in begun:
        program.result()


def measure(folder: Path) -> list[dict[str, str]]:
    """The program's rows: task, size, what, microseconds, gb_s."""
    return list(csv.DictReader(io.StringIO(run(folder / "limits"))))


def errors_found(tool: str, program: Path) -> tuple[int, int]:
    """How many calls the program made before it ended, and what the tool counts."""
    done = subprocess.run(
        ["/usr/bin/env", "compute-sanitizer", "--tool", tool, program],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    summary = re.search(r"SUMMARY: (\d+) (?:error|hazard)", done.stdout)
    if summary is None:
        sys.exit(f"compute-sanitizer --tool {tool}: no summary\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    calls = re.search(r"^(\d+) calls$", done.stdout, re.MULTILINE)
    return int(calls[1]) if calls else 0, int(summary[1])


def sanitize(folder: Path) -> list[Watched]:
    """Every launcher of the references under each tool, and each tool's control."""
    watched = []
    for tool in _TOOLS:
        calls, errors = errors_found(tool, folder / "references")
        watched.append(Watched(tool, calls, errors, errors_found(tool, folder / f"control_{tool}")[1]))
    return watched


def speed_lines(rows: list[dict[str, str]]) -> list[str]:
    """A table a task."""
    lines = []
    for task in _REFERENCES:
        own = [row for row in rows if row["task"] == task]
        columns = list(dict.fromkeys(row["what"] for row in own))
        sizes = list(dict.fromkeys(row["size"] for row in own))
        known = {(row["size"], row["what"]): float(row["gb_s"]) for row in own}
        others = [what for what in columns if what not in _BASES | {"reference"} and not what.startswith("rung ")]
        others += [what for what in columns if what in _BASES]
        lines += ["", f"## {task.capitalize()}, {'GFLOP/s' if task in _OPERATIONS else 'GB/s'}", ""]
        lines.append("| size | " + " | ".join([*columns, *(f"reference ÷ {what}" for what in others)]) + " |")
        lines.append("|---|" + "---:|" * len([*columns, *others]))
        for size in sizes:
            cells = [f"{known[size, what]:.0f}" for what in columns]
            cells += [f"{known[size, 'reference'] / known[size, what]:.3f}" for what in others]
            lines.append(f"| {size} | " + " | ".join(cells) + " |")
    return lines


def sanitizer_lines(watched: list[Watched]) -> list[str]:
    """The page's part on compute-sanitizer."""
    lines = ["", "## compute-sanitizer", ""]
    lines += [
        "Every launcher of the references that has a kernel, at lengths around warps, blocks and tiles, and with",
        "pointers as badly aligned as they may be; each result is checked. The last columns show that the tool would",
        "have found something: the same program with one reference replaced by a wrong solution.",
        "",
        "| `compute-sanitizer --tool` | calls | errors | wrong solution | errors |",
        "|---|---:|---:|---|---:|",
    ]
    for row in watched:
        wrong = f"`{_TOOLS[row.tool]}`"
        lines.append(f"| {row.tool} | {row.calls} | {row.errors} | {wrong} | {row.control_errors} |")
    return lines


def page(rows: list[dict[str, str]], watched: list[Watched], gpu: str) -> str:
    """The page, in Markdown."""
    lines = [
        "# At the limit",
        "",
        "The last rung of each ladder beside NVIDIA's libraries, and beside a plain read or copy of as many bytes:",
        "what the memory allows. A copy is `cudaMemcpyAsync`'s, a read a kernel that loads all and keeps nothing.",
        "What is compared takes turns, and so do buffers, so that no call finds its input in the cache. Every result",
        "is checked.",
        "",
        f"{gpu}. Made by `harness/dev/bench/gpu_limits.py`.",
        "",
        "![For each size a dot for the reference and one for NVIDIA's library, as shares of a plain copy's or read's "
        "speed](../figures/limits.svg)",
        *speed_lines(rows),
        "",
        "## What decides it",
        "",
        *_NOTES.splitlines(),
        *sanitizer_lines(watched),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measures, and writes the page."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        build_all(Path(folder))
        rows, watched = measure(Path(folder)), sanitize(Path(folder))
    text = page(rows, watched, gpu_and_driver())
    (RECORD_PAGES / "gpu-limits.md").write_text(text, encoding="utf-8")
    print(text)
    if any(row.errors or not row.calls or not row.control_errors for row in watched):
        sys.exit("compute-sanitizer finds fault with a reference, or none with a wrong solution")


if __name__ == "__main__":
    main()
