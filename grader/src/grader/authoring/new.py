"""`grader new`: writes the files of a new assignment from templates/new.

The scaffold is a complete small assignment: its stub fails, its reference passes, its one wrong solution gets its
verdict. The author replaces the task.
"""

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grader.base.errors import GraderError
from grader.base.layout import KERNELS, Layout

_ID = re.compile(r"(?P<number>\d\d)_(?P<stem>[a-z][a-z0-9]*)(?P<rest>(?:_[a-z0-9]+)*)")


def new_assignment(layout: Layout, name: str, *, python: str = "") -> list[Path]:
    """Writes the files of the assignment `name` (20_histogram) and gives their paths; never replaces one.

    `python`: what submissions in Python are written for, "numba" or "pycuda"; "" for CUDA C++.

    Raises GraderError where the name is of another form, or taken.
    """
    match = _ID.fullmatch(name)
    if not match:
        raise GraderError(
            f'"{name}" is no name of an assignment.\nType:  grader new 20_histogram      two digits, a word'
        )
    stem = match["stem"]
    taken = [other for other in layout.assignments() if other.startswith(f"{match['number']}_")]
    if taken:
        command = f"grader new NN_{stem}      NN: a number that is free"
        raise GraderError(f"{match['number']} is taken by {taken[0]}.\nType:  {command}")
    words = name[3:].split("_")
    environment = Environment(
        loader=FileSystemLoader(layout.templates / "new"),
        autoescape=False,  # noqa: S701 - sources, no page
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    values = {
        "id": name,
        "number": match["number"],
        "stem": stem,
        "name": "".join(word.capitalize() for word in words),
        "title": " ".join(words).capitalize(),
    }
    suffix = ".py" if python else ".cu"
    own_suffix = f".{python}.py" if python else ".cu"  # of templates
    values |= {"submission": stem + suffix, "python": python}
    own, hidden, suites = layout.assignment(name), layout.reference(name), layout.harness / "suites"
    targets = {
        "assignment/README.md": own / "README.md",
        "assignment/Makefile": own / "Makefile",
        "assignment/assignment.toml": own / "assignment.toml",
        "assignment/hints.toml": own / "hints.toml",
        f"assignment/stub{own_suffix}": own / f"{stem}{suffix}",
        f"reference/solution{own_suffix}": hidden / f"{stem}{suffix}",
        "reference/hidden_test.cc": hidden / "hidden_test.cc",
        f"reference/wrong/no_guard{own_suffix}": hidden / "wrong" / f"no_guard{suffix}",
        "suites/fixture.h": suites / f"{name}_fixture.h",
        "suites/test.cc": suites / f"{name}_test.cc",
        f"suites/launchers{'.python' if python else ''}.cc": suites / f"{name}_launchers.cc",
    }
    if python == "pycuda":
        targets["assignment/kernels.cu"] = own / KERNELS
    elif not python:
        targets["assignment/launchers.h"] = own / f"{stem}.h"
    for path in targets.values():
        if path.exists():
            raise GraderError(f"{path} is there already.\nType:  grader new with another name")
    for template, path in targets.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(environment.get_template(f"{template}.j2").render(values), encoding="utf-8")
    return list(targets.values())
