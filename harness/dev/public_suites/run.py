#!/usr/bin/env python3
"""Build and run CUDA samples that others wrote, unmodified, on the virtual GPU, and print a table of how they did.

    harness/dev/public_suites/run.py CHECKOUT [SAMPLE ...]

CHECKOUT is a clone of https://github.com/NVIDIA/cuda-samples, or a folder of samples of the same form. Without names,
every sample runs that needs no more than the CUDA runtime and driver APIs and the host libraries that our build has;
the others are counted. A sample is built as

    nvcc -cudart shared -I Common … -o NAME

with -rdc=true -lcudadevrt where its CMakeLists.txt has CUDA_SEPARABLE_COMPILATION, and run under vgpu-run in a copy of
its folder. A CHECKOUT without such samples may be any suite whose programs are folders with a Makefile: they are built
by make, with NVCC_APPEND_FLAGS="-cudart shared", and run by `make run` or their script `run`, else without arguments.

PASS: it was built, it ended with status 0 in time, and it printed that its own check went well. RAN: the same, but
it says nothing of a check. The last line that says how its check went is the reason shown.

Exit status: 0 when every sample that ran is PASS or RAN, 1 otherwise, 2 for a mistake on the command line.
"""

import argparse
import concurrent.futures
import json
import re
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from checkout import Checkout, Sample
from make_tree import MakeProgram, MakeTree
from thread_counts import counter_difference, difference
from trial import Finished, execute, judge, line_with

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Result:
    """How one sample did. Times are wall-clock seconds."""

    sample: str
    build_s: float
    run_s: float
    verdict: str
    reason: str


class Bench:
    """Builds and runs samples in folders of their own."""

    def __init__(self, suite: Checkout | MakeTree, options: argparse.Namespace) -> None:
        self.suite = suite
        self.options = options
        self.work = Path(options.work)

    def try_sample(self, sample: Sample | MakeProgram) -> Result:
        """Build a sample, run it in each way that the suite names, and judge it."""
        folder, built = self.suite.build(sample.name, self.work, self.options)
        (folder / "build.log").write_text(built.output)
        if built.status != 0:
            reason = line_with(re.compile(r"error|undefined reference|fatal", re.I), built.output)
            return Result(sample.name, built.seconds, 0, "BUILD", reason or "out of time")
        seconds = 0.0
        verdict, reason = "FAIL", "nothing to run"
        log = ""
        for command in self.suite.commands(sample.name, folder, self.options):
            run, more = self._run(command, folder, self.options.seconds - seconds)
            seconds += run.seconds
            log += f"$ {' '.join(command)}\n{run.output}\nstatus {run.status}\n"
            verdict, reason = judge(run)
            if verdict in ("PASS", "RAN") and more:
                verdict, reason = "DIFFERS", more
            if verdict not in ("PASS", "RAN"):
                break
        (folder / "run.log").write_text(log)
        return Result(sample.name, built.seconds, seconds, verdict, reason)

    def _run(self, command: list[str], folder: Path, seconds: float) -> tuple[Finished, str]:
        """Runs it once, or once for each number of CPU threads; returns what differs between them too."""
        vgpu_run = [str(self.options.vgpu_run), *self.options.vgpu_flag]
        if not self.options.compare_threads:
            return execute([*vgpu_run, *command], folder, seconds), ""
        runs, files = [], []
        for threads in self.options.compare_threads.split(","):
            files.append(folder / f"counters.{threads}.csv")
            flags = [f"--threads={threads}", f"--counters={files[-1]}"]
            runs.append(execute([*vgpu_run, *flags, *command], folder, seconds))
            if runs[-1].status != 0:
                return runs[-1], ""
        for run, file in zip(runs[1:], files[1:], strict=True):
            found = difference(runs[0].output, run.output) or counter_difference(files[0], file)
            if found:
                return runs[0], found
        return runs[0], ""


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
    parser.add_argument("--nvcc-flag", action="append", default=[], metavar="FLAG", help="another flag for nvcc")
    parser.add_argument("--make", action="append", default=[], metavar="NAME=VALUE", help="a variable for make")
    parser.add_argument(
        "--arguments",
        type=Path,
        metavar="FILE",
        help="arguments of programs, in the form of the samples' test_args.json",
    )
    parser.add_argument("--vgpu-flag", action="append", default=[], metavar="FLAG", help="a flag for vgpu-run")
    parser.add_argument(
        "--compare-threads",
        default="",
        metavar="LIST",
        help="run with each of these numbers of CPU threads, say 1,2,8: outputs, counters and times must agree",
    )
    parser.add_argument("--again", action="store_true", help="don't build programs that --work has already")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    parser.add_argument("--list", action="store_true", help="only list the samples, each with what it needs")
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
    suite: Checkout | MakeTree = Checkout(options.checkout.resolve())
    if not suite.samples:
        suite = MakeTree(options.checkout.resolve())
    if options.list:
        for sample in suite.samples:
            print(f"{sample.name:<40} {sample.needs}".rstrip())
        return 0
    known = {sample.name: sample for sample in suite.samples}
    unknown = [name for name in options.samples if name not in known]
    if unknown:
        print(f"run.py: the checkout has no sample {', '.join(unknown)}; --list names those it has", file=sys.stderr)
        return 2
    libraries = options.build.resolve() / "lib"
    chosen = [known[name] for name in options.samples]
    chosen = chosen or [sample for sample in suite.samples if not sample.lacks(libraries)]
    with tempfile.TemporaryDirectory(prefix="lockstep-samples-") as temporary:
        options.work = str(Path(options.work or temporary).resolve())
        bench = Bench(suite, options)
        results: list[Result] = []
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for result in pool.map(bench.try_sample, chosen):
                results.append(result)
                print(f"{result.verdict:<6} {result.sample}", file=sys.stderr, flush=True)
    print_table(results, options.markdown)
    passed = sum(result.verdict in ("PASS", "RAN") for result in results)
    print(f"\n{passed} of {len(results)} pass or ran to their end")
    if not options.samples:
        print(f"{len(known) - len(chosen)} others need more than the APIs and our host libraries; --list says what")
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    return 0 if passed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
