"""An archive as a tree: .zip, .tar and .tar.gz. Nothing is ever written where an archive says.

Theory of operation. The kind of an archive follows from its first bytes, not its name. Its members become a tree of
names in memory, and contents are read on demand. A zip's are read from the file; a tar is scanned once, and members
small enough to be useful are kept in one anonymous temporary file.

Untrusted values are bounded before they are used: the number of members, the bytes that they unpack to and their ratio
to the packed ones, the length and depth of paths, and each single read that the libraries make (`_Bounded`; a table or
a header that claims gigabytes asks for them in one read). A member that breaks a rule is refused individually, with the
reason, and stays in the tree at its path. An archive whose own structure can't be trusted (cut off, members that
overlap, a bomb) is refused as a whole.
"""

import contextlib
import gzip
import io
import itertools
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from grader.base.files import FileError
from grader.intake.tree import FILE, Branch, Node, Refused, readable

_MIB = 1 << 20
_CHUNK = 1 << 16
_CLASS_ROOM = 256 * _MIB  # per submission
_SMALL = 16 * _MIB  # ratios are ignored below this
_LONGEST_PATH = 4096
_LONGEST_NAME = 255
_LONGEST_SHOWN = 80
_DEEPEST_PATH = 32
_GZIP, _ZIPS = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
_OTHERS = {
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!": "RAR",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz")
_LARGE = (*SUFFIXES, ".csv")  # files that may be longer than a source
OTHER_SUFFIXES = (".7z", ".rar", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".gz", ".bz2", ".xz")


@dataclass(frozen=True)
class Limits:
    """The limits within which an archive is trusted.

    `kept`: bytes of the largest nested archive that is opened. `ratio`: of unpacked to packed bytes; 0: no limit.
    """

    unpacked: int
    members: int
    kept: int
    ratio: int
    listing: int = 0  # the longest roster or file list


# A class's archive has no limit on the ratio: a student's bomb in it costs only the time to skip it.
CLASS = Limits(unpacked=64 << 30, members=500_000, kept=64 * _MIB, ratio=0, listing=1 << 30)
HAND_IN = Limits(unpacked=256 * _MIB, members=5_000, kept=16 * _MIB, ratio=250)


class Room:
    """A limit on the unpacked bytes that are kept: in all (`shared`), else for each entry two levels down."""

    def __init__(self, each: int, *, shared: bool = True) -> None:
        """`each` is in bytes."""
        self._each, self._shared = each, shared
        self._taken: dict[str, int] = {}

    def take(self, path: str, size: int) -> bool:
        """Whether there is room for a member of this size; if so, reserves it."""
        owner = "" if self._shared else "/".join(path.strip("./").split("/")[:2])
        taken = self._taken.get(owner, 0) + size
        if taken > self._each:
            return False
        self._taken[owner] = taken
        return True


def is_archive(name: str) -> bool:
    """Whether a file's name is that of a supported archive."""
    return name.casefold().endswith(SUFFIXES)


def is_other_archive(name: str) -> bool:
    """Whether a file's name is that of an unsupported archive."""
    return name.casefold().endswith(OTHER_SUFFIXES) and not is_archive(name)


@contextlib.contextmanager
def archive_tree(file: IO[bytes], name: str, limits: Limits, room: Room | None = None) -> Iterator[Node]:
    """The archive in `file` as a tree; raises FileError if it is refused as a whole. `room` limits what is kept."""
    try:
        with contextlib.ExitStack() as stack:
            try:
                tree = _open(file, limits, room or Room(_CLASS_ROOM, shared=False), stack)
            except FileError as error:
                raise FileError(f"{_short(name)} {error}") from error
            yield tree
    except RecursionError as error:
        raise FileError(f"{_short(name)} has headers inside headers without end") from error


