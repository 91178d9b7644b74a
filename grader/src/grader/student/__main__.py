"""``python -m grader.student``: the command `lockstep`, which the file of that name at the root starts."""

import sys

_OLDEST = (3, 11)

if sys.version_info < _OLDEST:  # before importing modules that an older Python can't parse
    sys.stderr.write(f"Lockstep needs Python 3.11 or newer; python3 here is {sys.version.split()[0]}\n")
    sys.exit(3)

from grader.student.command import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
