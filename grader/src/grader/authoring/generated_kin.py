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
    "as it is": "{call};",
    "in a thread": "std::thread([&] {{ {call}; }}).join();",
    "then waits": "{call};\n  cudaDeviceSynchronize();",
    "asks first": "size_t left, all;\n  cudaMemGetInfo(&left, &all);\n  {call};",
}
# A stream ordered with the default stream. It is waited for, so the next launch finds the results.
_STREAM = """#include <thread>
#include <cuda_runtime.h>
struct StreamOfKin {
  cudaStream_t stream;
  StreamOfKin() { cudaStreamCreate(&stream); }
  ~StreamOfKin() { cudaStreamSynchronize(stream), cudaStreamDestroy(stream); }
  operator cudaStream_t() const { return stream; }
};
"""


def _in_stream(configuration: re.Match[str]) -> str:
    flat = re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", configuration[1]))
    missing = 2 - flat.count(",")
    return configuration[0] if missing < 0 else f"<<<{configuration[1]}{', 0' * missing}, StreamOfKin()>>>"


def kin(source: str, task: Task, returns: str, parameters: str, launch: str, call: str) -> Generated:
    """The reference `source` with its launches changed as `launch` says, and this task's launcher as `call` says."""
    if launch == "in streams":
        source = re.sub(r"<<<(.*?)>>>", _in_stream, source, flags=re.DOTALL)
    if launch == "with a bound":
        source = source.replace("__global__ void", "__global__ __launch_bounds__(1024) void")
    source = re.sub(rf"\b{task.rung}\b(?=\()", f"right_{task.rung}", source)
    result, begin, end = ("", "", "") if returns == "void" else ("result = ", f"{returns} result;", "return result;")
    body = CALLS[call].format(call=f"{result}right_{task.rung}({arguments_of(parameters)})")
    text = f"{_STREAM}{source}\n{returns} {task.rung}({parameters}) {{\n  {begin}\n  {body}\n  {end}\n}}\n"
    return Generated(task, {"launches": launch, "call": call}, text)


def kin_of(folders: Sequence[tuple[Path, Assignment, Path]], count: int, seed: int, only: str = "") -> list[Generated]:
    """`count` submissions over every measured rung, kind of launch and kind of call, shuffled by the seed."""
    every = []
    for folder, assignment, header in folders:
        if assignment.id[:2] in ("10", "13"):  # 10 would time the streams; 13 limits changed lines
            continue
        source = (folder / assignment.submission).read_text(encoding="utf-8")
        measured = {one.rung for one in assignment.criteria if one.metric and not one.bonus}
        for returns, name, parameters in DECLARED.findall(header.read_text()):
            if name in measured and name.startswith(only) and returns in ("void", "cudaError_t"):
                task = Task(assignment.id, name, header.name, "", "", "", "", "")
                every += [(source, task, returns, parameters, *way) for way in product(LAUNCHES, CALLS)]
    return [kin(*one) for one in random.Random(seed).sample(every, min(count, len(every)))]  # noqa: S311
