#!/usr/bin/env python3
"""Compares the virtual GPU's counters with Nsight Compute's on the same program.

    gpu_counting.py build PROGRAM                  nvcc compiles harness/dev/bench/gpu_cases to PROGRAM
    gpu_counting.py record PROGRAM                 on a machine with a GPU: what ncu counts -> recorded/ncu.csv
    gpu_counting.py page PROGRAM --vgpu-run FILE   writes docs/records/gpu-counting.md
    gpu_counting.py page PROGRAM --vgpu-run FILE --verify   says whether it is up to date

Only metrics that are the same in every run are taken: those that follow from the executed instructions and their
addresses, not from timing or from what caches held. A difference that no reason below explains is an error.
"""

import csv
import io
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

import gpu_pages

Row = dict[str, str]
L1 = "l1tex__t_{what}_pipe_lsu_mem_{space}_op_{op}"


def l1(what: str, space: str, *ops: str) -> tuple[str, ...]:
    """The L1 metrics that count `what` for accesses to `space`: one for each of `ops`."""
    return tuple(L1.format(what=what, space=space, op=op) for op in ops)


# Our counter: the metrics of Nsight Compute that add up to it.
METRICS: dict[str, tuple[str, ...]] = {
    "global_load_requests": l1("requests", "global", "ld"),
    "global_load_sectors": l1("sectors", "global", "ld"),
    "global_store_requests": l1("requests", "global", "st"),
    "global_store_sectors": l1("sectors", "global", "st"),
    "global sectors_ideal": ("memory_l2_theoretical_sectors_global_ideal",),
    "atomics": l1("requests", "global", "atom", "red"),
    "atomic_sectors": l1("sectors", "global", "atom", "red"),
    "shared_load_requests": ("smsp__inst_executed_op_shared_ld_pred_on_any",),
    "shared_store_requests": ("smsp__inst_executed_op_shared_st_pred_on_any",),
    "shared_atomics": ("smsp__inst_executed_op_shared_atom",),
    "shared_wavefronts": ("smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",),
    "shared_wavefronts_ideal": ("memory_l1_wavefronts_shared_ideal",),
    "local_requests": (
        "smsp__inst_executed_op_local_ld",
        "smsp__inst_executed_op_local_st",
    ),
    "local_sectors": l1("sectors", "local", "ld", "st"),
    "divergent_branches": ("smsp__sass_branch_targets_threads_divergent",),
}
SHOWN = 4  # differences of one reason that the page names
# Counters that Nsight Compute adds up differently.
SUMS = {
    "global sectors_ideal": ("global_load_sectors_ideal", "global_store_sectors_ideal"),
}


@dataclass(frozen=True)
class Reason:
    """Why counts of some cases differ: the machine code has other accesses than the PTX."""

    cases: str  # a regular expression
    counters: tuple[str, ...]
    text: str


REASONS = [
    Reason(
        r".*",
        ("divergent_branches",),
        "the assembler made predicated instructions of a short `if`, or `@P EXIT`: no branch is left to diverge",
    ),
    Reason(
        r"matrix product 64, tiled",
        ("shared_load_requests", "shared_wavefronts", "shared_wavefronts_ideal"),
        "the assembler made one `LDS.128` of four neighbouring loads",
    ),
    Reason(
        r"scan, tree",
        (
            "shared_load_requests",
            "shared_store_requests",
            "shared_wavefronts",
            "shared_wavefronts_ideal",
        ),
        "where the tree's two elements are neighbours, in its first and its last step, the assembler made one `LDS.64` "
        "of two loads, and in the last one `STS.64` of two stores",
    ),
    Reason(
        r"atomic global.*|reduction of 2100: 8 shuffle",
        ("global sectors_ideal",),
        "Nsight Compute counts the ideal sectors of atomics too, the virtual GPU those of loads and stores",
    ),
    Reason(
        r"atomic global count",
        ("atomic_sectors",),
        "the assembler lets one lane add for its warp (`VOTEU`, `POPC`, `@P0 REDG`)",
    ),
]


def passes() -> list[list[str]]:
    """The metrics of two runs: ncu counts some by patching the machine code, apart from the hardware's counters."""
    wanted = [name for metrics in METRICS.values() for name in metrics]
    patched = [name for name in wanted if name.startswith(("smsp__sass", "memory_"))]
    return [
        [f"{name}.sum" for name in wanted if name not in patched],
        [name if name.startswith("memory_") else f"{name}.sum" for name in patched],
    ]


def run_ncu(metrics: list[str], *command: str | Path, cwd: Path | None = None, seconds: float = 1800) -> list[Row]:
    """The launches as ncu counts them; `command`: options of ncu, the program, its arguments."""
    with tempfile.NamedTemporaryFile("r", suffix=".csv") as log:
        words = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
        words += ["--log-file", log.name, "--metrics", ",".join(metrics), *map(str, command)]
        subprocess.run(words, cwd=cwd, check=False, capture_output=True, timeout=seconds)
        text = "".join(line for line in log.read().splitlines(keepends=True) if not line.startswith("=="))
    rows = list(csv.DictReader(io.StringIO(text)))[1:]  # without the units
    for row in rows:
        for title in metrics:
            # A metric that is counted by instruction shows its sum before the instances.
            row[title] = re.split(r"[ (;]", row.get(title, "").replace(",", ""))[0]
    return rows


