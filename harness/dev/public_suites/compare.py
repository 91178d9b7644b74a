#!/usr/bin/env python3
"""Compare what programs of one source file print on a GPU with what they print on the virtual GPU.

    harness/dev/public_suites/compare.py FOLDER --record GPU.json    with a GPU: build, run, keep what was printed
    harness/dev/public_suites/compare.py FOLDER --against GPU.json   anywhere: build, run under vgpu-run, print a table

FOLDER is any checkout, such as a course's or a blog's. Each `.cu` file in it that has a main function is a program. It
is built unmodified with `nvcc -arch=sm_90`, the same on both machines, with the libraries whose headers it includes,
and with the other sources of its folder if they have no main function and it needs them. It is run in its own folder
without arguments and without input: twice on a GPU, which shows what varies there.

SAME       the same lines, ends the same; addresses, names of devices, and numbers on lines that speak of time or speed
           may differ
VARIES     the same, except numbers that two runs on the GPU print differently too
CLOSE      the same, but numbers differ by less than one part in 10,000, or by one in the last digit
ORDER      the same lines in another order, such as those that different blocks print
FOUND      here the run ends with a mistake of the program's that a GPU doesn't notice, and compute-sanitizer does
UNDEFINED  other lines, and the program is why: the suite's notes say what it does
REFUSED    the virtual GPU says by name what it can't do
DIFFERS    other lines; the first one is shown
CRASH      ended by a signal, where the GPU's run was not
TIME       out of time, where the GPU's run was not
NO GPU     nothing to compare with: the GPU's run is missing, did not build, was out of time, or ended by a signal
BUILD      nvcc does not build it

--notes FILE names a JSON file with what to know of a suite, by a program's path in the folder, or a pattern of paths:
    {"smaller": {"mm*.cu": {"N = 4096": "N = 256"}}, "undefined": {"count.cu": "adds without an atomic operation"}}
"smaller" replaces sizes chosen for a GPU, on both machines; to replace a text that no program has is an error.

Exit status: 1 when a program has DIFFERS, CRASH or TIME; 2 for a mistake in the command line or a file; 0 otherwise.
"""

import argparse
import concurrent.futures
import fnmatch
import json
import re
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from outputs import Row, Run, compare
from trial import Finished, execute, line_with

ROOT = Path(__file__).resolve().parents[3]
MAIN = re.compile(r"^\s*(?:int|void|auto|signed|extern\s+\"C\"\s+int)\s+main\s*\(", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)
LINKS = {  # by the beginning of a header's name
    "cublas_v2": "-lcublas",
    "cublas.h": "-lcublas",
    "cublasLt": "-lcublasLt",
    "cufft": "-lcufft",
    "curand": "-lcurand",
    "cusparse": "-lcusparse",
    "cusolver": "-lcusolver",
    "nvrtc": "-lnvrtc",
    "cuda.h": "-lcuda",
    "cudnn": "-lcudnn",
    "nccl": "-lnccl",
    "omp.h": "-Xcompiler=-fopenmp",
}
KEPT = 200_000  # characters of a program's output
# A program whose kernels launch kernels needs other flags, which nvcc says.
DEVICE_LAUNCH = re.compile(r"requires separate compilation mode")
BAD = {"DIFFERS", "CRASH", "TIME"}


@dataclass(frozen=True)
class Notes:
    """What to know of a suite's programs, by their paths: texts to replace, and why an output is not defined."""

    smaller: dict[str, dict[str, str]] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)


def read_runs(path: Path) -> dict[str, Run]:
    """The runs that an earlier call kept."""
    return {name: Run(**fields) for name, fields in json.loads(path.read_text()).items()}


def write_runs(path: Path, runs: dict[str, Run]) -> None:
    """Keep runs in a file, which is never half written."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(json.dumps({name: asdict(result) for name, result in runs.items()}, indent=1) + "\n")
    fresh.replace(path)


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


def without_main(program: Path) -> list[str]:
    """The other sources in a program's folder that have no main function."""
    others = sorted(path for path in program.parent.iterdir() if path.suffix in (".cu", ".cpp", ".cc", ".c"))
    return [str(path) for path in others if path != program and not MAIN.search(path.read_text("utf-8", "replace"))]


