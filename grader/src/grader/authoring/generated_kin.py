"""Right submissions for every C++ assignment with kernels: the reference, launched and called in other ways.

A student's host code differs from the reference's. Here each kernel is launched in a stream of its own or with a bound
on its threads, and a launcher works in another thread, asks about the device first, or waits at its end. None of this
may cost a point.
"""

import random
import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from grader.authoring.generated import Generated, Task
from grader.authoring.generated_gates import DECLARED, arguments_of
from grader.model.assignment import Assignment

LAUNCHES = ("as they are", "in streams", "with a bound")
CALLS = {
    "as it is": "  {call};",
    "in a thread": "  std::thread([&] {{ {call}; }}).join();",
    "then waits": "  {call};\n  cudaDeviceSynchronize();",
    "asks first": "  cudaDeviceProp device;\n  size_t left, all;\n  cudaGetDeviceProperties(&device, 0);\n"
    "  cudaMemGetInfo(&left, &all);\n  {call};",
}
# Ordered with the default stream; waited for, so that the next launch finds the results.
_STREAM = """#include <thread>
#include <cuda_runtime.h>
struct StreamOfKin {
  cudaStream_t stream;
  StreamOfKin() { cudaStreamCreate(&stream); }
  ~StreamOfKin() {
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
  }
  operator cudaStream_t() const { return stream; }
};
"""


def _in_stream(configuration: re.Match[str]) -> str:
    flat = re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", configuration[1]))
    missing = 2 - flat.count(",")
    return configuration[0] if missing < 0 else f"<<<{configuration[1]}{', 0' * missing}, StreamOfKin()>>>"


def kin(reference: str, task: Task, declared: Sequence[tuple[str, str, str]], launch: str, call: str) -> Generated:
    """The reference with its launches and this task's launcher changed so."""
    source = reference
    if launch == "in streams":
        source = re.sub(r"<<<(.*?)>>>", _in_stream, source, flags=re.DOTALL)
    if launch == "with a bound":
        source = source.replace("__global__ void", "__global__ __launch_bounds__(1024) void")
    returns, parameters = next((returns, parameters) for returns, name, parameters in declared if name == task.rung)
    source = re.sub(rf"\b{task.rung}\b(?=\()", f"right_{task.rung}", source)
    is_void = returns == "void"
    body = CALLS[call].format(call=f"{'' if is_void else 'result = '}right_{task.rung}({arguments_of(parameters)})")
    begin, end = ("", "") if is_void else (f"  {returns} result;\n", "\n  return result;")
    text = f"{_STREAM}{source}\n{returns} {task.rung}({parameters}) {{\n{begin}{body}{end}\n}}\n"
    return Generated(task, {"launches": launch, "call": call}, text)


def kin_of(folders: Sequence[tuple[Path, Assignment, Path]], count: int, seed: int, only: str = "") -> list[Generated]:
    """`count` of them over every rung and way, shuffled by the seed. A clock (10) would time the streams too."""
    every = []
    for folder, assignment, header in folders:
        if assignment.id[:2] in ("10", "13"):  # 13 limits how many lines may change
            continue
        source = (folder / assignment.submission).read_text(encoding="utf-8")
        declared = [one for one in DECLARED.findall(header.read_text()) if one[0] in ("void", "cudaError_t")]
        measured = {one.rung for one in assignment.criteria if one.metric and not one.bonus}
        for _, name, _ in declared:
            if name in measured and name.startswith(only):
                task = Task(assignment.id, name, header.name, "", "", "", "", "")
                every += [(source, task, declared, *way) for way in product(LAUNCHES, CALLS)]
    return [kin(*one) for one in random.Random(seed).sample(every, min(count, len(every)))]  # noqa: S311
