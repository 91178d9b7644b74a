"""Makes the zip for a platform's image: the harness's sources, one assignment, and the part of the grader it runs.

setup.sh and what the platform starts stand at the zip's root, as Gradescope wants them, and everything else in
lockstep/. Files needed only to build the image, such as the reference and the hidden tests, are deleted from it by
setup.sh. For PrairieLearn and Autolab a Dockerfile runs setup.sh, and the zip also has the files to upload there.
"""

import io
import json
import os
import re
import secrets
import tarfile
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path

from grader.authoring.handout import HARNESS, tracked
from grader.authoring.imports import PACKAGE, closure
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.base.secret import NAME as SECRET
from grader.model.assignment import Assignment

SCRIPTS = ("setup.sh", "run_autograder")
GRADESCOPE, PRAIRIELEARN, AUTOLAB = "gradescope", "prairielearn", "autolab"
PROBLEM = "autograded"  # the name of the only score in Autolab's template
_INSIDE = "lockstep"
_ENTRY = "grader.autograder.run"  # the module that the image runs; what it imports goes with it
_HARNESS = tuple(name for name in HARNESS if name not in ("run.sh", "student.mk"))
_EXECUTABLE, _PLAIN, _OWN = 0o755, 0o644, 0o600
_PRAIRIELEARN_SECONDS = 600  # its limit
_TIME = (1980, 1, 1, 0, 0, 0)  # fixed, so that the same files make the same zip


def make_zip(
    layout: Layout,
    assignment: Assignment,
    target: Path,
    *,
    points: float,
    minutes: float,
    secret: bytes | None,
    platform: str = GRADESCOPE,
    problem: str = PROBLEM,
) -> list[str]:
    """Writes the zip and returns the names in it. Without `secret` it gets a new one. Raises GraderError."""
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
    settings: dict[str, object] = {"assignment": assignment.id, "points": points, "minutes": minutes}
    settings |= {"problem": problem} if platform == AUTOLAB else {}
    contents: dict[str, tuple[bytes, int]] = {}
    contents |= _of_platform(layout, assignment, platform, minutes)
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


def _of_platform(layout: Layout, assignment: Assignment, platform: str, minutes: float) -> dict[str, tuple[bytes, int]]:
    """The files that the platform expects at the root of the zip."""
    folder = layout.templates / "autograder"
    if platform == GRADESCOPE:
        return {name: ((folder / name).read_bytes(), _EXECUTABLE) for name in SCRIPTS}
    found = {"setup.sh": ((folder / "setup.sh").read_bytes(), _EXECUTABLE)}
    for path in sorted((folder / platform).iterdir()):
        data = path.read_bytes().replace(b"ASSIGNMENT", assignment.id.encode())
        found[path.name] = (data, _EXECUTABLE if data.startswith(b"#!") else _PLAIN)  # a wheel does not keep file modes
    if platform == AUTOLAB:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:  # Autolab requires one; the image has everything
            archive.addfile(tarfile.TarInfo("lockstep"))
        found["autograde.tar"] = (packed.getvalue(), _PLAIN)
    else:
        found |= {f"question/{name}": (text.encode(), _PLAIN) for name, text in _question(assignment, minutes).items()}
    return found


def _question(assignment: Assignment, minutes: float) -> dict[str, str]:
    """A PrairieLearn question with the assignment's file to upload."""
    info = {
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"lockstep:{assignment.id}")),
        "title": assignment.title,
        "topic": "CUDA",
        "type": "v3",
        "gradingMethod": "External",
        "singleVariant": True,
        "externalGradingOptions": {
            "enabled": True,
            "image": f"REGISTRY/lockstep-{assignment.id}",
            "timeout": min(_PRAIRIELEARN_SECONDS, int(60 * (minutes + 1))),
        },
    }
    page = (
        f"<pl-question-panel><p>Hand in {assignment.submission}.</p>\n"
        f'<pl-file-upload file-names="{assignment.submission}"></pl-file-upload></pl-question-panel>\n'
        "<pl-submission-panel><pl-external-grader-results></pl-external-grader-results>\n"
        "<pl-file-preview></pl-file-preview></pl-submission-panel>\n"
    )
    return {"info.json": json.dumps(info, indent=2) + "\n", "question.html": page}


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
    """The toml++ headers that this checkout was built with: a few files, and Ubuntu 22.04 has no package of them."""
    cache = layout.build / "CMakeCache.txt"
    text = cache.read_text(encoding="utf-8") if cache.is_file() else ""
    found = re.search(r"^TOMLPLUSPLUS_INCLUDE:PATH=(/.+)$", text, re.MULTILINE)
    return Path(found[1]) / "toml++" if found else None


def _files(layout: Layout, assignment: Assignment) -> Iterator[str]:
    """The checkout's files that build the judge and this assignment's suite and that compile a submission."""
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