def _open(file: IO[bytes], limits: Limits, room: Room, stack: contextlib.ExitStack) -> Node:
    head = file.read(512)
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    if not size:
        raise FileError("is empty")
    if head.startswith(_ZIPS):
        return _zip_tree(file, size, limits)
    for magic, kind in _OTHERS.items():
        if head.startswith(magic):
            raise FileError(f"is a {kind} archive; those are not taken. Pack a .zip or a .tar.gz")
    if head.startswith(_GZIP):
        return _tar_tree(stack.enter_context(gzip.GzipFile(fileobj=file, mode="rb")), file, limits, room, stack)
    if _is_tar(head):
        return _tar_tree(file, file, limits, room, stack)
    raise FileError("is no archive: neither zip nor tar, whatever its name says")


def _is_tar(head: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


class _Member(Node):
    """A file in an archive."""

    def __init__(self, name: str, size: int, read: Callable[[], bytes]) -> None:
        """`size` is the size that the archive declares."""
        super().__init__(name, FILE)
        self._size = size
        self._read = read

    def children(self) -> list[Node]:
        """Files have no children."""
        return []

    def read(self, limit: int) -> bytes:
        """Its bytes, limited to the declared size and to `limit`."""
        name = _short(self.name)
        if self._size > limit:
            raise FileError(f"{name} has {self._size:,} bytes; at most {limit:,} are taken")
        try:
            return self._read()
        except FileError as error:
            raise FileError(f"{name} {error}") from error


def _place(root: Branch, path: str, made: Callable[[str], Node | None], problem: str = "") -> None:
    """Adds a member to the tree; a refused one at the harmless part of its path."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    problem = _path_problem(path, parts) or problem
    parts = _harmless(parts)
    if not parts:
        parts = ["?"] if problem else []
    if not parts:
        return  # the root folder
    branch = root
    for part in parts[:-1]:
        branch = branch.folder(part)
    node = Refused(parts[-1], f"{_short(parts[-1])} {problem}") if problem else made(parts[-1])
    if node is None:
        branch.folder(parts[-1])
    else:
        branch.add(node)


def _harmless(parts: list[str]) -> list[str]:
    """The path without parts that lead out of the archive, and shortened."""
    kept: list[str] = []
    for part in parts:
        if part == "..":
            kept = kept[:-1]
        elif not part.endswith(":"):
            kept.append(part[:_LONGEST_NAME])
    return kept[:_DEEPEST_PATH]


def _short(name: str) -> str:
    """A name for a message."""
    text = readable(name)
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"


def _path_problem(path: str, parts: list[str]) -> str:
    problem = ""
    if "\0" in path:
        problem = "has a name with a NUL character in it"
    elif path.startswith(("/", "\\")) or (parts and len(parts[0]) > 1 and parts[0][1] == ":"):
        problem = "has an absolute path in the archive"
    elif ".." in parts:
        problem = "has a path that leaves the archive (..)"
    elif len(path) > _LONGEST_PATH or any(len(part) > _LONGEST_NAME for part in parts):
        problem = f"has a name of {len(path):,} characters"
    elif len(parts) > _DEEPEST_PATH:
        problem = f"is {len(parts)} folders deep"
    return problem


class _Bounded:
    """A file that refuses to read or seek further than a well-formed archive needs.

    `packed` is the compressed file that `file` decompresses, for the ratio; the same file if there is no compression.
    """

    def __init__(self, file: Any, packed: IO[bytes], at_once: int, limits: Limits) -> None:
        self._file = file
        self._packed = packed
        self._at_once = at_once
        self._limits = limits

    def read(self, count: int = -1) -> bytes:
        data: bytes = self._file.read(min(count, self._at_once + 1) if count >= 0 else self._at_once + 1)
        if len(data) > self._at_once or count > self._at_once:
            raise FileError(f"has a table or a header of more than {self._at_once:,} bytes")
        self._check(self._file.tell())
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_SET:
            if offset < 0:
                raise FileError("says that a part of it begins before its start")
            # Gzip decompresses everything it skips: in small steps a bomb is noticed on the way.
            while offset - self._file.tell() > _SMALL and self._file is not self._packed:
                before = self._file.tell()
                if self._file.seek(before + _SMALL) == before:
                    break
                self._check(self._file.tell())
        place: int = self._file.seek(offset, whence)
        self._check(place)
        return place

    def tell(self) -> int:
        place: int = self._file.tell()
        return place

    def seekable(self) -> bool:
        return True

    def _check(self, place: int) -> None:
        if self._file is self._packed:
            return
        if place > self._limits.unpacked:
            raise FileError(f"unpacks to more than {self._limits.unpacked // _MIB:,} MiB")
        ratio = self._limits.ratio
        if ratio and place > max(_SMALL, ratio * self._packed.tell()):
            raise FileError(f"unpacks to more than {ratio} times its size")


# --- zip


def _zip_tree(file: IO[bytes], size: int, limits: Limits) -> Node:
    table = limits.members * 256
    try:
        archive = zipfile.ZipFile(_Bounded(file, file, min(table, 64 * _MIB), limits))
    except UnicodeDecodeError as error:
        raise FileError("has a file name that claims to be UTF-8 and isn't") from error
    except (zipfile.BadZipFile, NotImplementedError, struct.error, ValueError, EOFError, OSError) as error:
        raise FileError(f"can't be read: it is cut off or damaged ({error})") from error
    members = archive.infolist()
    if len(members) > limits.members:
        raise FileError(f"has {len(members):,} members; at most {limits.members:,} are accepted")
    _check_overlap(members)
    total = sum(member.file_size for member in members)
    if total > limits.unpacked:
        raise FileError(f"unpacks to {total // _MIB:,} MiB; at most {limits.unpacked // _MIB:,} are accepted")
    if limits.ratio and total > max(_SMALL, limits.ratio * size):
        raise FileError(f"unpacks to {total // max(size, 1):,} times its size")
    root = Branch("")
    for member in members:
        _place_zipped(root, archive, member)
    return root


def _place_zipped(root: Branch, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    def made(name: str) -> Node | None:
        if member.is_dir():
            return None
        return _Member(name, member.file_size, lambda: _unzipped(archive, member))

    _place(root, _zip_name(member), made, _zip_problem(member))


def _zip_name(member: zipfile.ZipInfo) -> str:
    """The name, which is UTF-8 more often than its flag says."""
    name = member.orig_filename
    if not member.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            return name.encode("cp437").decode("utf-8")
    return name


def _zip_problem(member: zipfile.ZipInfo) -> str:
    mode = member.external_attr >> 16
    problem = ""
    if member.flag_bits & 0x1:
        problem = "is encrypted"
    elif stat.S_ISLNK(mode):
        problem = "is a symbolic link; links are not followed"
    elif stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        problem = "is no regular file"
    elif member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        problem = f"is packed in a way that is not taken (method {member.compress_type}); pack an ordinary .zip"
    return problem


def _check_overlap(members: list[zipfile.ZipInfo]) -> None:
    """Overlapping members are how a small zip unpacks to petabytes without nesting."""
    ordered = sorted(members, key=lambda member: member.header_offset)
    for member, following in itertools.pairwise(ordered):
        if member.header_offset + 30 + member.compress_size > following.header_offset:
            raise FileError("has members that overlap: a bomb, or damaged")


def _unzipped(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(member) as file:
            data = b"".join(iter(lambda: file.read(_CHUNK), b""))
    except UnicodeDecodeError as error:
        raise FileError("has two names in the archive that don't agree") from error
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
        struct.error,
        OSError,
    ) as error:
        raise FileError(f"can't be unpacked: {_reason(error)}") from error
    if len(data) != member.file_size:
        raise FileError(f"has {len(data):,} bytes, and the archive says {member.file_size:,}")
    return data


def _reason(error: Exception) -> str:
    text = str(error)
    if "CRC" in text:
        return "its checksum is wrong"
    if "differ" in text:
        return "it has two names in the archive that don't agree"
    return "the archive is cut off or damaged"


# --- tar


def _tar_tree(stream: Any, packed: IO[bytes], limits: Limits, room: Room, stack: contextlib.ExitStack) -> Node:
    root = Branch("")
    kept = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=8 * _MIB))  # noqa: SIM115 - the stack closes it
    bounded = _Bounded(stream, packed, limits.kept + _MIB, limits)
    try:
        archive = tarfile.TarFile(fileobj=bounded, errorlevel=0)  # type: ignore[arg-type]
        before, count, total = -1, 0, 0
        while (member := archive.next()) is not None:
            archive.members.clear()  # type: ignore[attr-defined]
            count += 1
            if count > limits.members:
                raise FileError(f"has more than {limits.members:,} members")
            if member.size < 0 or archive.offset <= before:
                raise FileError("is damaged: it has a member of a negative size")
            before = archive.offset
            total += member.size
            if total > limits.unpacked:
                raise FileError(f"unpacks to more than {limits.unpacked // _MIB:,} MiB")
            _place_tarred(root, archive, member, kept, limits, room)
        _check_end(bounded, archive.offset)
    except EOFError as error:
        raise FileError("is cut off: its end is missing") from error
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, struct.error, ValueError, IndexError, OSError) as error:
        raise FileError(f"can't be read: it is cut off or damaged ({error})") from error
    if not count:
        raise FileError("has nothing in it")
    return root


def _check_end(file: _Bounded, place: int) -> None:
    """Data after the end is ignored, so this has to be the end: otherwise members may have been lost.

    Raises EOFError if the end marker is missing, FileError if tarfile stopped at a header that it can't read.
    """
    file.seek(place)
    block = file.read(tarfile.BLOCKSIZE)
    if len(block) < tarfile.BLOCKSIZE:
        raise EOFError
    if block.strip(b"\0"):
        raise FileError(f"is damaged: what stands at byte {place:,} is no member, and what follows can't be read")
    with contextlib.suppress(gzip.BadGzipFile):  # garbage after a complete archive
        while file.read(_CHUNK):
            pass


def _place_tarred(
    root: Branch, archive: tarfile.TarFile, member: tarfile.TarInfo, kept: Any, limits: Limits, room: Room
) -> None:
    problem = _tar_problem(member)
    place = length = 0
    name = member.name.casefold()
    may_be_read = limits.listing if name.endswith(".yml") else limits.kept if name.endswith(_LARGE) else _MIB
    is_kept = not problem and not member.isdir() and member.size <= may_be_read
    if is_kept and not name.endswith(".yml") and not room.take(member.name, member.size):
        problem, is_kept = "is too much: what archives of one hand-in hold would not fit into memory", False
    if is_kept:
        file = archive.extractfile(member)
        place = kept.seek(0, io.SEEK_END)
        while file and (data := file.read(min(_SMALL, member.size - length))):
            kept.write(data)
            length += len(data)
        if length < member.size:
            raise EOFError

    def read() -> bytes:
        if length < member.size:
            raise FileError(problem or f"has {member.size:,} bytes, too many to be kept")
        kept.seek(place)
        data: bytes = kept.read(length)
        return data

    def made(name: str) -> Node | None:
        return None if member.isdir() else _Member(name, member.size, read)

    _place(root, member.name, made, problem)


def _tar_problem(member: tarfile.TarInfo) -> str:
    problem = ""
    if member.issym():
        problem = "is a symbolic link; links are not followed"
    elif member.islnk():
        problem = "is a hard link; links are not followed"
    elif member.isdev():
        problem = "is a device or a pipe"
    elif member.issparse():
        problem = "is a sparse file"
    elif not (member.isreg() or member.isdir()):
        problem = "is no regular file"
    return problem
