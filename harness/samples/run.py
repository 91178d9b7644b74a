#!/usr/bin/env python3
"""Build and run CUDA samples that others wrote, unmodified, on the virtual GPU, and print a table of how they did.

    harness/samples/run.py CHECKOUT [SAMPLE ...]

CHECKOUT is a clone of https://github.com/NVIDIA/cuda-samples, or a folder of samples of the same form. Without names,
every sample runs that needs the CUDA runtime API alone; the others are counted. A sample is built as

    nvcc -cudart shared -I Common … -o NAME

and run under vgpu-run in a copy of its folder. PASS: it was built, it ended with status 0 in time, and nothing that it
printed says that its own check failed. The last line that says how its check went is the reason shown.

Exit status: 0 when every sample passed, 1 otherwise, 2 for a mistake on the command line.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from checkout import Checkout, Sample

ROOT = Path(__file__).resolve().parents[2]
WAIVED_STATUS = 2  # how the samples say that the device can't do what they show
# Words with which the samples' own checks end.
FAILED = re.compile(
    r"test failed|result = fail|\bfailed\b(?!: 0)|mismatch|\bFAILURE\b|cuda error|errors? detected", re.I
)
# What these samples print when nothing is wrong, or about others than themselves.
NOT_FAILED = re.compile(r"not failed|0 failed|no errors|assertion `|Device assert failed as expected", re.I)
PASSED = re.compile(r"pass(ed)?\b|success|result = |OK\b|completed|matches", re.I)
MAX_OUTPUT = 10_000_000  # bytes
MAX_REASON = 90  # characters


@dataclass(frozen=True)
class Result:
    """How one sample did. Times are wall-clock seconds."""

    sample: str
    build_s: float
    run_s: float
    verdict: str
    reason: str


@dataclass(frozen=True)
class Finished:
    """A process that ended. A status below 0 is the signal that ended it; None: it was out of time."""

    status: int | None
    output: str
    seconds: float


def execute(command: list[str], folder: Path, seconds: float) -> Finished:
    """Run a command to its end, or for so long; its standard output and error together, as far as they are shown."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        try:
            status: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = None
        taken = time.monotonic() - begin
        log.seek(max(0, log.tell() - MAX_OUTPUT))
        return Finished(status, log.read().decode("utf-8", "replace"), taken)


def shortened(line: str) -> str:
    """One line that fits in a table."""
    line = " ".join("".join(c if c.isprintable() else " " for c in line).split())
    return line if len(line) <= MAX_REASON else line[: MAX_REASON - 3] + "..."


def line_with(pattern: re.Pattern[str], output: str, unless: re.Pattern[str] | None = None) -> str:
    """The last line that has the pattern, shortened; or an empty string."""
    for line in reversed(output.splitlines()):
        if pattern.search(line) and not (unless and unless.search(line)):
            return shortened(line)
    return ""


def judge(run: Finished) -> tuple[str, str]:
    """Verdict and reason of one run."""
    if run.status is None:
        return "TIME", "still running at the limit"
    complaint = line_with(re.compile(r"^lockstep: |^UNSUPPORTED|^vgpu-run: "), run.output)
    failed = line_with(FAILED, run.output, NOT_FAILED)
    if run.status == WAIVED_STATUS and not complaint:
        return "WAIVED", line_with(re.compile(r"waiv|not support|requires", re.I), run.output)
    if run.status < 0:
        return "CRASH", complaint or f"signal {-run.status}"
    if run.status != 0:
        return "FAIL", complaint or failed or f"exit status {run.status}"
    if failed:
        return "FAIL", failed
    return "PASS", line_with(PASSED, run.output) or "exit status 0"


