"""Compares a submission's PTX with its machine code, line by line: the branches and accesses that a GPU executes.

The virtual GPU counts what the PTX does. A hardware profiler counts what the machine code does, and the assembler may
have turned a branch into predicated instructions or four neighbouring loads into one. Both texts name source lines, so
the two can be compared: a student who opens Nsight Compute later sees no contradiction.

Only static counts are compared, and only if they hold for every execution of a line:

* PTX has conditional branches on a line and machine code has none: none is executed. `@P0 EXIT` is not one: hardware
  does not count it as a branch.
* PTX and machine code move the same bytes by accesses of other widths: executed accesses change by the same ratio.

ptxas and nvdisasm come with the toolkit; if one is missing, nothing is compared. Only the standard library is
used here: students run it.
"""

import os
import re
import subprocess
import sysconfig
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.counted import counted
from grader.model.line_costs import base_name

ARCH = "90"  # compute capability of the machine code to compare
_SECONDS = 120
_PTX_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]+)"')
_PTX_PLACE = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s")
_PTX_BRANCH = re.compile(r"^\s*@!?%\w+\s+bra\b")
_PTX_ACCESS = re.compile(r"^\s*(?:@!?%\w+\s+)?(ld|st)\.([\w.:]+)\s")
_PTX_TYPE = re.compile(r"^[busf](\d+)$")
_SASS_PLACE = re.compile(r'^\s*//## File "([^"]+)", line (\d+)')
_SASS_BRANCH = re.compile(r"^\s*/\*\w+\*/\s+(?:@!?U?P\w+\s+BRA\b|(?:@!?U?P\w+\s+)?BRX\b)")
_SASS_ACCESS = re.compile(r"^\s*/\*\w+\*/\s+(?:@!?U?P\w+\s+)?(LDG|LDS|STG|STS)((?:\.\w+)*)\s")
_OPERATIONS = {"LDG": "global loads", "STG": "global stores", "LDS": "shared loads", "STS": "shared stores"}
_SPACES = {("ld", "global"): "LDG", ("st", "global"): "STG", ("ld", "shared"): "LDS", ("st", "shared"): "STS"}
# The counters for an operation's executions.
COUNTERS = {
    "LDG": "global_load_requests",
    "STG": "global_store_requests",
    "LDS": "shared_load_requests",
    "STS": "shared_store_requests",
}


@dataclass
class Inventory:
    """The instructions on one line: conditional branches, and accesses by operation and bytes per thread."""

    branches: int = 0
    accesses: dict[str, Counter[int]] = field(default_factory=dict)

    def add(self, operation: str, width: int) -> None:
        """Adds an access."""
        self.accesses.setdefault(operation, Counter())[width] += 1


@dataclass(frozen=True)
class Change:
    """The assembler's change to a line: the counter, and the factor to apply to its PTX count."""

    counter: str
    factor: float
    text: str


MachineChanges = Mapping[int, tuple[Change, ...]]  # by line


def ptx_inventory(text: str, file_name: str) -> dict[int, Inventory]:
    """The instructions of each line of a source file, as PTX has them."""
    files = {found[1]: base_name(found[2]) for line in text.split("\n") if (found := _PTX_FILE.match(line))}
    lines: dict[int, Inventory] = {}
    here: Inventory | None = None
    for line in text.split("\n"):
        if place := _PTX_PLACE.match(line):
            known = files.get(place[1]) == file_name and place[2] != "0"
            here = lines.setdefault(int(place[2]), Inventory()) if known else None
        elif here is None:
            continue
        elif _PTX_BRANCH.match(line):
            here.branches += 1
        elif access := _PTX_ACCESS.match(line):
            words = access[2].replace("::", ".").split(".")
            operation = next(
                (name for (kind, space), name in _SPACES.items() if kind == access[1] and space in words), ""
            )
            bits = next((int(found[1]) for word in words if (found := _PTX_TYPE.match(word))), 0)
            vector = next((int(word[1:]) for word in words if re.fullmatch(r"v\d", word)), 1)
            if operation and bits:
                here.add(operation, bits // 8 * vector)
    return lines


def machine_inventory(text: str, file_name: str) -> dict[int, Inventory]:
    """The instructions of each line of a source file, as machine code has them: from nvdisasm --print-line-info."""
    lines: dict[int, Inventory] = {}
    here: Inventory | None = None
    for line in text.split("\n"):
        if place := _SASS_PLACE.match(line):
            here = lines.setdefault(int(place[2]), Inventory()) if base_name(place[1]) == file_name else None
        elif here is None:
            continue
        elif _SASS_BRANCH.search(line):
            here.branches += 1
        elif access := _SASS_ACCESS.match(line):
            here.add(access[1], _width(access[2].split(".")))
    return lines


def _width(modifiers: list[str]) -> int:
    for modifier, width in (("128", 16), ("64", 8), ("U8", 1), ("S8", 1), ("U16", 2), ("S16", 2)):
        if modifier in modifiers:
            return width
    return 4


def changes(ptx: Mapping[int, Inventory], machine: Mapping[int, Inventory]) -> MachineChanges:
    """Certain differences in execution, line by line; lines without a difference are left out."""
    found = {}
    for number, written in ptx.items():
        compiled = machine.get(number, Inventory())
        here = []
        if written.branches and not compiled.branches:
            here.append(Change("branches", 0.0, "no branch is left in the machine code"))
        for operation, widths in written.accesses.items():
            others = compiled.accesses.get(operation, Counter())
            if widths != others and _bytes(widths) == _bytes(others):
                factor = others.total() / widths.total()
                text = f"{_OPERATIONS[operation]}: {_widths(widths)} became {_widths(others)} in the machine code"
                here.append(Change(COUNTERS[operation], factor, text))
        if here:
            found[number] = tuple(here)
    return found


def _bytes(widths: Counter[int]) -> int:
    return sum(width * count for width, count in widths.items())


def _widths(widths: Counter[int]) -> str:
    return " and ".join(f"{count} of {counted(width, 'byte')}" for width, count in sorted(widths.items(), reverse=True))


def find_disassembler(nvcc: str) -> Path | None:
    """nvdisasm next to nvcc, on PATH, or among this interpreter's Python packages."""
    packages = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin"
    folders = (Path(nvcc).resolve().parent, *map(Path, os.get_exec_path()), packages)
    return next((folder / "nvdisasm" for folder in folders if (folder / "nvdisasm").is_file()), None)


def look_at_machine_code(ptx: Path, file_name: str, nvcc: str, scratch: Path) -> MachineChanges | None:
    """The assembler's changes to a PTX file. None if ptxas or nvdisasm is missing or fails."""
    ptxas, disassembler = Path(nvcc).resolve().parent / "ptxas", find_disassembler(nvcc)
    if not ptxas.is_file() or disassembler is None:
        return None
    code = scratch / "code.cubin"
    for command in (
        [ptxas, "--generate-line-info", f"-arch=sm_{ARCH}", ptx, "-o", code],
        [disassembler, "--print-line-info", "-c", code],
    ):
        ended = subprocess.run(
            list(map(str, command)), capture_output=True, check=False, timeout=_SECONDS, text=True, errors="replace"
        )
        if ended.returncode != 0:
            return None
    text = ptx.read_text(encoding="utf-8", errors="replace")
    return changes(ptx_inventory(text, file_name), machine_inventory(ended.stdout, file_name))
