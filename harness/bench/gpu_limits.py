#!/usr/bin/env python3
"""How near the references come to what a GPU's memory allows, beside NVIDIA's own libraries.

Builds gpu_limits/ with the references, runs it on this machine's GPU, has compute-sanitizer watch gpu_sanitize/, and
writes docs/reference/gpu-limits.md.

    harness/bench/gpu_limits.py            # on a machine with a GPU and the CUDA toolkit, cuBLAS included
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
from dataclasses import dataclass
from pathlib import Path

from gpu_pages import HERE, REFERENCE_PAGES, ROOT, gpu_and_driver, run

_REFERENCES = {
    "reduction": "04_reduction",
    "scan": "05_scan",
    "transpose": "06_transpose",
    "circular shift": "03_circular_shift",
}
_BASES = {"read", "copy"}

# compute-sanitizer's tools, each with a wrong solution that it has to find fault with.
_TOOLS = {
    "memcheck": "04_reduction/wrong/second_load_unguarded.cu",
    "racecheck": "04_reduction/wrong/missing_barrier.cu",
    "initcheck": "05_scan/wrong/words_not_cleared.cu",
    "synccheck": "04_reduction/wrong/barrier_in_branch.cu",
}

_NOTES = """\
Found by timing some thirty variants of each kernel side by side on an H200, on 2026-11-21:

- **Reduction.** Up to 2^25 what counts is what comes before the kernel: `cudaMemsetAsync`, and one atomic operation
  a block in place of a second launch. At 2^28 blocks of 256 to 1024 threads, with two to eight loads under way, are
  within 2 % of each other, as long as they fill the SMs.
- **Scan.** One block of 1024 threads an SM, with 48 elements a thread in registers, is 5 % faster at 2^24 than two
  blocks of 512, and 1 % at 2^27. Blocks of 256 and 384 threads, and looking back over 64 or 128 words at once, are
  slower. The counter that gives out tiles costs 2 to 4 % against `blockIdx.x`, which nothing promises to work.
- **Transpose.** With tiles numbered down the columns the kernel reaches 97 to 98 % of a copy at 8192² and 16384²,
  with tiles along the rows 95 %. Larger tiles, bands of columns, more resident blocks, `__ldcs` and `__stcs` gain
  nothing there. Where rows are not aligned to 16 bytes, warps that store from multiples of 128 bytes on gain 5 %, a
  tile 128 long in place of 64 some 10 %; what is left is the L2's doing, 94 % busy (ncu): 32 floats that begin
  anywhere lie in five sectors.
- **Circular shift.** One int4 a thread and a grid as large as it takes. Two to eight int4s a thread are 1 to 3 %
  slower, a bounded grid 6 to 9 %, two aligned loads in place of a load and shuffles 2 to 4 %."""


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
        *("-std=c++17", "-O3", "-lineinfo", "-arch=native", "--threads", "0"),
        *includes,
        *sorted((HERE / folder).glob("*.cu")),
        *sources,
        *options,
        "-o",
        program,
    )


def measure(folder: Path) -> list[dict[str, str]]:
    """The program's rows: task, size, what, microseconds, gb_s."""
    sources = [source for name in _REFERENCES.values() for source in (ROOT / "reference" / name).glob("*.cu")]
    build(folder / "limits", "gpu_limits", sources, "-lcublas")
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
    references = sorted((ROOT / "reference").glob("0[1-6]_*/*.cu"))
    build(folder / "references", "gpu_sanitize", references)
    watched = []
    for tool, wrong in _TOOLS.items():
        control = folder / f"control_{tool}"
        others = [source for source in references if source.parent.name != Path(wrong).parts[0]]
        build(control, "gpu_sanitize", [*others, ROOT / "reference" / wrong])
        calls, errors = errors_found(tool, folder / "references")
        watched.append(Watched(tool, calls, errors, errors_found(tool, control)[1]))
    return watched


def speed_lines(rows: list[dict[str, str]]) -> list[str]:
    """A table a task."""
    lines = []
    for task in _REFERENCES:
        own = [row for row in rows if row["task"] == task]
        columns = list(dict.fromkeys(row["what"] for row in own))
        sizes = list(dict.fromkeys(row["size"] for row in own))
        known = {(row["size"], row["what"]): float(row["gb_s"]) for row in own}
        others = [what for what in columns if what not in _BASES | {"reference"}]
        others += [what for what in columns if what in _BASES]
        lines += ["", f"## {task.capitalize()}, GB/s", ""]
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
        f"{gpu}. Made by `harness/bench/gpu_limits.py`.",
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
        rows, watched = measure(Path(folder)), sanitize(Path(folder))
    text = page(rows, watched, gpu_and_driver())
    (REFERENCE_PAGES / "gpu-limits.md").write_text(text, encoding="utf-8")
    print(text)
    if any(row.errors or not row.calls or not row.control_errors for row in watched):
        sys.exit("compute-sanitizer finds fault with a reference, or none with a wrong solution")


if __name__ == "__main__":
    main()