class Bench:
    """Builds and runs samples in folders of their own."""

    def __init__(self, checkout: Checkout, options: argparse.Namespace) -> None:
        """Takes the command line's options as they are."""
        self.checkout = checkout
        self.options = options
        self.work = Path(options.work)

    def try_sample(self, sample: Sample) -> Result:
        """Build a sample, run it in each way that the checkout names, and judge it."""
        folder = self.work / sample.name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(sample.folder, folder)
        built = self._build(sample, folder)
        (folder / "build.log").write_text(built.output)
        if built.status != 0:
            reason = line_with(re.compile(r"error|undefined reference|fatal", re.I), built.output)
            return Result(sample.name, built.seconds, 0, "BUILD", reason or "out of time")
        seconds = 0.0
        verdict, reason = "PASS", ""
        log = ""
        for arguments in self.checkout.runs(sample):
            command = [str(self.options.vgpu_run), *self.options.vgpu_flag, f"./{sample.name}", *arguments]
            run = execute(command, folder, self.options.seconds - seconds)
            seconds += run.seconds
            log += f"$ {' '.join(command)}\n{run.output}\nstatus {run.status}\n"
            verdict, reason = judge(run)
            if verdict != "PASS":
                break
        (folder / "run.log").write_text(log)
        return Result(sample.name, built.seconds, seconds, verdict, reason)

    def _build(self, sample: Sample, folder: Path) -> Finished:
        includes = [flag for path in [*self.checkout.common, sample.folder] for flag in ("-I", str(path))]
        inner = [flag for path in (folder / "inc", folder / "common") if path.is_dir() for flag in ("-I", str(path))]
        openmp = ["-Xcompiler", "-fopenmp"] if "OpenMP" in sample.packages else []
        sources = [str(folder / source.relative_to(sample.folder)) for source in sample.sources]
        command = [self.options.nvcc, "-cudart", "shared", *openmp, *self.options.nvcc_flag]
        return execute([*command, *includes, *inner, *sources, "-o", sample.name], folder, self.options.seconds)


def print_table(results: list[Result], markdown: bool) -> None:
    """The results, aligned."""
    rows = [("sample", "build s", "run s", "verdict", "reason")]
    rows += [(r.sample, f"{r.build_s:.1f}", f"{r.run_s:.1f}", r.verdict, r.reason) for r in results]
    if markdown:
        rows = [tuple(cell.replace("|", "\\|") for cell in row) for row in rows]  # type: ignore[misc]
        for index, row in enumerate(rows):
            print("| " + " | ".join(row) + " |")
            if index == 0:
                print("|---|---:|---:|---|---|")
        return
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for name, build, run, verdict, reason in rows:
        print(
            f"{name:<{widths[0]}}  {build:>{widths[1]}}  {run:>{widths[2]}}  {verdict:<{widths[3]}}  {reason}".rstrip()
        )


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path, help="folder of the samples' checkout")
    parser.add_argument("samples", nargs="*", metavar="SAMPLE", help="only these, by name")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="our build folder (default: build)")
    parser.add_argument("--work", default="", help="keep copies, programs and logs in this folder")
    parser.add_argument("--jobs", type=int, default=1, help="samples at a time (default 1, for fair times)")
    parser.add_argument("--seconds", type=float, default=600, help="limit of a build and of a run (default 600)")
    parser.add_argument("--nvcc", default="nvcc", help="the compiler")
    parser.add_argument("--nvcc-flag", action="append", default=[], metavar="FLAG", help="a flag more for nvcc")
    parser.add_argument("--vgpu-flag", action="append", default=[], metavar="FLAG", help="a flag for vgpu-run")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    parser.add_argument("--list", action="store_true", help="only say which samples there are, and what others need")
    options = parser.parse_intermixed_args(arguments)
    if not options.checkout.is_dir():
        parser.error(f"{options.checkout}: no such folder")
    options.vgpu_run = (options.build / "bin" / "vgpu-run").resolve()
    if not options.list and not options.vgpu_run.exists():
        parser.error(f"{options.vgpu_run} is missing; type make build")
    return options


def main(arguments: list[str]) -> int:
    """Run the program; returns its exit status."""
    options = parse(arguments)
    checkout = Checkout(options.checkout.resolve())
    if options.list:
        for sample in checkout.samples:
            print(f"{sample.name:<40} {sample.needs}".rstrip())
        return 0
    known = {sample.name: sample for sample in checkout.samples}
    unknown = [name for name in options.samples if name not in known]
    if unknown:
        print(f"run.py: the checkout has no sample {', '.join(unknown)}; --list names those it has", file=sys.stderr)
        return 2
    chosen = [known[name] for name in options.samples] or [sample for sample in checkout.samples if not sample.needs]
    with tempfile.TemporaryDirectory(prefix="lockstep-samples-") as temporary:
        options.work = str(Path(options.work or temporary).resolve())
        bench = Bench(checkout, options)
        results: list[Result] = []
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for result in pool.map(bench.try_sample, chosen):
                results.append(result)
                print(f"{result.verdict:<6} {result.sample}", file=sys.stderr, flush=True)
    print_table(results, options.markdown)
    passed = sum(result.verdict == "PASS" for result in results)
    print(f"\n{passed} of {len(results)} pass")
    if not options.samples:
        print(f"{len(known) - len(chosen)} others need more than the runtime API; --list says what")
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    return 0 if passed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
