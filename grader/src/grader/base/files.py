"""Reads files that may be traps, and writes files atomically."""

import hashlib
import os
import stat
import tempfile
from pathlib import Path

_CHUNK = 1 << 20


class FileError(Exception):
    """A file that is refused; the text says why, in a sentence fit for a report."""


def read_regular(name: str | Path, limit: int, *, dir_fd: int | None = None) -> bytes:
    """The bytes of a regular file of at most `limit` bytes.

    A symbolic link in the last place is not followed, and a pipe or device is not waited for. Raises FileError for a
    file that is refused and FileNotFoundError for a missing one.
    """
    label = Path(name).name
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=dir_fd)
    except FileNotFoundError:
        raise
    except OSError as error:
        status = _lstat(name, dir_fd)
        if status is not None and stat.S_ISLNK(status.st_mode):
            raise FileError(f"{label} is a symbolic link; links are not followed") from error
        raise FileError(f"{label} can't be opened: {error.strerror}") from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise FileError(f"{label} is no regular file")
        if status.st_size > limit:
            raise FileError(f"{label} has {status.st_size:,} bytes; at most {limit:,} are taken")
        with os.fdopen(fd, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    finally:
        os.close(fd)
    if len(data) > limit:
        raise FileError(f"{label} grew beyond {limit:,} bytes while it was read")
    return data


def _lstat(name: str | Path, dir_fd: int | None) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except OSError:
        return None


def write_atomic(path: Path, content: str | bytes, mode: int = 0o644) -> None:
    """Replaces `path` in one step, on disk before the name changes: a reader sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
            os.fchmod(fd, mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def sha256_bytes(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def sha256_files(paths: list[Path]) -> str:
    """One hash over the names and contents of several files, whatever order they come in."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(f"{path.name}\0{sha256_file(path)}\n".encode())
    return digest.hexdigest()
