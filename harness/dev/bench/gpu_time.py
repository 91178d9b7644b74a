#!/usr/bin/env python3
"""Compares modelled times with measured ones: the course's figures on a G80, an H100's and an H200's.

    gpu_time.py build PROGRAM                  nvcc compiles harness/dev/bench/gpu_cases to PROGRAM
    gpu_time.py record PROGRAM                 with a GPU: times by events -> recorded/{times,held-out}-MODEL.csv
    gpu_time.py page PROGRAM --vgpu-run FILE   writes docs/records/gpu-time.md
    gpu_time.py page PROGRAM --vgpu-run FILE --verify   says whether it is up to date

The course's figures are in recorded/course.csv.
"""

import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

import gpu_pages

BATCHES = 31
FOUR_DIGITS = 1000
NEAR = (0.75, 1.33)
SAME = 0.03
_WAITS_FOR_HOST = "launches so short wait for the host, which took 4.5 µs for each on the H100's machine"
# Why the model is off where it is.
REASONS = {
    "copy, blocks of 1024": "an SM holds two such blocks, and half of it is idle while one ends and the next begins; "
    "the model lets blocks overlap",
    "copy, float3": "neighbouring threads store parts of a sector by three instructions, which the hardware gathers in "
    "L1; the model takes each for a store of its own",
    "copy, small": _WAITS_FOR_HOST,
    "nothing, one block": _WAITS_FOR_HOST,
    "gather": "DRAM delivers 64 bytes for each random sector, and the model counts 32",
    "scatter": "each random sector of 32 bytes is read before a part of it is written, page by page",
    "local memory": "the model takes L1 to keep all that is loaded, and is too fast",
    "reduction of 2^22: 8 shuffle": "it has four wide loads under way; the model gives each warp two",
    "transpose 128x128: naive": "so small that the time is the launch's; the model's 10 µs of overhead are the "
    "other cases'",
    "scan: 2^16": "the course's scan is another program, whose time includes some 80 µs that it took for any length",
}


@dataclass(frozen=True)
class Row:
    """One launch: its measured and its modelled time in microseconds."""

    case: str
    measured: float  # microseconds
    modelled: float
    bound_by: str

    @property
    def ratio(self) -> float:
        """Modelled over measured."""
        return self.modelled / self.measured

    @property
    def near(self) -> bool:
        """Whether the model is near enough."""
        return NEAR[0] <= round(self.ratio, 2) <= NEAR[1]


def record(program: Path) -> None:
    """Records each case's time: the median of three runs, each the median of BATCHES batches of launches."""
    where = gpu_pages.gpu_and_driver()
    for which, name in (("timing", "times"), ("held-out", "held-out")):
        times: dict[str, list[float]] = {}
        for _ in range(3):
            for line in gpu_pages.run(program, f"--set={which}", f"--time={BATCHES}").splitlines():
                case, microseconds = line.split("\t")
                times.setdefault(case, []).append(float(microseconds))
        rows = [[case, f"{statistics.median(values):.2f}"] for case, values in times.items()]
        gpu_pages.write_recorded(f"{name}-{gpu_pages.model_of(where)}.csv", where, ["case", "microseconds"], rows)


def recorded_profiles() -> list[str]:
    """The profiles whose times were recorded."""
    return sorted(file.stem.removeprefix("times-") for file in gpu_pages.RECORDED.glob("times-*.csv"))


def modelled_together(
    vgpu_run: Path, program: Path, profile: str, which: str = "timing", name: str = "times"
) -> tuple[str, list[Row]]:
    """The rows of cases with one launch each."""
    where, recorded = gpu_pages.read_recorded(f"{name}-{profile}.csv")
    names, launches = gpu_pages.count(vgpu_run, program, f"--set={which}", device=profile)
    if names != [row["case"] for row in recorded] or len(launches) != len(names):
        sys.exit("the recorded cases differ from the program's: record them again")
    return where, [
        Row(row["case"], float(row["microseconds"]), float(launch["microseconds"]), launch["bound_by"])
        for row, launch in zip(recorded, launches, strict=True)
    ]


def modelled_one_by_one(vgpu_run: Path, program: Path) -> tuple[str, list[Row]]:
    """The rows of cases with several launches: times are added; `bound_by` is the longest launch's."""
    where, published = gpu_pages.read_recorded("course.csv")
    rows = []
    for row in published:
        _, launches = gpu_pages.count(vgpu_run, program, f"--case={row['case']}", device="g80")
        longest = max(launches, key=lambda launch: float(launch["microseconds"]))
        total = sum(float(launch["microseconds"]) for launch in launches)
        rows.append(Row(row["case"], float(row["microseconds"]), total, longest["bound_by"]))
    return where, rows


def digits(microseconds: float) -> str:
    """A time in four digits, or in whole microseconds."""
    return f"{microseconds:,.0f}".replace(",", " ") if microseconds >= FOUR_DIGITS else f"{microseconds:.4g}"


