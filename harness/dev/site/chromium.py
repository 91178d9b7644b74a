"""Finds a Chromium that can be run without a screen: for the pictures of a report card and for the browser tests.

As a program it prints where the browser is, or says what to install and ends with status 1.
"""

import shutil
import sys
from pathlib import Path

_NAMES = ("chromium", "google-chrome", "google-chrome-stable", "chromium-browser")
_LARGEST_SCRIPT = 1 << 16
HOW = (
    "there is no Chromium or Chrome; on Debian type:  sudo apt-get install chromium\n"
    "Ubuntu's packages chromium and chromium-browser are snaps, which can't read files in /tmp or in hidden folders: "
    "install Google Chrome there"
)


def find_chromium() -> str:
    """The browser's path; empty where there is none. Snaps, and the scripts that only call one, don't count."""
    return next((found for name in _NAMES if (found := shutil.which(name)) and not _is_snap(Path(found))), "")


def _is_snap(program: Path) -> bool:
    real = program.resolve()
    if "snap" in real.parts[:3] or real.name == "snap":
        return True
    with real.open("rb") as file:
        start = file.read(_LARGEST_SCRIPT)
    return start.startswith(b"#!") and b"/snap/bin/" in start


def main() -> int:
    """Prints the path."""
    found = find_chromium()
    print(found or HOW, file=sys.stdout if found else sys.stderr)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
