"""The sources in a Jupyter notebook: files that cells write, and cells that a magic compiles.

``%%writefile NAME`` writes a file, with ``-a`` behind what was there. ``%%cu``, ``%%cuda`` and their like compile a
cell as a program; such a cell has no name but its place.
"""

import json
import re

from grader.base.files import FileError

_WRITE = re.compile(r"%%writefile\s+(-a\s+|--append\s+)?[\"']?([^\s\"']+)[\"']?\s*$")
_SAVE = re.compile(r"%%cuda_group_save\b.*?(?:-n|--name)\s+[\"']?([^\s\"']+)")
_COMPILE = re.compile(r"%%(?:cu|cuda|nvcc|gpu|cuda_run|nvcuda|cudac?pp?)\b")
_MOST_CELLS = 5_000


def sources(data: bytes, suffix: str) -> dict[str, bytes]:
    """The files in a notebook by name; raises FileError for what is none. `suffix` is that of the cells without one."""
    try:
        cells = json.loads(data)["cells"]
        texts = ["".join(cell["source"]) for cell in cells[:_MOST_CELLS] if cell.get("cell_type") == "code"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FileError("can't be read: it is no notebook, or one of before 2015") from error
    files: dict[str, str] = {}
    for number, text in enumerate(texts, 1):
        first, _, rest = text.lstrip().partition("\n")
        if written := _WRITE.match(first.strip()) or _SAVE.match(first.strip()):
            *more, path = written.groups()
            name = path.rpartition("/")[2]
            files[name] = files.get(name, "") + rest if any(more) else rest
        elif suffix == ".cu" and _COMPILE.match(first):
            files[f"cell {number}{suffix}"] = rest
    return {name: text.encode("utf-8", "replace") for name, text in files.items()}