def reasons(rows: list[Row]) -> list[str]:
    """Why rows are outside the band, one line each; a row without a reason is an error."""
    lines = []
    for row in rows:
        if row.near:
            continue
        if row.case not in REASONS:
            sys.exit(f"{row.case}: {row.ratio:.2f} of the time measured, and REASONS does not say why")
        lines.append(f"* {row.case}: {REASONS[row.case]}.")
    return lines


def table(rows: list[Row], measured: str) -> list[str]:
    """The rows in Markdown; `measured` is the heading of the measured times."""
    near = sum(row.near for row in rows)
    lines = [
        f"{near} of {len(rows)} ratios lie within {NEAR[0]} and {NEAR[1]}; the others are in bold.",
        "",
        f"| | {measured}, µs | modelled, µs | modelled ÷ {measured} | bound by |",
        "|---|---:|---:|---:|---|",
    ]
    for row in rows:
        ratio = f"{row.ratio:.2f}" if row.near else f"**{row.ratio:.2f}**"
        lines.append(f"| {row.case} | {digits(row.measured)} | {digits(row.modelled)} | {ratio} | {row.bound_by} |")
    return [*lines, "", *reasons(rows)]


def held_out(rows: list[Row]) -> list[str]:
    """How far off the model is where it was not fitted, and which of two versions it considers faster."""
    errors = sorted(abs(row.ratio - 1) for row in rows)
    by_case = {row.case: row for row in rows}
    pairs = [(row, by_case[row.case.replace(": before", ": after")]) for row in rows if row.case.endswith(": before")]
    # Of versions within 3 % of each other neither is the faster one.
    ordered = [pair for pair in pairs if abs(pair[1].measured / pair[0].measured - 1) >= SAME]
    wrong = [
        b.case.removesuffix(": before") for b, a in ordered if (a.measured < b.measured) != (a.modelled < b.modelled)
    ]
    tail = errors[int(len(errors) * 0.9)]
    return [
        f"Error of {len(rows)} kernels: median {statistics.median(errors):.0%}, 90th percentile {tail:.0%}. Of "
        f"{len(ordered)} pairs before and after an",
        f"optimisation the model has {len(ordered) - len(wrong)} in the right order; not {', '.join(wrong)}.",
        "",
        "| | measured, µs | modelled, µs | modelled ÷ measured | bound by |",
        "|---|---:|---:|---:|---|",
        *(
            f"| {row.case} | {digits(row.measured)} | {digits(row.modelled)} | {row.ratio:.2f} | {row.bound_by} |"
            for row in rows
        ),
    ]


def page_text(vgpu_run: Path, program: Path) -> str:
    """The page, in Markdown."""
    course, course_rows = modelled_one_by_one(vgpu_run, program)
    lines = [
        "# Modelled time beside measured time",
        "",
        "What the [time model](../concepts/time-model.md) says of the kernels in `harness/dev/bench/gpu_cases`, "
        "beside what",
        "the course published for a GeForce 8800 and what an H100 and an H200 took. The tests check that this page is",
        "up to date, and that each row outside of the band has its reason. No criterion rests on such a row.",
        "",
        "```sh",
        "harness/dev/bench/gpu_time.py build gpu_cases",
        "harness/dev/bench/gpu_time.py record gpu_cases                               # with an H100 or H200",
        "harness/dev/bench/gpu_time.py page gpu_cases --vgpu-run build/bin/vgpu-run   # anywhere: this page",
        "```",
        "",
        "![A dot for each kernel, modelled time over measured time; most lie in the band of ratios from "
        "0.75 to 1.33](../figures/modelled.svg)",
        "",
        "## On the profile `g80`",
        "",
        course,
        "",
        *table(course_rows, "published"),
    ]
    unused = set(REASONS) - {row.case for row in course_rows if not row.near}
    for profile in recorded_profiles():
        gpu, rows = modelled_together(vgpu_run, program, profile)
        unused -= {row.case for row in rows if not row.near}
        lines += [
            "",
            f"## On the profile `{profile}`",
            "",
            f"{gpu}. Each time is the median of {BATCHES} batches of 20 launches, measured by events, of three "
            "runs; so the data of",
            "one launch may lie in L2 for the next.",
            "",
            *table(rows, "measured"),
        ]
    gpu, rows = modelled_together(vgpu_run, program, "h100", "held-out", "held-out")
    lines += ["", "## Held out", "", f"Kernels in the styles of public suites that the model was not fitted to. {gpu}."]
    lines += held_out(rows)
    if unused:
        sys.exit(f"REASONS speaks of rows that are near: {', '.join(sorted(unused))}")
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Builds the cases, records them on hardware, or writes or verifies the page."""
    gpu_pages.main(__doc__, "gpu-time.md", record, page_text)


if __name__ == "__main__":
    main()
