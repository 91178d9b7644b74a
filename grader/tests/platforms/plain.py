"""No platform: a folder for each student, or a file."""

from collections.abc import Sequence
from pathlib import Path

from platforms.packing import pack
from platforms.people import Upload


def make_plain(path: Path, uploads: Sequence[Upload], *, flat: bool = False) -> Path:
    """Folders named lovelace_ada, or (`flat`, for uploads of one file each) files named lovelace_ada.cu."""
    files: dict[str, bytes] = {}
    for upload in uploads:
        own = upload.person.login
        for name, data in upload.files.items():
            files[f"{own}{Path(name).suffix}" if flat else f"{own}/{name}"] = data
    return pack(path, files)
