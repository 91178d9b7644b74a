#!/usr/bin/env python3
"""Compares the course's coalescing table with a virtual GPU of 2006, one of today, and a real GPU.

    gpu_coalescing.py build PROGRAM                  nvcc compiles gpu_coalescing.cu and 08's reference to PROGRAM
    gpu_coalescing.py record PROGRAM                 on a machine with a GPU: times -> recorded/coalescing-MODEL.csv
    gpu_coalescing.py page PROGRAM                   writes docs/records/coalescing.md
    gpu_coalescing.py page PROGRAM --verify          says whether it is up to date

The course's figures are in recorded/course.csv.
"""

import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

import gpu_pages

BATCHES = 31
FLOATS = 3 << 20
# Each pattern's row in recorded/course.csv, if the course has it, and its rung.
PATTERNS = {
    "aligned": ("coalescing: coalesced", "`coalesce2_aligned`"),
    "aligned, one thread in eight idle": ("coalescing: some threads idle", ""),
    "misaligned by one float": ("coalescing: misaligned", "`coalesce3_misaligned`"),
    "strided by 32 floats": ("", "`coalesce4_strided`"),
    "neighbours swapped": ("coalescing: permuted", "`coalesce5_permuted`"),
    "array of structures": ("coalescing: float3", "`coalesce6_structures`"),
    "structure of arrays": ("", "`coalesce7_arrays`"),
    "array of structures, staged": ("coalescing: float3 staged", "`coalesce8_staged`"),
}


@dataclass(frozen=True)
class Measured:
    """A GPU's times in microseconds by pattern: with cached data, and with uncached data."""

    where: str
    cached: dict[str, float]
    uncached: dict[str, float]


def build(program: Path, *, ptx_only: bool) -> None:
    """Compiles it with the reference of 08."""
    sources = gpu_pages.HERE / "gpu_coalescing.cu", gpu_pages.ROOT / "reference/08_coalescing/coalescing.cu"
    gpu_pages.compile_program(program, *sources, assignment="08_coalescing", ptx_only=ptx_only)


def record(program: Path) -> None:
    """Records each pattern's time: the median of three runs, each the median of BATCHES batches of launches."""
    times: dict[str, list[tuple[float, float]]] = {}
    for _ in range(3):
        for line in gpu_pages.run(program, f"--time={BATCHES}").splitlines():
            pattern, cached, uncached = line.split("\t")
            times.setdefault(pattern, []).append((float(cached), float(uncached)))
    rows = [
        [pattern, *(f"{statistics.median(column):.2f}" for column in zip(*pairs, strict=True))]
        for pattern, pairs in times.items()
    ]
    where = gpu_pages.gpu_and_driver()
    gpu_pages.write_recorded(
        f"coalescing-{gpu_pages.model_of(where)}.csv", where, ["pattern", "cached", "uncached"], rows
    )


def count(vgpu_run: Path, program: Path, device: str) -> dict[str, dict[str, str]]:
    """Each pattern's counters and modelled time on the virtual GPU."""
    names, launches = gpu_pages.count(vgpu_run, program, device=device)
    if names != list(PATTERNS) or len(launches) != len(names):
        sys.exit("the program's patterns differ from this script's")
    return dict(zip(names, launches, strict=True))


def measured(model: str) -> Measured:
    """The times recorded on this model of GPU."""
    where, rows = gpu_pages.read_recorded(f"coalescing-{model}.csv")
    if [row["pattern"] for row in rows] != list(PATTERNS):
        sys.exit("the recorded patterns differ from the program's: record them again")
    return Measured(
        where,
        {row["pattern"]: float(row["cached"]) for row in rows},
        {row["pattern"]: float(row["uncached"]) for row in rows},
    )


def published() -> dict[str, float]:
    """The course's times in microseconds by pattern."""
    _, rows = gpu_pages.read_recorded("course.csv")
    course = {row["case"]: float(row["microseconds"]) for row in rows}
    return {pattern: course[row] for pattern, (row, _) in PATTERNS.items() if row}


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """A table in Markdown, with numbers to the right."""
    return [
        "| " + " | ".join(heads) + " |",
        "|---|" + "---:|" * (len(heads) - 1),
        *("| " + " | ".join(cells) + " |" for cells in rows),
    ]


def of_aligned(times: dict[str, float], pattern: str) -> str:
    """A pattern's time as a multiple of the aligned one's."""
    return f"{times[pattern] / times['aligned']:.2f}" if pattern in times else ""