def headers(source: Path, seen: set[Path]) -> set[str]:
    """The names of the headers that a source includes, also by its own headers."""
    if source in seen or not source.is_file():
        return set()
    seen.add(source)
    included = set(INCLUDE.findall(source.read_text("utf-8", "replace")))
    names = {Path(header).name for header in included}
    return names.union(*(headers((source.parent / header).resolve(), seen) for header in included))


def changes_of(notes: Notes, name: str, text: str) -> dict[str, str]:
    """What the notes replace in a program's text."""
    changes: dict[str, str] = {}
    for pattern, texts in notes.smaller.items():
        if fnmatch.fnmatch(name, pattern):
            changes |= {old: new for old, new in texts.items() if old in text}
    return changes


def why_undefined(notes: Notes, name: str) -> str | None:
    """Why a program's output is not defined, if the notes say so."""
    return next((why for pattern, why in notes.undefined.items() if fnmatch.fnmatch(name, pattern)), None)


def check_notes(notes: Notes, sources: list[Path], folder: Path) -> None:
    """Refuse notes that change or excuse what is not there: the suite is another version."""
    texts = {str(source.relative_to(folder)): source.read_text("utf-8", "replace") for source in sources}
    for pattern, changes in notes.smaller.items():
        matched = [text for name, text in texts.items() if fnmatch.fnmatch(name, pattern)]
        for old in changes:
            if not any(old in text for text in matched):
                raise ValueError(f"the notes change '{old}' in {pattern}, which is not there")
    for pattern in notes.undefined:
        if not fnmatch.filter(texts, pattern):
            raise ValueError(f"the notes speak of {pattern}, which is not there")


def smaller(source: Path, folder: Path, notes: Notes, work: Path) -> Path:
    """The source with smaller sizes, in the work folder; the source itself if there is nothing to change."""
    text = source.read_text("utf-8", "replace")
    changes = changes_of(notes, str(source.relative_to(folder)), text)
    for old, new in changes.items():
        text = text.replace(old, new)
    if not changes:
        return source
    copy = work / source.name
    copy.write_text(text)
    return copy


def build(source: Path, folder: Path, program: Path, notes: Notes, options: argparse.Namespace) -> Finished:
    """Build a program with its headers' libraries; on some errors again, with -rdc or the folder's other sources."""
    included = headers(source, set())
    links = {link for header in included for start, link in LINKS.items() if header.startswith(start)}
    near = [source.parent, *(source.parent / name for name in ("include", "inc"))]
    near += [
        parent / name
        for parent in source.parents
        for name in ("Common", "common", "include")
        if parent.is_relative_to(folder)
    ]
    command = [options.nvcc, "-O3", "-std=c++17", "-arch=sm_90", "-cudart", "shared", "-w", *options.nvcc_flag]
    command += [f"-I{path}" for path in near if path.is_dir()]
    with tempfile.TemporaryDirectory(dir=program.parent) as work:
        text = smaller(source, folder, notes, Path(work))
        command += [str(text), "-o", str(program), *sorted(links)]
        if "#pragma omp" in text.read_text("utf-8", "replace"):
            command.append("-Xcompiler=-fopenmp")
        done = execute(command, source.parent, options.seconds)
        if done.status != 0 and DEVICE_LAUNCH.search(done.output):
            done = execute([*command, "-rdc=true", "-lcudadevrt"], source.parent, options.seconds)
        elif done.status != 0 and "undefined reference" in done.output:
            done = execute([*command, *without_main(source)], source.parent, options.seconds)
    return done


