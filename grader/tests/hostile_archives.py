"""Archives made to do harm: each builder puts a hostile member, or hostile bytes, next to honest files.

`build(honest, evil)` makes an archive of the honest files in which `evil` is the path that the attacker targets.
"""

import gzip
import io
import stat
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Mapping

Files = Mapping[str, bytes]
Build = Callable[[Files, str], bytes]
SOURCE = b"// who mallory\n"
BIG = bytes(64 << 20)


def zipped(honest: Files, *members: tuple[zipfile.ZipInfo | str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, data in honest.items():
            archive.writestr(name, data)
        for name, data in members:
            archive.writestr(name, data, method)
    return buffer.getvalue()


def with_mode(name: str, mode: int) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.create_system = 3
    member.external_attr = mode << 16
    return member


def patched(data: bytes, name: bytes, local: tuple[int, bytes] | None, table: tuple[int, bytes] | None) -> bytes:
    """The zip with bytes replaced at an offset in the last member's local header and in its directory entry."""
    raw = bytearray(data)
    for place, change in ((raw.rfind(b"PK\x03\x04"), local), (raw.rfind(b"PK\x01\x02"), table)):
        if change is not None:
            raw[place + change[0] : place + change[0] + len(change[1])] = change[1]
    assert name in raw
    return bytes(raw)


def tarred(honest: Files, *members: tuple[tarfile.TarInfo, bytes], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in honest.items():
            own = tarfile.TarInfo(name)
            own.size = len(data)
            archive.addfile(own, io.BytesIO(data))
        for member, data in members:
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def tar_member(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0, link: str = "/etc/passwd") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type = kind
    member.size = size
    member.linkname = link if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else ""
    return member


def raw_header(name: str, kind: bytes, size_field: bytes) -> bytes:
    """A tar header with this size field, and a valid checksum."""
    block = bytearray(tarfile.TarInfo(name).tobuf(tarfile.USTAR_FORMAT))
    block[124:136] = size_field.ljust(12, b"\0")
    block[156:157] = kind
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block[:512])
    return bytes(block[:512])


def after_honest(honest: Files, blocks: bytes) -> bytes:
    """A tar whose honest members are followed by raw blocks."""
    whole = tarred(honest, mode="w:")
    return whole[: len(whole.rstrip(b"\0")) + -len(whole.rstrip(b"\0")) % 512] + blocks + bytes(1024)


def _overlapping(honest: Files, evil: str) -> bytes:
    """Two directory entries for the same bytes."""
    data = zipped(honest, (evil, SOURCE), ("twin.cu", SOURCE))
    raw = bytearray(data)
    first, second = raw.rfind(b"PK\x01\x02", 0, raw.rfind(b"PK\x01\x02")), raw.rfind(b"PK\x01\x02")
    raw[second + 42 : second + 46] = raw[first + 42 : first + 46]
    return bytes(raw)


def _nested(honest: Files, evil: str) -> bytes:
    data = zipped({}, ("ladder.cu", SOURCE))
    for level in range(12):
        data = zipped({}, (f"level{level}.zip", data))
    return zipped(honest, (evil.replace("ladder.cu", "deep.zip"), data))


def _many(honest: Files, evil: str) -> bytes:
    return zipped(
        {**honest, **{evil.replace("ladder.cu", f"{index}.txt"): b"" for index in range(6000)}}, (evil, SOURCE)
    )


def _bad_utf8(honest: Files, evil: str) -> bytes:
    name = evil.replace("ladder", "lädder")
    return zipped(honest, (name, SOURCE)).replace("ä".encode(), b"\xff\xfe")


def _long_names(honest: Files, evil: str) -> bytes:
    header = raw_header("././@LongLink", tarfile.GNUTYPE_LONGNAME, b"%011o\0" % 512)
    return after_honest(honest, header * 5000)


def _ladder(evil: str, name: str) -> str:
    return evil.replace("ladder.cu", name)


# name: (builder, the reason when one student hands it in, the reason when it is the class's archive).
# A reason "" means that it is taken and does no harm; one that begins with ! that the whole archive is refused.
ARCHIVES: dict[str, tuple[Build, str, str]] = {
    "zip: path with ..": (lambda h, e: zipped(h, (f"../../{e}", SOURCE)), "leaves the archive", "leaves the archive"),
    "zip: .. in the middle": (
        lambda h, e: zipped(h, (f"a/../../{e}", SOURCE)),
        "leaves the archive",
        "leaves the archive",
    ),
    "zip: absolute path": (lambda h, e: zipped(h, (f"/{e}", SOURCE)), "absolute path", "absolute path"),
    "zip: drive letter": (
        lambda h, e: zipped(h, ("C:\\" + e.replace("/", "\\"), SOURCE)),
        "absolute path",
        "absolute path",
    ),
    "zip: backslashes and ..": (
        lambda h, e: zipped(h, ("..\\..\\" + e.replace("/", "\\"), SOURCE)),
        "leaves the archive",
        "leaves the archive",
    ),
    "zip: backslashes": (lambda h, e: zipped(h, (e.replace("/", "\\"), SOURCE)), "", ""),
    "zip: symbolic link": (
        lambda h, e: zipped(h, (with_mode(e, stat.S_IFLNK | 0o777), b"/etc/passwd")),
        "symbolic link",
        "symbolic link",
    ),
    "zip: pipe": (
        lambda h, e: zipped(h, (with_mode(e, stat.S_IFIFO | 0o644), b"")),
        "no regular file",
        "no regular file",
    ),
    "zip: device": (
        lambda h, e: zipped(h, (with_mode(e, stat.S_IFCHR | 0o644), b"")),
        "no regular file",
        "no regular file",
    ),
    "zip: encrypted": (
        lambda h, e: patched(zipped(h, (e, SOURCE)), e.encode(), (6, b"\x01\0"), (8, b"\x01\0")),
        "encrypted",
        "encrypted",
    ),
    "zip: lzma": (lambda h, e: zipped(h, (e, SOURCE), method=zipfile.ZIP_LZMA), "method 14", "method 14"),
    "zip: bzip2": (lambda h, e: zipped(h, (e, SOURCE), method=zipfile.ZIP_BZIP2), "method 12", "method 12"),
    "zip: unknown method": (
        lambda h, e: patched(zipped(h, (e, SOURCE)), e.encode(), (8, b"\x63\0"), (10, b"\x63\0")),
        "method 99",
        "method 99",
    ),
    "zip: NUL in a name": (
        lambda h, e: zipped(h, (e + "\x01.txt", SOURCE)).replace(b"\x01.txt", b"\0.txt"),
        "NUL character",
        "NUL character",
    ),
    "zip: no UTF-8 in spite of its flag": (_bad_utf8, "claims to be UTF-8", "!claims to be UTF-8"),
    "zip: UTF-8 without its flag": (
        lambda h, e: zipped(h, (_ladder(e, "ladder é.cu"), SOURCE)).replace(b"\x00\x08\x08\x00", b"\x00\x00\x08\x00"),
        "",
        "",
    ),
    "zip: says it is small": (
        lambda h, e: patched(zipped(h, (e, SOURCE * 9)), e.encode(), (22, b"\x05\0\0\0"), (24, b"\x05\0\0\0")),
        "can't be unpacked",
        "can't be unpacked",
    ),
    "zip: says it is huge": (
        lambda h, e: patched(zipped(h, (e, SOURCE)), e.encode(), None, (24, b"\xfe\xff\xff\xff")),
        "unpacks to 4,095 MiB",
        "4,294,967,294 bytes",
    ),
    "zip: wrong checksum": (
        lambda h, e: patched(zipped(h, (e, SOURCE)), e.encode(), (14, b"abcd"), (16, b"abcd")),
        "checksum",
        "checksum",
    ),
    "zip: another name in its own header": (
        lambda h, e: patched(zipped(h, (e, SOURCE)), e.encode(), (30, b"x"), None),
        "two names",
        "two names",
    ),
    "zip: flat bomb": (lambda h, e: zipped(h, (e, BIG)), "times its size", "67,108,864 bytes"),
    "zip: bomb beside the file": (
        lambda h, e: zipped(h, (e, SOURCE), (_ladder(e, "data.bin"), BIG)),
        "times its size",
        "",
    ),
    "zip: archives in archives": (_nested, "more than 3 deep", "more than 3 deep"),
    "zip: overlapping members": (_overlapping, "overlap", "!overlap"),
    "zip: one name twice": (lambda h, e: zipped(h, (e, SOURCE), (e, b"other")), "several times", "several times"),
    "zip: a file and a folder": (
        lambda h, e: zipped(h, (e, SOURCE), (f"{e}/inner.txt", b"")),
        "as a file and as a folder",
        "as a file and as a folder",
    ),
    "zip: names that differ in case": (
        lambda h, e: zipped(h, (e, SOURCE), (_ladder(e, "LADDER.CU"), b"other")),
        "",
        "",
    ),
    "zip: names that differ in normalisation": (
        lambda h, e: zipped(h, (e, SOURCE), (_ladder(e, "é.cu"), b"x"), (_ladder(e, "e\u0301.cu"), b"y")),
        "",
        "",
    ),
    "zip: a name of 4,000 characters": (
        lambda h, e: zipped(h, (_ladder(e, "x" * 4000 + ".cu"), SOURCE)),
        "characters",
        "characters",
    ),
    "zip: 60 folders deep": (
        lambda h, e: zipped(h, (_ladder(e, "d/" * 60 + "ladder.cu"), SOURCE)),
        "folders deep",
        "folders deep",
    ),
    "zip: a name that runs backwards": (
        lambda h, e: zipped(h, (_ladder(e, "uc.reddal\u202ex.cu"), SOURCE), (_ladder(e, "\x1b[2J.txt"), b"")),
        "",
        "",
    ),
    "zip: 6,000 members": (_many, "6,001 members", "more than 5,000 files"),
    "zip: cut off": (lambda h, e: zipped(h, (e, SOURCE))[:-40], "cut off or damaged", "!cut off or damaged"),
    "zip: table cut off": (lambda h, e: zipped(h, (e, SOURCE))[:30], "cut off or damaged", "!cut off or damaged"),
    "zip: garbage behind it": (lambda h, e: zipped(h, (e, SOURCE)) + b"garbage" * 50, "", ""),
    "zip: garbage before it": (lambda h, e: b"#!/bin/sh\nexit\n" + zipped(h, (e, SOURCE)), "no archive", "!no archive"),
    "zip: table of gigabytes": (
        lambda h, e: b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 9, 9, 0x7FFFFFFF, 0, 0),
        "cut off or damaged",
        "!cut off or damaged",
    ),
    "empty file": (lambda h, e: b"", "is empty", "!is empty"),
    "text": (lambda h, e: b"I have no time for zips\n" * 40, "no archive", "!no archive"),
    "7z": (lambda h, e: b"7z\xbc\xaf\x27\x1c" + bytes(100), "7z archive", "!7z archive"),
    "a tar that is called zip": (lambda h, e: tarred(h, (tar_member(e, size=len(SOURCE)), SOURCE), mode="w:"), "", ""),
    "tar: path with ..": (
        lambda h, e: tarred(h, (tar_member(f"../../{e}", size=len(SOURCE)), SOURCE)),
        "leaves the archive",
        "leaves the archive",
    ),
    "tar: absolute path": (
        lambda h, e: tarred(h, (tar_member(f"/{e}", size=len(SOURCE)), SOURCE)),
        "absolute path",
        "absolute path",
    ),
    "tar: symbolic link": (
        lambda h, e: tarred(h, (tar_member(e, tarfile.SYMTYPE), b"")),
        "symbolic link",
        "symbolic link",
    ),
    "tar: hard link to another's file": (
        lambda h, e: tarred(h, (tar_member(e, tarfile.LNKTYPE, link="ada/ladder.cu"), b"")),
        "hard link",
        "hard link",
    ),
    "tar: device": (lambda h, e: tarred(h, (tar_member(e, tarfile.CHRTYPE), b"")), "device", "device"),
    "tar: pipe": (
        lambda h, e: tarred(h, (tar_member(e, tarfile.FIFOTYPE), b"")),
        "device or a pipe",
        "device or a pipe",
    ),
    "tar: unknown type": (
        lambda h, e: after_honest(h, raw_header(e, b"Z", b"%011o\0" % 0)),
        "no regular file",
        "no regular file",
    ),
    "tar: one name twice": (
        lambda h, e: tarred(h, (tar_member(e, size=1), b"a"), (tar_member(e, size=1), b"b")),
        "several times",
        "several times",
    ),
    "tar: negative size": (
        lambda h, e: after_honest(h, raw_header(e, b"0", b"\xff" * 10 + b"\xf8\0")),
        "damaged",  # newer Pythons refuse such a header themselves
        "!damaged",
    ),
    "tar: a header with a wrong checksum": (
        lambda h, e: after_honest(h, b"x" + raw_header(e, b"0", b"%011o\0" % 0)[1:]),
        "is no archive",  # the wrong header comes first in this archive
        "!is damaged: what stands at byte",
    ),
    "tar: header of a gigabyte": (
        lambda h, e: after_honest(h, raw_header("x", tarfile.XHDTYPE, b"%011o\0" % (1 << 30)) + SOURCE),
        "header of more than",
        "!header of more than",
    ),
    "tar: long names without end": (_long_names, "without end", "!without end"),
    "tar: bomb": (lambda h, e: tarred(h, (tar_member(e, size=len(BIG)), BIG)), "times its size", "67,108,864 bytes"),
    "tar: cut off in a file": (
        lambda h, e: tarred(h, (tar_member(e, size=len(SOURCE)), SOURCE), mode="w:")[: 512 * (2 * len(h) + 1) + 5],
        "cut off",
        "!cut off",
    ),
    "tar: its end is missing": (
        lambda h, e: after_honest({**h, e: SOURCE}, b"")[:-1024],
        "cut off",
        "!cut off",
    ),
    "tar.gz: cut off": (lambda h, e: tarred(h, (tar_member(e, size=len(SOURCE)), SOURCE))[:-20], "cut off", "!cut off"),
    "tar.gz: garbage behind it": (
        lambda h, e: tarred(h, (tar_member(e, size=len(SOURCE)), SOURCE)) + b"garbage",
        "",
        "",
    ),
    "gz: no tar inside": (lambda h, e: gzip.compress(SOURCE * 100), "cut off or damaged", "!cut off or damaged"),
    "gz: nothing inside": (lambda h, e: gzip.compress(b""), "cut off or damaged", "!cut off or damaged"),
}
