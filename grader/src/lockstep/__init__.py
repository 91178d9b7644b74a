"""Notebooks: ``%load_ext lockstep``, and then cells of CUDA C++ that begin with ``%%cuda`` run on the virtual GPU.

docs/how-to/run-a-program.md#in-a-notebook says what a cell can ask for. Only the standard library and IPython are used.
"""

import contextlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from grader.base.errors import GraderError
from grader.base.layout import Layout, find_layout

_HERE = Path(__file__).resolve().parents[3]  # the checkout, where this is run from one
_USAGE = "%%cuda [--no-check] [--profile] [--device vgpu|cuda] [-- ARGUMENT …]"


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext lockstep`` calls."""

    def cuda(line: str, cell: str) -> None:
        run_cell(line, cell)

    shell.register_magic_function(cuda, magic_kind="cell", magic_name="cuda")


def run_cell(line: str, cell: str) -> None:
    """Compiles a cell and runs it, checked; prints what it prints, and shows each finding at its line of the cell."""
    words = shlex.split(line)
    own, program = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    device = own[own.index("--device") + 1 : own.index("--device") + 2] if "--device" in own else ["vgpu"]
    left = {*own} - {"--no-check", "--profile", "--device", *device}
    if left or device not in (["vgpu"], ["cuda"]):
        print(f"%%cuda takes no {' '.join(sorted(left)) or 'such device'}. It is used as\n  {_USAGE}", file=sys.stderr)
        return
    try:
        layout = _layout()
    except GraderError as error:
        print(error, file=sys.stderr)
        return
    with tempfile.TemporaryDirectory(prefix="lockstep-") as folder:
        source, found = Path(folder) / "cell.cu", Path(folder) / "found.sarif"
        source.write_text(cell, encoding="utf-8")
        flags = ["--check", "--sarif", str(found)] if "--no-check" not in own and device == ["vgpu"] else []
        flags += ["--profile"] if "--profile" in own else []
        script = [str(layout.harness / "run.sh"), "--build", str(layout.build), "--device", device[0], *flags]
        ended = subprocess.run([*script, str(source), *program], capture_output=True, text=True, check=False)
        print(ended.stdout, end="")
        print(ended.stderr.replace(f"{folder}/", ""), end="", file=sys.stderr)
        if ended.returncode:
            print(f"{source.name} ended with status {ended.returncode}", file=sys.stderr)
        with contextlib.suppress(OSError):
            _show(json.loads(found.read_text(encoding="utf-8")), cell.split("\n"), source.name)


def _layout() -> Layout:
    """The checkout that LOCKSTEP_ROOT names, around the notebook, or that this module is in."""
    build = os.environ.get("LOCKSTEP_BUILD")
    given = os.environ.get("LOCKSTEP_ROOT")
    for root in [Path(given)] if given else [Path.cwd(), _HERE]:
        with contextlib.suppress(GraderError):
            return find_layout(Path(build) if build else None, root)
    return find_layout(Path(build) if build else None, Path(given) if given else None)


def _show(document: Any, lines: list[str], name: str) -> None:
    """The findings, each with the lines of the cell that it is about."""
    from IPython.display import HTML, display  # noqa: PLC0415 - only a notebook has it

    rows = []
    for one in document["runs"][0]["results"]:
        rows.append(f"<b>{one['ruleId']}</b>")
        for place in (*one["locations"], *one.get("relatedLocations", ())):
            where = place["physicalLocation"]
            if where["artifactLocation"]["uri"].endswith(name):
                number = where["region"]["startLine"]
                rows.append(f"{number:4}  {_escaped(lines[number - 1]) if number <= len(lines) else ''}")
    if rows:
        display(HTML(f"<pre>{'<br>'.join(rows)}</pre>"))  # type: ignore[no-untyped-call]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
