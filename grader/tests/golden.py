"""Texts that people read are compared with files. LOCKSTEP_UPDATE_GOLDEN=1 writes these files anew."""

import os
from pathlib import Path

_FOLDER = Path(__file__).parent / "golden"


def check_golden(name: str, text: str) -> None:
    """Fails if `text` isn't what the file `name` holds, unless LOCKSTEP_UPDATE_GOLDEN=1 writes it there."""
    path = _FOLDER / name
    if os.environ.get("LOCKSTEP_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, f"LOCKSTEP_UPDATE_GOLDEN=1 writes {path} anew"
