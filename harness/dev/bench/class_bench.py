#!/usr/bin/env python3
"""Compares the time to grade a class with the time nvcc alone takes for its files.

  harness/dev/bench/class_bench.py [ASSIGNMENT ...] [--students 200] [--seed 1] [--jobs N] [--build build] [--keep DIR]

The class is made from the references, the right and the wrong solutions and the stubs, by a seed. Every student hands
in every assignment, except a few who hand in nothing. One in seven copies another's file; other files, except stubs,
are made unique by a comment or a variable's name. `grader grade` grades it as it would any class. Then nvcc compiles
each distinct file once, with the flags that the build script gives it. Processor time is measured for the whole
machine, which must be otherwise idle.
"""

import argparse
import contextlib
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from grader.authoring.solutions import solutions_in

ROOT = Path(__file__).resolve().parents[3]
COPIED, MISSING, RENAMED = 0.15, 0.03, 0.5
# The share of each kind of file: few students hand in the reference, and half of all files are wrong.
SORTS = {"right": 0.4, "wrong": 0.45, "reference": 0.1, "stub": 0.05}
COMMON_NAMES = ("tid", "index", "idx", "lane", "sum", "value", "i", "row", "column", "blocks", "threads", "n")
NVCC = (  # as in worker/build.sh
    "-O3 -std=c++17 -lineinfo -D_GLIBCXX_BITS_SPECFUN_H -DCCCL_DISABLE_FP16_SUPPORT "
    "-Xcompiler -fPIC -gencode arch=compute_80,code=compute_80 -c"
)


def sources(assignment: str) -> dict[str, list[str]]:
    """The texts from which students' files are made, by kind."""
    reference = ROOT / "reference" / assignment
    stubs = list((ROOT / "assignments" / assignment).glob("*.cu"))
    files = {"reference": list(reference.glob("*.cu")), "stub": stubs}
    found = {sort: [path.read_text(encoding="utf-8") for path in paths] for sort, paths in files.items()}
    for sort in ("right", "wrong"):
        found[sort] = [one.source.decode() for one in solutions_in(reference, sort, stubs[0].name)[0]]
    return found


def personal(text: str, student: str, header: str, chance: random.Random) -> str:
    """The text as this student would have it: with a variable renamed, or with a comment at the end."""
    names = [
        name
        for name in COMMON_NAMES
        if re.search(rf"\b{name}\b", text) and not re.search(rf"(\.|->|::)\s*{name}\b|#.*\b{name}\b", text + header)
    ]
    if names and chance.random() < RENAMED:
        return re.sub(rf"\b{chance.choice(names)}\b", f"{student}s", text)
    return f"{text}// {student}\n"


def make_class(folder: Path, students: int, assignments: list[str], seed: int) -> dict[str, set[str]]:
    """Writes the class into the folder; returns the distinct files of each assignment."""
    chance = random.Random(seed)  # noqa: S311  # a class is no secret
    distinct: dict[str, set[str]] = {}
    for assignment in assignments:
        pool = sources(assignment)
        (stub,) = (ROOT / "assignments" / assignment).glob("*.cu")
        header = "".join(path.read_text(encoding="utf-8") for path in stub.parent.glob("*.h"))
        handed_in: list[str] = []
        for number in range(students):
            student = f"student{number:03}"
            if chance.random() < MISSING:
                continue
            if handed_in and chance.random() < COPIED:
                text = chance.choice(handed_in)
            else:
                (sort,) = chance.choices(list(SORTS), list(SORTS.values()))
                text = chance.choice(pool[sort])
                text = text if sort == "stub" else personal(text, student, header, chance)
            handed_in.append(text)
            path = folder / student / stub.name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        distinct[assignment] = set(handed_in)
    return distinct


