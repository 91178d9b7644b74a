"""Hostile submissions for every C++ assignment: the rung's technique if measured, a lower rung's otherwise.

The technique is the reference's. A student who lacks it is simulated by a lower rung with the same parameters, or by
doing the rung's work twice. A gate chooses between the two for each call, by anything a launcher can see: sizes, the
number of the call, pointers, earlier calls.
"""

import random
import re
from collections.abc import Sequence
from pathlib import Path

from grader.authoring.generated import Generated, Task
from grader.model.assignment import Assignment

# `size`: number of elements; `calls`: of this launcher so far; `last`: the previous call's size; `most`: the largest
# size so far; `at`: the first pointer; `other`: the last integer parameter that is not a size.
GATES: dict[str, str] = {
    "at the size": "size == {n}",
    "up to the size": "size <= {n}",
    "in its first call": "calls == 1",
    "in odd calls": "calls % 2 == 1",
    "in even calls": "calls % 2 == 0",
    "in two of four calls": "calls / 2 % 2 == 0",
    "in eight of sixteen calls": "calls / 8 % 2 == 0",
    "in calls 1 to 4": "calls < 5",
    "after many calls": "calls > 20",
    "where many": "size > {n} / 2",
    "where very many": "size > {n} / 4 * 3",
    "where round": "size % 4096 == 0",
    "where odd": "size % 2 == 1",
    "at powers of two": "(size & (size - 1)) == 0",
    "where larger than before": "size > last",
    "where smaller than before": "size < last",
    "where aligned": "at % 32 == 0",
    "for usual parameters": "other >= 3",
    "from two fifths": "size > {n} / 5 * 2",
    "by a hash of the size": "size * 2654435761u >> 20 & 1",
    "by its first word": "word_for_adversary((const int*)at, size) >> 3 & 1",
    "near the largest so far": "size > most / 2",
    "alike to the one before": "size / 7 * 8 > last && last / 7 * 8 > size",
    "by a hash of the call": "calls * 2654435761u >> 27 & 1",
    "in nine of ten calls": "calls % 10 != 0",
    "by another parameter": "other % 2 == 1",
    "by free memory": "free_for_adversary() >> 16 & 1",
    "on a small device": "multiprocessors_for_adversary() < 60",
}
_IDLE = {
    "nothing": "",
    "launches": "  for (int k = 0; k < 9; ++k) idle_of_adversary<<<64, 128>>>();\n",
    "an allocation": "  void* kept;\n  cudaMalloc(&kept, 1 << 20);\n  cudaFree(kept);\n",
}
_TWICE = "its own work twice"
# The host may not read the input, but a kernel may pass it a word.
_HELPERS = """size_t free_for_adversary() {
  size_t free = 0, all = 0;
  cudaMemGetInfo(&free, &all);
  return free;
}
int multiprocessors_for_adversary() {
  int count = 0;
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
  return count;
}
__global__ void idle_of_adversary() {}
__device__ int told_to_adversary;
__global__ void tell_adversary(const int* at) { told_to_adversary = *at; }
int word_for_adversary(const int* at, unsigned size) {
  cudaPointerAttributes where;
  if (size == 0 || cudaPointerGetAttributes(&where, at) != cudaSuccess) return 0;
  if (where.type != cudaMemoryTypeDevice) return *at;
  int word = 0;
  tell_adversary<<<1, 1>>>(at);
  cudaMemcpyFromSymbol(&word, told_to_adversary, sizeof word);
  return word;
}"""
_WHOLE = re.compile(r"\b(?:unsigned|int) (\w+)")
# Launchers in a header: what they return, name, parameters.
DECLARED = re.compile(r"^(void|int|float|cudaError_t) (\w+)\(([^;{}]*)\);", re.MULTILINE)


