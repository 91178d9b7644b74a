#!/usr/bin/env python3
"""Compares the references' speed with what a GPU's memory allows, and with NVIDIA's own libraries.

Builds gpu_limits/ with the references, runs it on this machine's GPU, and writes the tables of
docs/records/gpu-limits.md.

    harness/dev/bench/gpu_limits.py            # on a machine with a GPU and the CUDA toolkit, cuBLAS included
"""

import argparse
import csv
import io
import os
import tempfile
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
    "compaction": "17_sort",
    "split": "17_sort",
    "sort": "17_sort",
    "sort of pairs": "17_sort",
}
_OPERATIONS = ("matrix product", "matrix product of halves")
_BASES = {"read", "copy"}
_OWN_WORDS = "## What decides it"  # from here on the page is written by hand


def build(program: Path) -> None:
    """Compiles the program for this machine's GPU."""
    run(
        os.environ.get("NVCC", "nvcc"),
        *("-std=c++17", "-O3", "-lineinfo", "-arch=native", f"-I{HERE / 'gpu_limits'}"),
        *(f"-I{header.parent}" for header in (ROOT / "assignments").glob("*/*.h")),
        *sorted((HERE / "gpu_limits").glob("*.cu")),
        *(source for name in {*_REFERENCES.values()} for source in (ROOT / "reference" / name).glob("*.cu")),
        *("-lcublas", "-o", program),
    )


def measure(program: Path) -> list[dict[str, str]]:
    """The program's rows: task, size, what, microseconds, gb_s."""
    return list(csv.DictReader(io.StringIO(run(program))))


def speed_lines(rows: list[dict[str, str]]) -> list[str]:
    """A table for each task."""
    lines = []
    for task in _REFERENCES:
        own = [row for row in rows if row["task"] == task]
        columns = list(dict.fromkeys(row["what"] for row in own))
        sizes = list(dict.fromkeys(row["size"] for row in own))
        known = {(row["size"], row["what"]): float(row["gb_s"]) for row in own}
        others = [what for what in columns if what not in _BASES | {"reference"} and not what.startswith("rung ")]
        others += [what for what in columns if what in _BASES]
        lines += [
            "",
            f"## {task.capitalize()}, {'GFLOP/s' if task in _OPERATIONS else 'GB/s'}",
            "",
        ]
        lines.append("| size | " + " | ".join([*columns, *(f"reference ÷ {what}" for what in others)]) + " |")
        lines.append("|---|" + "---:|" * len([*columns, *others]))
        for size in sizes:
            cells = [f"{known[size, what]:.0f}" for what in columns]
            cells += [f"{known[size, 'reference'] / known[size, what]:.3f}" for what in others]
            lines.append(f"| {size} | " + " | ".join(cells) + " |")
    return lines


def page(rows: list[dict[str, str]], own_words: str, gpu: str) -> str:
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
    ]
    return "\n".join(lines) + f"\n{own_words}"


def main() -> None:
    """Measures, and writes the page."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    path = RECORD_PAGES / "gpu-limits.md"
    _, heading, own_words = path.read_text(encoding="utf-8").partition(_OWN_WORDS)
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder) / "limits")
        rows = measure(Path(folder) / "limits")
    text = page(rows, heading + own_words, gpu_and_driver())
    path.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
