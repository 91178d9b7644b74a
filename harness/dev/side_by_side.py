#!/usr/bin/env python3
"""Write a program's output on a GPU as tests keep it: PROGRAM | harness/dev/side_by_side.py > NAME.h100.txt.

Lines are joined with " | ", up to 4,000 columns: tests/support/recorded.h reads them.
"""

import sys

_COLUMNS = 4_000
_SEPARATOR = " | "

text = sys.stdin.read()
if _SEPARATOR in text:
    sys.exit(f"error: a line holds '{_SEPARATOR}', which separates lines in the file")
rows: list[str] = []
for line in text.removesuffix("\n").split("\n"):
    if rows and len(rows[-1]) + len(_SEPARATOR) + len(line) <= _COLUMNS:
        rows[-1] += _SEPARATOR + line
    else:
        rows.append(line)
print("\n".join(rows))