def microseconds(times: dict[str, float], pattern: str) -> str:
    """A time in microseconds, in three digits or whole."""
    if pattern not in times:
        return ""
    time = times[pattern]
    return f"{time:,.0f}".replace(",", " ") if time >= 100 else f"{time:.3g}"  # noqa: PLR2004


_HEAD = """\
# Coalescing, then and now

The course's experiment, and the patterns of [assignment 08](../../assignments/08_coalescing/README.md): 3 145 728
floats are read, incremented and written, and only which thread has which float differs. The tests check that this page
is up to date.

```sh
harness/dev/bench/gpu_coalescing.py build gpu_coalescing
harness/dev/bench/gpu_coalescing.py record gpu_coalescing                # with an H100 or H200
harness/dev/bench/gpu_coalescing.py page gpu_coalescing                  # anywhere: this page
```

## What the counters say

Today's GPUs move sectors of 32 bytes; 4 per request is the best for 32 floats. The last column counts bytes under the
coalescing rules of 2006 ([counting](../concepts/counting.md)): 8 for each float that is read and written, or 64 where
the half-warps' rule is broken.
"""
_TIMES = """
## Times, µs

The course measured on a GeForce 8800. The virtual GPUs' times are [modelled](../concepts/time-model.md).
"""
_MEASURED = """
Measured on {where}: medians of {batches} batches of 20 launches, of three runs. *From L2* is on the same buffers
again and again, *from memory* on 16 pairs of buffers in turn, which no cache holds.
"""
_RATIOS = """
## As a multiple of the aligned pattern's
"""
_END = """
* **Misaligned and swapped** accesses broke the rule of 2006: each thread's float became a transaction of its own. Today
  they are one sector more, or the same ones.
* **Strided** accesses move a sector for each float, then and now.
* **Structures**: the three requests touch the same 12 sectors. The hardware gathers the three stores of neighbouring
  threads; the time model charges them as if they came at different times
  ([known limits](../concepts/time-model.md#known-limits)). So no criterion of the assignment rests on that time.
* **Staged** structures, and structures of arrays, cost what plain floats cost, then and now.
"""


def counted_row(pattern: str, rung: str, old: dict[str, str], new: dict[str, str]) -> list[str]:
    """What the virtual GPUs count of a pattern."""
    requests = int(new["global_load_requests"]) + int(new["global_store_requests"])
    sectors = int(new["global_load_sectors"]) + int(new["global_store_sectors"])
    strict = int(old["strict_coalescing_bytes"])
    return [pattern, rung, f"{sectors / requests:.2f}", f"{sectors / FLOATS:.3f}", f"{strict / FLOATS:.1f}"]


def page_text(vgpu_run: Path, program: Path) -> str:
    """The page, in Markdown."""
    old, new = count(vgpu_run, program, "g80"), count(vgpu_run, program, "h100")
    files = sorted(gpu_pages.RECORDED.glob("coalescing-*.csv"))
    gpus = [measured(file.stem.removeprefix("coalescing-")) for file in files]
    columns = [
        ("course", published()),
        ("virtual G80", {name: float(row["microseconds"]) for name, row in old.items()}),
        ("virtual H100", {name: float(row["microseconds"]) for name, row in new.items()}),
    ]
    for gpu in gpus:
        name = gpu.where.split(" ")[1].rstrip(",")
        columns += [(f"{name}, from L2", gpu.cached), (f"{name}, from memory", gpu.uncached)]
    heads = ["pattern", *(head for head, _ in columns)]
    counted = [counted_row(pattern, rung, old[pattern], new[pattern]) for pattern, (_, rung) in PATTERNS.items()]
    lines = [
        _HEAD,
        *table(["pattern", "rung", "sectors per request", "sectors per float", "bytes per float, 2006"], counted),
        _TIMES + "".join(_MEASURED.format(where=gpu.where, batches=BATCHES) for gpu in gpus),
        *table(heads, [[name, *(microseconds(times, name) for _, times in columns)] for name in PATTERNS]),
        _RATIOS,
        *table(heads, [[name, *(of_aligned(times, name) for _, times in columns)] for name in PATTERNS]),
        _END.rstrip("\n"),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Builds the program, records it on hardware, or writes or verifies the page."""
    gpu_pages.main(__doc__, "coalescing.md", record, page_text, build)


if __name__ == "__main__":
    main()
