"""The sources in a Jupyter notebook: files that cells write, and cells that a magic compiles.

``%%writefile NAME`` writes a file, with ``-a`` it appends. ``%%cu``, ``%%cuda`` and their like compile a cell as a
program; such a cell is named only by its position. A notebook that was exported as a Python script (nbconvert, Colab,
VS Code, Jupytext) is read in the same way.
"""

import ast
import itertools
import json
import re
from collections.abc import Sequence

from grader.base.files import FileError

_WRITE = re.compile(r"%%writefile\s+(-a\s+|--append\s+)?[\"']?([^\s\"']+)[\"']?\s*$")
_SAVE = re.compile(r"%%cuda_group_save\b.*?(?:-n|--name)\s+[\"']?([^\s\"']+)")
_COMPILE = re.compile(r"%%(?:cu|cuda|nvcc|gpu|cuda_run|nvcuda|cudac?pp?)\b")
# In a script, nbconvert writes a cell as a call if IPython is installed, else as plain text; Jupytext comments out the
# magic, Colab the whole cell.
_CALL = re.compile(r"get_ipython\(\)\.run_cell_magic(\(.*\))\s*")
_BORDER = re.compile(r"# (?:In ?\[[\d ]*\]:|%%(?:\s.*)?$|[+-]\s*$)")
_COMMENT = re.compile(r"# ?")
_COMMENTED = re.compile(r"#(?: |$)")
_MOST_CELLS = 5_000


def sources(data: bytes, suffix: str) -> dict[str, bytes]:
    """A notebook's files by name; raises FileError if it is not one. Unnamed cells get the ending `suffix`."""
    try:
        cells = json.loads(data)["cells"]
        texts = ["".join(cell["source"]) for cell in cells[:_MOST_CELLS] if cell.get("cell_type") == "code"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FileError("can't be read: it is no notebook, or one of before 2015") from error
    return _sources(texts, suffix)


def script_sources(data: bytes, suffix: str) -> dict[str, bytes]:
    """The files in a notebook's export as a Python script, by name; empty for other scripts."""
    texts: list[str] = []
    for line in data.decode("utf-8", "replace").splitlines(keepends=True):
        if call := _CALL.fullmatch(line):
            texts += [_called(call[1]), ""]
        elif _BORDER.match(line):
            texts.append("")
        elif _is_magic(line) or _is_magic(_COMMENT.sub("", line, count=1)):
            texts.append(line)
        elif texts:
            texts[-1] += line
    return _sources([_uncommented(text) for text in texts if text][:_MOST_CELLS], suffix)


def _is_magic(line: str) -> bool:
    return any(magic.match(line) for magic in (_WRITE, _SAVE, _COMPILE))


def _called(arguments: str) -> str:
    """The cell in the arguments of run_cell_magic; "" unless they are three strings."""
    try:
        magic, line, body = ast.literal_eval(arguments)
        return f"%%{magic} {line}".rstrip() + f"\n{body}"
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ""


def _uncommented(text: str) -> str:
    """A cell without comment marks; if the magic and its next line have one, it ends at the first line without."""
    if not text.startswith("#"):
        return text.rstrip("\n") + "\n"
    magic, *lines = text.splitlines(keepends=True)
    if lines and _COMMENTED.match(lines[0]):
        lines = [_COMMENT.sub("", line, count=1) for line in itertools.takewhile(_COMMENTED.match, lines)]
    return _COMMENT.sub("", magic, count=1) + "".join(lines).rstrip("\n") + "\n"


def _sources(texts: Sequence[str], suffix: str) -> dict[str, bytes]:
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