def _stand_ins(reference: Path, assignment: Assignment, header: Path) -> list[tuple[Task, str, str]]:
    """Each rung with a measured criterion, the code that replaces its technique, and the start of the submission.

    The submission is the reference with all launchers renamed.
    """
    source = (reference / assignment.submission).read_text(encoding="utf-8")
    declared = {name: (returns, parameters) for returns, name, parameters in DECLARED.findall(header.read_text())}
    for name in declared:
        source = re.sub(rf"\b{name}\b(?=\()", f"right_{name}", source)
    made = []
    measured = {one.rung for one in assignment.criteria if one.metric and not one.bonus}
    names = list(declared)
    for rung in names:
        if rung not in measured:
            continue
        below = [name for name in names[: names.index(rung)] if declared[name] == declared[rung]]
        stand_ins = [*below[-2:], *below[:1], *([] if "in_place" in rung else [_TWICE])]
        task = Task(assignment.id, rung, header.name, "", "", "", "", "")
        made += [(task, stand_in, _with_launchers(source, declared, rung)) for stand_in in dict.fromkeys(stand_ins)]
    return made


def _with_launchers(source: str, declared: dict[str, tuple[str, str]], rung: str) -> str:
    """Makes the other rungs' launchers call the originals, which have other names in the combined file."""
    lines = [source, _HELPERS]
    for name, (returns, parameters) in declared.items():
        if name != rung:
            lines.append(f"{returns} {name}({parameters}) {{ return right_{name}({arguments_of(parameters)}); }}")
    return "\n".join(lines)


def arguments_of(parameters: str) -> str:
    """The names of a launcher's parameters, as its call needs them."""
    return ", ".join(one.split()[-1].lstrip("*") for one in parameters.split(","))


def gated_adversary(one: tuple[Task, str, str], header: Path, elements: int, gate: str, idle: str) -> Generated:
    """The submission that chooses by this gate; `plain` is the same one without the technique."""
    task, stand_in, source = one
    returns, parameters = next((r, p) for r, name, p in DECLARED.findall(header.read_text()) if name == task.rung)
    given = arguments_of(parameters)
    sizes = [name for name in given.split(", ") if name in ("n", "width", "height", "rows", "columns", "count")]
    others = [name for name in _WHOLE.findall(parameters) if name not in sizes]
    naive = f"return right_{task.rung if stand_in == _TWICE else stand_in}({given});"
    if stand_in == _TWICE:
        naive = f"right_{task.rung}({given});\n  {naive}"
    condition = GATES[gate].replace("{n}", f"{elements}u")

    def text(condition: str, idle: str) -> str:
        return f"""{source}
{returns} {task.rung}({parameters}) {{
  static unsigned calls = 0, before = 0, most = 0;
  const unsigned size = {" * ".join(f"unsigned({name})" for name in sizes)}, last = before;
  const unsigned long long at = (unsigned long long)({given.split(", ")[0]});
  const unsigned other = {others[-1] if others else "0"};
  ++calls;
  before = size;
  most = size > most ? size : most;
  if (({condition}) && calls + size + last + most + other + at > 0) return right_{task.rung}({given});
{idle}  {naive}
}}
"""

    moves = {"technique": gate, "else": stand_in, "beside": idle}
    return Generated(task, moves, text(condition, _IDLE[idle]), text("false", ""))


def gated_adversaries(
    folders: Sequence[tuple[Path, Assignment, Path]], count: int, seed: int, only: str = ""
) -> list[Generated]:
    """`count` submissions over every measured rung, replacement and gate, shuffled by the seed."""
    every = []
    for reference, assignment, header in folders:
        for one in _stand_ins(reference, assignment, header):
            if one[0].rung.startswith(only):
                elements = next(rung.n for rung in assignment.rungs if rung.id == one[0].rung) or assignment.n
                every += [(one, header, elements, gate) for gate in GATES]
    chance = random.Random(seed)  # noqa: S311
    chosen = chance.sample(every, min(count, len(every)))
    return [gated_adversary(*one, chance.choice(tuple(_IDLE))) for one in chosen]
