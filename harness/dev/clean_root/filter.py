"""Runs a command without the system calls that Docker's default profile refuses an unprivileged container.

    harness/dev/clean_root/filter.py COMMAND …

New namespaces, mounts and pivot_root end with "Operation not permitted"; clone3 does not exist, so that programs
use clone, whose flags a filter can read. This tests what a container allows where there is no Docker. x86-64 only.
"""

import ctypes
import os
import struct
import sys

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _MODE_FILTER = 22, 38, 2
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _EPERM, _ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
_NUMBER, _FIRST_ARGUMENT = 0, 16  # offsets in what a filter sees of a call
_NAMESPACES = 0x7E020000
_CLONE, _CLONE3 = 56, 435
_REFUSED = (155, 165, 166, 272, 308)  # pivot_root, mount, umount2, unshare, setns


def _program() -> bytes:
    """One row per instruction: code, jump if true, jump if false, value."""
    refuse = [(_EQUAL, 0, 1, number) for number in _REFUSED]
    rows: list[tuple[int, int, int, int]] = [(_LOAD, 0, 0, _NUMBER)]
    for row in refuse:
        rows += [row, (_RETURN, 0, 0, _EPERM)]
    rows += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _ENOSYS)]
    rows += [(_EQUAL, 0, 3, _CLONE), (_LOAD, 0, 0, _FIRST_ARGUMENT), (_ANY_BIT, 0, 1, _NAMESPACES)]
    rows += [(_RETURN, 0, 0, _EPERM), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("HBBI", *row) for row in rows)


def main() -> None:
    """Filters this process and becomes the command."""
    code = ctypes.create_string_buffer(_program())
    libc = ctypes.CDLL(None, use_errno=True)

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    program = Program((len(code) - 1) // 8, ctypes.addressof(code))
    for words in ((_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0)):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606


if __name__ == "__main__":
    main()
