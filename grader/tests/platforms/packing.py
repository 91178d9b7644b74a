"""Writes the files of a download as a folder, a .zip, a .tar.gz, a .tgz or a .tar: what the path's ending says."""

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

_STAMP = (2026, 11, 21, 8, 0, 0)  # of the download, not of the submissions


def pack(path: Path, files: Mapping[str, bytes]) -> Path:
    """Writes `files`, by their paths in the download, to a .zip, a tar or, without such a suffix, a folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.name.endswith(".zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(zipfile.ZipInfo(name, _STAMP), data, zipfile.ZIP_DEFLATED)
    elif path.name.endswith((".tar.gz", ".tgz", ".tar")):
        with tarfile.open(path, "w" if path.name.endswith(".tar") else "w:gz") as archive:
            for name, data in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    else:
        for name, data in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)
    return path


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A .zip in memory, as a student hands one in."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _STAMP), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def tarred(files: Mapping[str, bytes]) -> bytes:
    """A .tar.gz in memory."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()
