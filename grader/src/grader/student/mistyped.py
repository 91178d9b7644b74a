"""Messages for unknown names: each lists the known ones.

Only the standard library is used here: students run it.
"""

import difflib
import textwrap
from collections.abc import Iterable
from pathlib import Path

from grader.model.assignment import Assignment

DEVICES = ("vgpu", "cuda")
_COLUMNS = 78


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The known word most similar to this one; "" if none is similar."""
    lower = {one.lower(): one for one in known}
    found = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=0.6)
    return lower[found[0]] if found else ""


def no_device(device: str) -> str:
    """The error for an unknown device, such as DEVICE=gpu."""
    return (
        f"There is no device {device}.\n"
        "Type:  make test                  for the virtual GPU, which runs everywhere\n"
        "       make test DEVICE=cuda      for this machine's NVIDIA GPU"
    )


def no_rung(assignment: Assignment, rung: str) -> str:
    """The error for an unknown rung, such as RUNG=99."""
    ids = [f"{one.id} ({one.label})" if one.letter else one.id for one in assignment.rungs]
    names = {name: one.id for one in reversed(assignment.rungs) for name in (one.id, one.id.split("_", 1)[0])}
    meant = names.get(did_you_mean(rung, names), assignment.rungs[0].id)
    return f"{assignment.id} has no rung {rung}. Its rungs are:\n{_listed(ids)}\nType:  make test RUNG={meant}"


def no_test(assignment: Assignment, test: str, tests: Iterable[str]) -> str:
    """The error for TEST=Foo; `tests` are full names, such as "SumTest.SumsNothing/reduce1_interleaved"."""
    names = list(dict.fromkeys(name.partition("/")[0].rpartition(".")[2] for name in tests))
    example = f"\nType:  make test TEST={names[0]}" if names else ""
    return f"{assignment.id} has no test with {test} in its name. Its tests are:\n{_listed(names)}{example}"


def no_file(path: Path) -> str:
    """The error for a solution that is not in its place: renamed or deleted."""
    others = sorted(other.name for other in path.parent.glob("*.cu")) if path.parent.is_dir() else []
    if len(others) == 1:
        return f"{path.name} is missing, but {others[0]} is there. Rename it.\nType:  mv {others[0]} {path.name}"
    found = f"; its folder has {', '.join(others)}" if others else ""
    return f"{path.name} is missing{found}.\nRename your file to {path.name}, or copy the stub from the handout again."


def _listed(names: Iterable[str]) -> str:
    return textwrap.fill(
        "  ".join(names), _COLUMNS, initial_indent="  ", subsequent_indent="  ", break_long_words=False
    )