def processor_seconds(command: list[str], folder: Path) -> float:
    """The processor time of a command and everything that it starts."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0  # waited for already; a file that does not compile takes its time too
    return usage.ru_utime + usage.ru_stime


def machine_seconds() -> float:
    """The processor time of all processes: a sandbox does not report that of its children to its parent."""
    user, nice, system, _, _, irq, softirq = map(int, Path("/proc/stat").read_text(encoding="utf-8").split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


class Watched:
    """A process's own processor time until it ends, without that of the compilers and judges that it starts."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.seconds, self.peak_mib = 0.0, 0.0
        folder = Path(f"/proc/{process.pid}")
        while process.poll() is None:
            with contextlib.suppress(OSError, ValueError, StopIteration):  # it may end meanwhile
                user, system = (folder / "stat").read_text().rpartition(")")[2].split()[11:13]
                self.seconds = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
                lines = (folder / "status").read_text().splitlines()
                self.peak_mib = int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
            time.sleep(0.5)


def nvcc_seconds(nvcc: str, distinct: dict[str, set[str]], folder: Path, jobs: int) -> float:
    """nvcc's own processor time for each file once."""
    commands = []
    for assignment, texts in distinct.items():
        for number, text in enumerate(sorted(texts)):
            path = folder / f"{assignment}-{number}.cu"
            path.write_text(text, encoding="utf-8")
            include = str(ROOT / "assignments" / assignment)
            commands.append([nvcc, *shlex.split(NVCC), "-I", include, str(path), "-o", f"{path}.o"])
    with ThreadPoolExecutor(jobs) as pool:
        return sum(pool.map(lambda command: processor_seconds(command, folder), commands))


def main() -> int:
    """Makes the class, grades it, compiles it, and prints the figures."""
    processors = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = sorted(path.parent.name for path in (ROOT / "assignments").glob("*/*.cu"))
    parser.add_argument("assignments", nargs="*", default=every, help="of CUDA C++; default: all")
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same class")
    parser.add_argument("--jobs", type=int, default=processors)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--keep", type=Path, help="an empty folder that the class and its results are left in")
    arguments = parser.parse_args()
    folder = arguments.keep or Path(tempfile.mkdtemp(prefix="lockstep-class-"))
    submissions, out, objects = folder / "class", folder / "out", folder / "objects"
    for path in (submissions, objects):
        path.mkdir(parents=True)
    distinct = make_class(submissions, arguments.students, arguments.assignments, arguments.seed)
    handed_in = len(list(submissions.glob("*/*.cu")))
    files = sum(map(len, distinct.values()))
    print(
        f"{arguments.students} students × {len(arguments.assignments)} assignments: {handed_in} files, {files} distinct"
    )

    grade = [sys.executable, "-m", "grader", "grade", str(submissions), "--out", str(out)]
    grade += ["--build", str(arguments.build.resolve()), "--jobs", str(arguments.jobs)]
    before, began = machine_seconds(), time.monotonic()
    with (folder / "grade.log").open("w") as log:
        environment = os.environ | {"PYTHONPATH": str(ROOT / "grader" / "src")}
        grader = subprocess.Popen(grade, cwd=ROOT, env=environment, stdout=log, stderr=log)
        own = Watched(grader)
        status = grader.returncode
    wall, busy = time.monotonic() - began, machine_seconds() - before
    if status != 0:
        print(f"grader ended with status {status}: {folder}/grade.log", file=sys.stderr)
        return status
    results = [json.loads(path.read_text(encoding="utf-8")) for path in out.glob("staff/results/*/*.json")]
    verdicts = Counter(result["verdict"] for result in results)
    print("verdicts           ", ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    print(f"graded in           {wall:8.0f} s on {processors} processors, {busy:.0f} s of processor time")
    print(f"the grader itself   {own.seconds:8.0f} s of processor time, {own.peak_mib:.0f} MiB at most")

    nvcc = (arguments.build / "nvcc.txt").read_text(encoding="utf-8").strip()
    alone = nvcc_seconds(nvcc, distinct, objects, arguments.jobs)
    print(
        f"nvcc alone          {alone:8.0f} s of processor time, each distinct file once; {alone / files:.2f} s a file"
    )
    print(f"wall time           {wall / (alone / processors):8.2f} × nvcc's on all processors")
    print(f"processor time      {busy / alone:8.2f} × nvcc's")
    if not arguments.keep:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
