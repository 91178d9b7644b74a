#!/usr/bin/env python3
"""Compare what programs of one source file print on a GPU with what they print on the virtual GPU.

    harness/samples/compare.py FOLDER --record GPU.json      on a machine with a GPU: build, run, keep what was printed
    harness/samples/compare.py FOLDER --against GPU.json     anywhere: build, run under vgpu-run, print a table

FOLDER is any checkout, such as a course's or a blog's. Each `.cu` file in it that has a main function is a program. It
is built unmodified with `nvcc -arch=sm_90`, the same on both machines, and with the libraries whose headers it
includes, and run in its own folder without arguments and without input.

SAME     the same lines, ends the same; numbers on lines that speak of time, speed or the device's name may differ
CLOSE    the same, but for numbers that differ by less than one part in 10,000
DIFFERS  other lines; the first one is shown
REFUSED  the virtual GPU says by name what it can't do
CRASH    ended by a signal, where the GPU's run was not
TIME     out of time, where the GPU's run was not
NO GPU   the GPU's run is no reference: out of time, or ended by a signal
BUILD    nvcc does not build it

Exit status: 0 when every program that was built is SAME, CLOSE, REFUSED or NO GPU; 1 otherwise; 2 for a mistake on the
command line.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import fnmatch
import json
import re
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from trial import Finished, execute, line_with, shortened

ROOT = Path(__file__).resolve().parents[2]
MAIN = re.compile(r"^\s*(?:int|void|auto|signed|extern\s+\"C\"\s+int)\s+main\s*\(", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)
LINKS = {  # by the beginning of a header's name
    "cublas_v2": "-lcublas",
    "cublas.h": "-lcublas",
    "cublasLt": "-lcublasLt",
    "cufft": "-lcufft",
    "curand.h": "-lcurand",
    "cusparse": "-lcusparse",
    "cusolver": "-lcusolver",
    "nvrtc": "-lnvrtc",
    "cuda.h": "-lcuda",
    "cudnn": "-lcudnn",
    "nccl": "-lnccl",
    "omp.h": "-Xcompiler=-fopenmp",
}
# On such lines numbers may differ.
MEASURED = re.compile(
    r"\b(m?s|us|µs|ns|msec|sec|seconds?|milliseconds?|microseconds?|time[ds]?|timing|elapsed|latency|[GMT]?B/s"
    r"|[GMT]i?B/s(ec)?|[GT]?flop/?s?|bandwidth|speed-?up|throughput|cycles?|clock|[GM]Hz|faster|slower|device|GPU|seed"
    r"|tok(en)?s?/s|perf(ormance)?|duration)\b|_ms\b|\d(ms|us|s)\b|clock",
    re.I,
)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\b(?:nan|inf)\b", re.I)
CLOSE = 1e-4
REFUSAL = re.compile(
    r"^lockstep: .*(not support|refused|is missing|can't run)|^UNSUPPORTED|^vgpu-run: .*",
    re.I,
)
OURS = re.compile(r"^(lockstep: |vgpu-run: )")
KEPT = 200_000  # characters of a program's output


@dataclass(frozen=True)
class Run:
    """How one program's run ended: its status (below 0: the signal; None: out of time, or not built) and output."""

    built: bool
    status: int | None
    output: str
    seconds: float


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    program: str
    verdict: str
    gpu_s: float
    virtual_s: float
    reason: str


def programs(folder: Path, only: list[str]) -> list[Path]:
    """The sources that have a main function, in order of their names."""
    found = []
    for source in sorted(folder.rglob("*.cu")):
        name = str(source.relative_to(folder))
        if only and not any(fnmatch.fnmatch(name, pattern) for pattern in only):
            continue
        if MAIN.search(source.read_text("utf-8", "replace")):
            found.append(source)
    return found