def run(source: Path, folder: Path, work: Path, notes: Notes, options: argparse.Namespace) -> Run:
    """Build and run a program; on a GPU twice."""
    program = work / (str(source.relative_to(folder)).replace("/", "+") + ".out")
    built = build(source, folder, program, notes, options)
    if built.status != 0:
        reason = line_with(re.compile(r"error|undefined reference|fatal|cannot find", re.I), built.output)
        return Run(False, None, reason or "out of time", 0)
    command = [str(program)]
    if not options.record:
        command = [str(options.vgpu_run), *options.vgpu_flag, *command]
    done = execute(command, source.parent, options.seconds)
    again = None
    if options.record and done.status is not None:
        again = execute(command, source.parent, options.seconds).output[-KEPT:]
    sanitizer = None
    if options.sanitizer:
        watched = execute(["compute-sanitizer", *command], source.parent, options.seconds)
        sanitizer = line_with(re.compile(r"ERROR SUMMARY"), watched.output)
    program.unlink(missing_ok=True)
    return Run(True, done.status, done.output[-KEPT:], done.seconds, again, sanitizer)


def print_table(rows: list[Row], markdown: bool) -> None:
    """Prints the rows, aligned, and their number by verdict; as Markdown only rows with a reason, without BUILD."""
    if markdown:
        print("| program | verdict | |\n|---|---|---|")
        for row in rows:
            if row.reason and row.verdict != "BUILD":
                reason = row.reason.replace("|", "\\|")
                print(f"| {row.program} | {row.verdict} | {reason} |")
    else:
        width = max(len(row.program) for row in rows)
        for row in rows:
            times = f"{row.gpu_s:6.1f} {row.virtual_s:7.1f}"
            print(f"{row.program:<{width}}  {row.verdict:<9} {times}  {row.reason}".rstrip())
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
    way.add_argument("--here", action="store_true", help="only run on the virtual GPU, and --keep that")
    parser.add_argument("--notes", type=Path, metavar="FILE", help="what to know of the suite: see below")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FILE",
        help="keep our runs in this file, and don't run again what it has",
    )
    parser.add_argument(
        "--build",
        type=Path,
        default=ROOT / "build",
        help="our build folder (default: build)",
    )
    parser.add_argument("--sanitizer", action="store_true", help="with --record: run under compute-sanitizer too")
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
        help="another flag for nvcc",
    )
    parser.add_argument(
        "--vgpu-flag",
        action="append",
        default=[],
        metavar="FLAG",
        help="a flag for vgpu-run",
    )
    parser.add_argument("--markdown", action="store_true", help="print as Markdown, only rows with a reason")
    options = parser.parse_intermixed_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"{options.folder}: no such folder")
    if options.here and not options.keep:
        parser.error("--here needs --keep FILE")
    options.vgpu_run = (options.build / "bin" / "vgpu-run").resolve()
    if not options.record and not options.vgpu_run.exists():
        parser.error(f"{options.vgpu_run} is missing; type make build")
    return options


def run_all(sources: list[Path], folder: Path, notes: Notes, options: argparse.Namespace) -> dict[str, Run]:
    """Run what has not been run, keep each run as it ends, and return all, in the order of the sources."""
    file = options.record or options.keep
    runs = read_runs(file) if file and file.exists() else {}
    names = {source: str(source.relative_to(folder)) for source in sources}
    todo = [source for source, name in names.items() if name not in runs]
    with (
        tempfile.TemporaryDirectory(prefix="lockstep-compare-") as work,
        concurrent.futures.ThreadPoolExecutor(options.jobs) as pool,
    ):
        futures = {pool.submit(run, source, folder, Path(work), notes, options): source for source in todo}
        for future in concurrent.futures.as_completed(futures):
            name, done = names[futures[future]], future.result()
            runs[name] = done
            how = "not built" if not done.built else "out of time" if done.status is None else f"status {done.status}"
            print(f"{name}: {how}", file=sys.stderr, flush=True)
            if file:
                write_runs(file, runs)
    return {name: runs[name] for name in names.values()}


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
    try:
        notes = Notes(**json.loads(options.notes.read_text())) if options.notes else Notes()
        if not options.only:
            check_notes(notes, sources, folder)
        recorded = read_runs(options.against) if options.against else {}
        runs = run_all(sources, folder, notes, options)
    except (OSError, ValueError, TypeError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    if not options.against:
        return 0
    missing = Run(False, None, "", 0)
    rows = [
        compare(name, recorded.get(name, missing), virtual, why_undefined(notes, name))
        for name, virtual in runs.items()
    ]
    print_table(rows, options.markdown)
    return 1 if any(row.verdict in BAD for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
