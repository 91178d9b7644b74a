#!/usr/bin/env python3
"""How much memory the grader's own process takes to write the pages of a class, and for how long.

Copies the results of a real run (`make demo`) until there are so many students, and runs `grader report` on them.

    harness/dev/bench/memory_bench.py out/demo 50 200 400
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from grader.model.roster import Student
from grader.running.store import Journal


def make(source: Path, out: Path, students: int) -> int:
    """Fills a journal; returns how many results are in it."""
    old, new = Journal(source / "journal.sqlite"), Journal(out / "journal.sqlite")
    count = 0
    for assignment in old.assignments():
        real = [
            old.whole(assignment, one.folder, one.handed.number)
            for one in old.attempts(assignment)
            if one.result is not None
        ]
        records = []
        for number in range(students):
            record = real[number % len(real)]
            name = f"Student {number:04}"
            record = replace(
                record, folder=name, student=Student(name=name, sid=str(number)), key=f"{record.key}{number}"
            )
            new.add(record)
            records.append(record.outline())
        new.set_class(assignment, records, whole=True)
        count += len(records)
    old.close()
    new.close()
    return count


def main() -> None:
    """Prints a line for each size of class."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("source", type=Path, help="an output folder with results")
    arguments.add_argument("students", type=int, nargs="+")
    chosen = arguments.parse_args()
    grader = Path(sys.executable).parent / "grader"
    print("students  results  journal MiB  peak MiB  seconds  seconds of processor")
    for students in chosen.students:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder)
            count = make(chosen.source, out, students)
            began = time.monotonic()
            ended = subprocess.Popen([grader, "report", "--out", out], stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(ended.pid, 0)
            if status:
                sys.exit(f"grader report ended with {status}")
            size = (out / "journal.sqlite").stat().st_size
            print(
                f"{students:8}  {count:7}  {size / 2**20:11.0f}  {usage.ru_maxrss / 1024:8.0f}  "
                f"{time.monotonic() - began:7.0f}  {usage.ru_utime + usage.ru_stime:7.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