def headers(source: Path, seen: set[Path]) -> set[str]:
    """The names of the headers that a source includes, also by its own headers."""
    if source in seen or not source.is_file():
        return set()
    seen.add(source)
    included = set(INCLUDE.findall(source.read_text("utf-8", "replace")))
    names = {Path(header).name for header in included}
    return names.union(*(headers((source.parent / header).resolve(), seen) for header in included))


def build(source: Path, folder: Path, program: Path, options: argparse.Namespace) -> Finished:
    """Build a program with what its own source includes."""
    included = headers(source, set())
    links = {link for header in included for start, link in LINKS.items() if header.startswith(start)}
    near = [source.parent, *(source.parent / name for name in ("include", "inc"))]
    near += [folder / name for name in ("Common", "common", "include")]
    command = [
        options.nvcc,
        "-O3",
        "-std=c++17",
        "-arch=sm_90",
        "-cudart",
        "shared",
        "-w",
        *options.nvcc_flag,
    ]
    command += [f"-I{path}" for path in near if path.is_dir()]
    return execute(
        [*command, str(source), "-o", str(program), *sorted(links)],
        source.parent,
        options.seconds,
    )


def run(source: Path, folder: Path, work: Path, options: argparse.Namespace) -> Run:
    """Build and run a program."""
    program = work / (str(source.relative_to(folder)).replace("/", "+") + ".out")
    built = build(source, folder, program, options)
    if built.status != 0:
        reason = line_with(
            re.compile(r"error|undefined reference|fatal|cannot find", re.I),
            built.output,
        )
        return Run(False, None, reason or "out of time", 0)
    command = [str(program)]
    if not options.record:
        command = [str(options.vgpu_run), *options.vgpu_flag, *command]
    done = execute(command, source.parent, options.seconds)
    program.unlink(missing_ok=True)
    return Run(True, done.status, done.output[-KEPT:], done.seconds)


def lines_of(output: str) -> list[str]:
    """A program's own lines, without spaces at their ends."""
    return [line.rstrip() for line in output.splitlines() if line.strip() and not OURS.match(line)]


def close(one: str, other: str) -> bool:
    """Whether two lines differ by numbers alone, and by little."""
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    for first, second in zip(NUMBER.findall(one), NUMBER.findall(other), strict=True):
        a, b = float(first), float(second)
        if not (first.lower() == second.lower() or abs(a - b) <= CLOSE * max(abs(a), abs(b), 1e-3)):
            return False
    return True


def difference(gpu: str, virtual: str) -> tuple[str, str]:
    """A verdict on two outputs, and the first line that differs."""
    expected, got = lines_of(gpu), lines_of(virtual)
    verdict = "SAME"
    for index in range(max(len(expected), len(got))):
        one = expected[index] if index < len(expected) else ""
        other = got[index] if index < len(got) else ""
        if one == other:
            continue
        measured = MEASURED.search(one) and MEASURED.search(other)
        blank = re.compile(r"[^A-Za-z]+")
        if measured and blank.sub("", NUMBER.sub("", one))[:12] == blank.sub("", NUMBER.sub("", other))[:12]:
            continue
        if not close(one, other):
            return (
                "DIFFERS",
                f"GPU: {shortened(one)[:60]} | here: {shortened(other)[:60]}",
            )
        verdict = "CLOSE"
    return verdict, ""


def compare(name: str, gpu: Run, virtual: Run) -> Row:
    """One line of the table."""
    times = (gpu.seconds, virtual.seconds)
    if not virtual.built:
        return Row(name, "BUILD", *times, virtual.output)
    refusal = line_with(REFUSAL, virtual.output)
    if not gpu.built or gpu.status is None or gpu.status < 0:
        how = "not built" if not gpu.built else "out of time" if gpu.status is None else f"signal {-gpu.status}"
        ended = "out of time" if virtual.status is None else f"status {virtual.status}"
        return Row(name, "NO GPU", *times, f"GPU: {how}; here: {refusal or ended}")
    if virtual.status is None:
        return Row(name, "TIME", *times, refusal or "still running at the limit")
    if refusal:
        return Row(name, "REFUSED", *times, refusal)
    if virtual.status < 0:
        return Row(name, "CRASH", *times, f"signal {-virtual.status}")
    verdict, reason = difference(gpu.output, virtual.output)
    if verdict != "DIFFERS" and gpu.status != virtual.status:
        verdict, reason = (
            "DIFFERS",
            f"GPU: status {gpu.status} | here: status {virtual.status}",
        )
    return Row(name, verdict, *times, reason)


