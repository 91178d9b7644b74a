"""Explains why the grader can't write to the disk."""

import errno
import os
import shutil
import sqlite3
from pathlib import Path

from grader.base.errors import GraderError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_SHUT = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG}
_BROKEN = {errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE}
_LEAST_FREE = 32 << 20
_SQLITE_ERROR = 0xFF  # the rest of the code is more detail than needed here

_MAKE_ROOM = "Finished work is kept. Free some space, and run the same command"
_ELSEWHERE = "Finished work is kept. Make it writable, or run the same command with --out DIR"


class DamagedError(GraderError):
    """A journal that is damaged and can be read in part at best."""

    def __init__(self, path: Path, problem: str) -> None:
        """`problem` is what could not be read."""
        super().__init__(
            f"{path} is damaged: {problem}.\n"
            f"Type:  grader repair --out {path.parent}      to keep what can be read; the rest is graded again"
        )


def storage_problem(error: OSError) -> str | None:
    """The message for a file system error; None for other kinds, which are bugs in the program."""
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "the disk"
    if error.errno in _FULL:
        return f"{name}: {error.strerror}.\n{_MAKE_ROOM}"
    if error.errno in _SHUT:
        return f"{name} can't be written or read: {error.strerror}.\n{_ELSEWHERE}"
    if error.errno in _BROKEN:
        return f"{name}: {error.strerror}.\nFinished work is kept. Fix that, and run the same command"
    return None


def journal_problem(path: Path, error: sqlite3.Error) -> GraderError:
    """The message for an error of the journal's database."""
    code = getattr(error, "sqlite_errorcode", 0) & _SQLITE_ERROR
    if code == sqlite3.SQLITE_FULL:
        return GraderError(f"{path}: the disk is full.\n{_MAKE_ROOM}")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return GraderError(f"{path} can't be written: {error}.\n{_ELSEWHERE}")
    if code == sqlite3.SQLITE_NOTADB:
        return GraderError(f"{path} is not a journal ({error}).\nMove it away, or choose another folder with --out DIR")
    if code == sqlite3.SQLITE_BUSY:
        return GraderError(f"another program keeps {path} locked.\nEnd it, and run the same command")
    if code == sqlite3.SQLITE_IOERR:
        return GraderError(f"{path}: the disk fails or is full ({error}).\n{_MAKE_ROOM}")
    return DamagedError(path, str(error))


def need_space(folder: Path) -> None:
    """Raises GraderError if the disk of `folder` is nearly full, before that makes grading fail."""
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(there).free
    if free < _LEAST_FREE:
        raise GraderError(
            f"the disk of {there} has {free >> 20} MB left, and grading needs {_LEAST_FREE >> 20} MB.\n{_MAKE_ROOM}"
        )
