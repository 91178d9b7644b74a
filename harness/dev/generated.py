#!/usr/bin/env python3
"""Grades random submissions: hostile ones, none of which may gain, and right ones, none of which may lose.

    harness/dev/generated.py adversaries 200 --seed 7     hostile ones; --keep DIR keeps those that gain
    harness/dev/generated.py gates 200 --seed 7           hostile ones of C++ assignments: the technique in some calls
    harness/dev/generated.py friends 200 --seed 7         right ones; --keep DIR keeps those that lose
    harness/dev/generated.py kin 200 --seed 7             right ones of all assignments with kernels

docs/records/attacks.md has what long runs found.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "grader" / "src"))

from grader.authoring.generated import TASKS, adversaries, friends
from grader.authoring.generated_run import (
    Runs,
    grade_adversaries,
    grade_friends,
    make_gated,
    moves_text,
    text_of,
)
from grader.base.layout import find_layout
from grader.base.toolchain import find_toolchain

_MOST = 200  # graded at a time


def main() -> int:
    """Grades what is asked for; returns the exit status, 1 if one gains, or a right one loses."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("adversaries", "gates", "friends", "kin"))
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="only rungs whose names begin with this")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--no-sandbox", action="store_true")
    parser.add_argument(
        "--whole",
        action="store_true",
        help="run the tests too, not the measurements alone",
    )
    asked = parser.parse_args()
    layout = find_layout(None)
    runs = Runs(
        layout,
        find_toolchain(layout),
        asked.seed,
        asked.jobs,
        not asked.no_sandbox,
        asked.whole,
    )
    tasks = [task for task in TASKS if task.rung.startswith(asked.only)]
    begin, bad = time.monotonic(), 0
    for start in range(0, asked.count, _MOST):
        count = min(_MOST, asked.count - start)
        hostile = asked.kind not in ("friends", "kin")
        if asked.kind in ("gates", "kin"):
            made = make_gated(layout, count, asked.seed + start, asked.only, not hostile)
        else:
            made = (adversaries if hostile else friends)(count, asked.seed + start, tasks)
        graded = (grade_adversaries if hostile else grade_friends)(runs, made)
        print(text_of(graded), flush=True)
        # An adversary that gets less than its naive kernel has been caught at something else.
        found = [one for one in graded if (one.gains if hostile else one.gains or one.loses)]
        bad += len(found)
        for number, one in enumerate(found) if asked.keep else ():
            asked.keep.mkdir(parents=True, exist_ok=True)
            (asked.keep / f"{asked.seed + start}-{number}.cu").write_text(one.generated.text)
    print(f"{bad} of {asked.count} {asked.kind} ({moves_text()}) in {time.monotonic() - begin:.0f} s")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
