"""Makes the zip that Gradescope builds its image from: the harness's sources, one assignment, and this grader's part.

setup.sh and run_autograder stand at the zip's root, as Gradescope wants them, and everything else in lockstep/. What
only building the image needs, the reference and the hidden tests among it, setup.sh deletes from the image.
"""

import json
import os
import re
import secrets
import zipfile
from collections.abc import Iterator
from pathlib import Path

from grader.authoring.handout import HARNESS, tracked
from grader.authoring.imports import PACKAGE, closure
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.base.secret import NAME as SECRET
from grader.model.assignment import Assignment

ZIP = "autograder.zip"
SCRIPTS = ("setup.sh", "run_autograder")
_INSIDE = "lockstep"
_ENTRY = "grader.autograder.run"  # the module that the image runs; what it imports goes with it
_HARNESS = tuple(name for name in HARNESS if name not in ("run.sh", "student.mk"))
_EXECUTABLE, _PLAIN, _OWN = 0o755, 0o644, 0o600
_TIME = (1980, 1, 1, 0, 0, 0)  # the same files make the same zip


def make_zip(
    layout: Layout, assignment: Assignment, target: Path, *, points: float, minutes: float, secret: bytes | None
) -> list[str]:
    """Writes the zip and gives the names in it. Without `secret` it gets a new one. Raises GraderError."""
    if not (layout.reference(assignment.id) / assignment.submission).is_file():
        raise GraderError(
            f"{assignment.id} has no reference solution, which the image is tested with.\n"
            f"Type:  ls {layout.reference(assignment.id)}"
        )
    if assignment.is_python:
        raise GraderError(
            f"{assignment.id} is in Python, which an autograder's image can't compile:"
            " it has neither Numba nor python3-dev."
        )
    settings = {"assignment": assignment.id, "points": points, "minutes": minutes}
    contents: dict[str, tuple[bytes, int]] = {}
    for name in SCRIPTS:
        contents[name] = ((layout.templates / "autograder" / name).read_bytes(), _EXECUTABLE)
    for path in _files(layout, assignment):
        mode = _EXECUTABLE if os.access(layout.root / path, os.X_OK) else _PLAIN
        contents[f"{_INSIDE}/{path}"] = ((layout.root / path).read_bytes(), mode)
    headers = _toml_headers(layout)
    if headers is not None:
        for header in filter(Path.is_file, headers.rglob("*")):
            contents[f"{_INSIDE}/include/toml++/{header.relative_to(headers)}"] = (header.read_bytes(), _PLAIN)
    for module in closure(_ENTRY):
        name = f"{_INSIDE}/grader/src/grader/{module.relative_to(PACKAGE)}"
        contents[name] = (module.read_bytes(), _PLAIN)
    contents[f"{_INSIDE}/private/settings.json"] = (json.dumps(settings, indent=1).encode() + b"\n", _OWN)
    contents[f"{_INSIDE}/private/{SECRET}"] = ((secret or secrets.token_hex(32).encode()) + b"\n", _OWN)
    _write(target, contents)
    return sorted(contents)


def _write(target: Path, contents: dict[str, tuple[bytes, int]]) -> None:
    """Only its owner can read the zip: it holds the hidden tests, the reference and the secret."""
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_name(f".{target.name}.{os.getpid()}")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, _OWN)
    with os.fdopen(descriptor, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (content, mode) in sorted(contents.items()):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix: else the modes are not read
            archive.writestr(entry, content)
    scratch.replace(target)


def _toml_headers(layout: Layout) -> Path | None:
    """toml++ as this checkout was built with: it is a few headers, and Ubuntu 22.04 has no package of them."""
    cache = layout.build / "CMakeCache.txt"
    text = cache.read_text(encoding="utf-8") if cache.is_file() else ""
    found = re.search(r"^TOMLPLUSPLUS_INCLUDE:PATH=(/.+)$", text, re.MULTILINE)
    return Path(found[1]) / "toml++" if found else None


def _files(layout: Layout, assignment: Assignment) -> Iterator[str]:
    """Of the checkout: what builds the judge and this assignment's suite, and what compiles a submission."""
    own = assignment.id
    harness = tuple(f"harness/{name}" for name in _HARNESS)
    others = tuple(f"harness/suites/{name}_" for name in layout.assignments() if name != own)
    for path in tracked(layout.root):
        name = Path(path).name
        is_suite = path.startswith("harness/suites/") and not path.startswith(others)
        is_read = name.endswith(".h") or name in ("assignment.toml", "figures.json")  # by the compiler, by the judge
        if (
            path in ("CMakeLists.txt", "LICENSE")
            or path.startswith((*harness, f"reference/{own}/hidden_"))
            or path == f"reference/{own}/{assignment.submission}"
            or is_suite
            or (is_read and path.startswith(f"assignments/{own}/"))
        ):
            yield path