def record(program: Path) -> None:
    """Runs the counting cases under ncu. Cases with the same counts share a row; metrics are sums over the GPU."""
    names = gpu_pages.run(program, "--set=counting").splitlines()
    values: dict[str, list[str]] = {}
    for metrics in passes():
        rows = run_ncu(metrics, program, "--set=counting")
        if len(rows) != len(names):
            sys.exit(f"{len(names)} cases, but ncu saw {len(rows)} launches")
        values |= {title.removesuffix(".sum"): [row[title] for row in rows] for title in metrics}
    alike: dict[tuple[str, ...], list[str]] = {}  # the cases of each set of counts
    for name, *counts in zip(names, *values.values(), strict=True):
        alike.setdefault(tuple(counts), []).append(name)
    gpu_pages.write_recorded(
        "ncu.csv",
        where_and_ncu(),
        ["cases", *values],
        [["; ".join(cases), *counts] for counts, cases in alike.items()],
    )


def where_and_ncu() -> str:
    """What a recording was made on, and by which version of ncu."""
    version = gpu_pages.run("ncu", "--version").strip().splitlines()[-1]
    return f"{gpu_pages.gpu_and_driver()}, ncu {version}"


@dataclass(frozen=True)
class Comparison:
    """One counter of one launch: the virtual GPU's and the hardware's."""

    case: str
    counter: str
    ours: int
    theirs: int

    def reason(self) -> str:
        """Why the two differ, where that is known."""
        for reason in REASONS:
            if self.counter in reason.counters and re.fullmatch(reason.cases, self.case):
                return reason.text
        return ""


def compare(vgpu_run: Path, program: Path) -> tuple[str, list[Comparison]]:
    """What the hardware was, and every counter of every launch; ends the program where a difference has no reason."""
    where, rows = gpu_pages.read_recorded("ncu.csv")
    recorded = sorted(
        ({"case": case} | row for row in rows for case in row["cases"].split("; ")), key=itemgetter("case")
    )
    names, counted = gpu_pages.count(vgpu_run, program, "--set=counting")
    if names != [row["case"] for row in recorded] or len(counted) != len(names):
        sys.exit("the recorded cases differ from the program's: record them again")
    comparisons = []
    for theirs, ours in zip(recorded, counted, strict=True):
        for counter, metrics in METRICS.items():
            if any(name not in theirs for name in metrics):
                continue
            value = sum(int(ours[name]) for name in SUMS.get(counter, (counter,)))
            comparisons.append(
                Comparison(
                    theirs["case"],
                    counter,
                    value,
                    sum(int(theirs[name]) for name in metrics),
                )
            )
    unexplained = [c for c in comparisons if c.ours != c.theirs and not c.reason()]
    for c in unexplained:
        print(f"{c.case}: {c.counter}: ours {c.ours}, ncu {c.theirs}", file=sys.stderr)
    if unexplained:
        sys.exit("differences that no reason explains")
    return where, comparisons


def page_text(where: str, comparisons: list[Comparison]) -> str:
    """The page, in Markdown."""
    seen = [c for c in comparisons if c.ours != 0 or c.theirs != 0]
    lines = [
        "# Counters beside Nsight Compute's",
        "",
        f"{len({c.case for c in comparisons})} small launches (`harness/dev/bench/gpu_cases`), counted on hardware and",
        f"by the virtual GPU from the same program. Hardware: {where}.",
        "",
        "```sh",
        "harness/dev/bench/gpu_counting.py build gpu_cases",
        "harness/dev/bench/gpu_counting.py record gpu_cases                               # with a GPU: ncu",
        "harness/dev/bench/gpu_counting.py page gpu_cases --vgpu-run build/bin/vgpu-run   # anywhere: this page",
        "```",
        "",
        "Tests hold the virtual GPU to this page. [Counting](../concepts/counting.md) says what is counted.",
        "",
        "| counter | Nsight Compute | launches that have it | equal | other |",
        "|---|---|---:|---:|---:|",
    ]
    for counter, metrics in METRICS.items():
        mine = [c for c in seen if c.counter == counter]
        if not mine:
            continue
        equal = sum(c.ours == c.theirs for c in mine)
        name = " + ".join(f"`{metric}`" for metric in metrics)
        lines.append(f"| `{counter}` | {name} | {len(mine)} | {equal} | {len(mine) - equal} |")
    lines += [
        "",
        "## Where they differ, and why",
        "",
        "The virtual GPU executes PTX. Where the assembler made other accesses of it, counts differ:",
        "",
    ]
    for reason in REASONS:
        mine = [c for c in seen if c.ours != c.theirs and c.reason() == reason.text]
        counters = ", ".join(f"`{name}`" for name in dict.fromkeys(c.counter for c in mine))
        few = "; ".join(f"{c.case}: {c.counter} {c.ours}, not {c.theirs}" for c in mine[:SHOWN])
        lines.append(f"- {len(mine)} × {counters}: {reason.text}. ({few}{' …' if len(mine) > SHOWN else ''})")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Builds the cases, records them on hardware, or writes or verifies the page."""
    gpu_pages.main(
        __doc__,
        "gpu-counting.md",
        record,
        lambda vgpu_run, program: page_text(*compare(vgpu_run, program)),
    )


if __name__ == "__main__":
    main()