def print_table(rows: list[Row], markdown: bool) -> None:
    """The rows, aligned, and their number by verdict."""
    if markdown:
        print("| program | verdict | GPU s | here s | |\n|---|---|---:|---:|---|")
        for row in rows:
            reason = row.reason.replace("|", "\\|")
            print(f"| {row.program} | {row.verdict} | {row.gpu_s:.1f} | {row.virtual_s:.1f} | {reason} |")
    else:
        width = max(len(row.program) for row in rows)
        for row in rows:
            print(
                f"{row.program:<{width}}  {row.verdict:<8} {row.gpu_s:6.1f} {row.virtual_s:7.1f}  {row.reason}".rstrip()
            )
    counts = Counter(row.verdict for row in rows)
    print(f"\n{len(rows)} programs: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in sorted(counts)))


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary,
        epilog=rest,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, help="folder of programs")
    parser.add_argument(
        "only",
        nargs="*",
        metavar="GLOB",
        help="only these, by their path in the folder",
    )
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="run on this machine's GPU and write this file",
    )
    way.add_argument("--against", type=Path, metavar="FILE", help="compare with this file")
    parser.add_argument(
        "--build",
        type=Path,
        default=ROOT / "build",
        help="our build folder (default: build)",
    )
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time (default 1)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=120,
        help="limit of a build and of a run (default 120)",
    )
    parser.add_argument("--nvcc", default="nvcc", help="the compiler")
    parser.add_argument(
        "--nvcc-flag",
        action="append",
        default=[],
        metavar="FLAG",
        help="a flag more for nvcc",
    )
    parser.add_argument(
        "--vgpu-flag",
        action="append",
        default=[],
        metavar="FLAG",
        help="a flag for vgpu-run",
    )
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    options = parser.parse_intermixed_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"{options.folder}: no such folder")
    options.vgpu_run = (options.build / "bin" / "vgpu-run").resolve()
    if options.against and not options.vgpu_run.exists():
        parser.error(f"{options.vgpu_run} is missing; type make build")
    return options


def main(arguments: list[str]) -> int:
    """Run the program; returns its exit status."""
    options = parse(arguments)
    folder: Path = options.folder.resolve()
    sources = programs(folder, options.only)
    if not sources:
        print(
            f"compare.py: {options.folder} has no .cu file with a main function",
            file=sys.stderr,
        )
        return 2
    recorded: dict[str, Run] = {}
    if options.against:
        recorded = {name: Run(**fields) for name, fields in json.loads(options.against.read_text()).items()}
    runs: dict[str, Run] = {}
    with (
        tempfile.TemporaryDirectory(prefix="lockstep-compare-") as work,
        concurrent.futures.ThreadPoolExecutor(options.jobs) as pool,
    ):
        done = pool.map(lambda source: run(source, folder, Path(work), options), sources)
        for source, finished in zip(sources, done, strict=True):
            runs[str(source.relative_to(folder))] = finished
            how = finished.status if finished.built else "not built"
            print(f"{source.relative_to(folder)}: {how}", file=sys.stderr, flush=True)
    if options.record:
        options.record.write_text(json.dumps({name: asdict(result) for name, result in runs.items()}, indent=1) + "\n")
        return 0
    missing = Run(False, None, "", 0)
    rows = [compare(name, recorded.get(name, missing), virtual) for name, virtual in runs.items()]
    print_table(rows, options.markdown)
    return 0 if all(row.verdict in ("SAME", "CLOSE", "REFUSED", "NO GPU", "BUILD") for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
