#!/usr/bin/env python3
"""The pictures of the documentation that are made from data: `make pictures` draws them, the tests compare.

harness/dev/site/pictures.py [--build DIR]           draws all of them again
harness/dev/site/pictures.py --check [--build DIR]   status 1 and a line for each that has changed

plots      docs/figures/*.svg, from the tables of docs/records
terminal   docs/figures/terminal-*.svg, what a student sees, from a run of `lockstep test`
race       docs/figures/race.svg, what a page shows of a race; its tutorial's test compares
card       docs/figures/card-*.png, the top of that student's report card in Chromium, from a run of `grader grade`
"""

import argparse
import sys
from pathlib import Path

import card
import plots
import race
import terminal
from tables import TableError


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--build", type=Path, default=Path("build"))
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    try:
        if not arguments.check:
            plots.write()
            terminal.write(build)
            card.write(build)
            race.write(build)
        stale = [*plots.outdated(), *terminal.outdated(build), *card.outdated(build)]
    except (TableError, terminal.RunError, card.CardError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for name in stale:
        print(f"docs/figures/{name} is out of date; type: make pictures", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
