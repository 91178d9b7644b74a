"""What the scripts here share: the program of cases, its runs, and pages that can be verified."""

import argparse
import csv
import datetime
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
RECORDED = HERE / "recorded"
RECORD_PAGES = ROOT / "docs" / "records"


def run(*command: str | Path, timeout: float = 1800) -> str:
    """The command's standard output; ends the program with a sentence when it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        check=False,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def compile_program(program: Path, *sources: Path, assignment: str, ptx_only: bool) -> None:
    """Compiles it. PTX is enough for the virtual GPU; with machine code the same program runs on an H100 or H200."""
    code = "compute_90" if ptx_only else "[compute_90,sm_90]"
    command = [os.environ.get("NVCC", "nvcc"), "-std=c++17", "-O3", "-lineinfo", "-cudart", "shared", "-t", "0"]
    command += [f"-I{ROOT / 'assignments' / assignment}", "-gencode", f"arch=compute_90,code={code}"]
    run(*command, *sources, "-o", program)


def build(program: Path, *, ptx_only: bool) -> None:
    """Compiles the cases."""
    sources = sorted((HERE / "gpu_cases").glob("*.cu"))
    compile_program(program, *sources, assignment="04_reduction", ptx_only=ptx_only)


def model_of(where: str) -> str:
    """The GPU's model, in lower case, of "NVIDIA H100 80GB HBM3, driver …"."""
    return where.replace(",", "").split()[1].lower()


def gpu_and_driver() -> str:
    """What a recording was made on, and when: programs run on the first GPU of several."""
    gpus = run("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()
    gpu, driver = gpus[0].split(", ")
    return f"{gpu}, driver {driver}, {datetime.date.today()}"


def count(vgpu_run: Path, program: Path, *cases: str, device: str = "h200") -> tuple[list[str], list[dict[str, str]]]:
    """Runs cases on the virtual GPU; returns their names, and each launch's counters."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counters.csv"
        options = f"--device={device}", "--threads=2", f"--counters={file}"
        names = run(vgpu_run, *options, program, *cases).splitlines()
        with file.open(newline="") as text:
            return names, list(csv.DictReader(text))


def read_recorded(name: str) -> tuple[str, list[dict[str, str]]]:
    """The first line, which says where and when, and the rows."""
    with (RECORDED / name).open(newline="") as file:
        where = file.readline().removeprefix("#").strip()
        return where, list(csv.DictReader(file))


def write_recorded(name: str, where: str, header: list[str], rows: list[list[str]]) -> None:
    """Stores a recording with the others; its first line says where it was made."""
    RECORDED.mkdir(exist_ok=True)
    with (RECORDED / name).open("w", newline="") as file:
        file.write(f"# {where}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def finish(page: Path, text: str, *, verify: bool) -> None:
    """Writes the page; with `verify`, ends the program with a sentence if it is out of date."""
    if not verify:
        page.write_text(text)
    elif page.read_text() != text:
        sys.exit(f"{page} is out of date: run {Path(sys.argv[0]).name} page again, without --verify")


def main(
    about: str,
    page: str,
    record: Callable[[Path], None],
    text: Callable[[Path, Path], str],
    make: Callable[..., None] = build,
) -> None:
    """Builds the program, records it on hardware, or writes or verifies the page."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["build", "record", "page"])
    parser.add_argument("program", type=Path)
    parser.add_argument("--vgpu-run", type=Path, default=Path("build/bin/vgpu-run"))
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--ptx-only", action="store_true", help="build without machine code")
    arguments = parser.parse_args()
    program = arguments.program.resolve()
    if arguments.what == "build":
        make(program, ptx_only=arguments.ptx_only)
    elif arguments.what == "record":
        record(program)
    else:
        finish(RECORD_PAGES / page, text(arguments.vgpu_run, program), verify=arguments.verify)
