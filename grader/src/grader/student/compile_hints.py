"""What to do about the compiler's errors and warnings that new students of CUDA meet, and whose words do not say it.

Only the standard library is used here: students run it.
"""

import json
import re
from functools import cache
from pathlib import Path

from grader.student.mistyped import did_you_mean

_FIRST_ERROR = re.compile(r"^\S+\.cu\(\d+\): error: (?P<said>.*)\n?(?P<line>.*)", re.MULTILINE)
_WARNING = re.compile(r"^(?P<place>\S+\.cu\(\d+\)): warning #\S+: (?P<said>.*)\n?(?P<line>.*)", re.MULTILINE)
_UNDEFINED = re.compile(r'identifier "(\w+)" is undefined')
_MEMBER = re.compile(r'class "(?:uint3|dim3)" has no member "(\w+)"')
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
# What students write, and so may mistype.
_NAMES = (
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "__syncthreads", "__syncwarp", "__threadfence",
    "__shared__", "__global__", "__device__", "__shfl_sync", "__shfl_down_sync", "__shfl_up_sync", "__shfl_xor_sync",
    "__ballot_sync", "__any_sync", "__all_sync", "__activemask", "__popc", "atomicAdd", "atomicMax", "atomicMin",
    "atomicExch", "atomicCAS", "cudaMalloc", "cudaFree", "cudaMemcpy", "cudaMemcpyAsync", "cudaMemset",
    "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice", "cudaDeviceSynchronize",
    "cudaStreamCreate", "cudaStreamSynchronize", "cudaStreamDestroy", "cudaEventCreate", "cudaEventRecord",
    "cudaEventSynchronize", "cudaEventElapsedTime", "cudaHostAlloc", "cudaMallocHost", "cudaFreeHost",
    "cudaGetLastError", "cudaPeekAtLastError", "cudaSuccess", "cudaError_t",
)  # fmt: skip
_OLD_SHUFFLES = re.compile(r"__shfl(_up|_down|_xor)?|__ballot|__any|__all")
_CATALOGUE = Path(__file__).parents[4] / "harness/vgpu/core/hints.inc"
_ROW = re.compile(r'^HINT\((\w+), ("(?:[^"\\]|\\.)*")', re.MULTILINE)
# What the compiler says, what the line has that it is about, and the hint's name in the catalogue.
_HINTS = (
    (
        'expected a ";"',
        r"^\s*(__global__|__attribute__|__device__|void|cudaError_t|template)\b|^\s*\w+ \w+\(.*\)\s*\{",
        "kMissingBrace",
    ),
    ('expected a ";"', "", "kMissingSemicolon"),
    ("a host function call cannot be configured", "", "kNoKernel"),
    ("a __global__ function call must be configured", "", "kKernelCalled"),
    ("integral or unscoped enum type", r"[^<]<<[^<].*[^>]>>\s*\(", "kLaunchBrackets"),
    ("calling a __host__ function", "", "kHostFunctionInKernel"),
    ('function "std::(min|max|clamp)', "", "kTwoTypes"),
    ('namespace "std" has no member "(min|max|clamp|copy_n)"', "", "kIncludeAlgorithm"),
    ('namespace "std" has no member "swap"', "", "kIncludeUtility"),
    ('namespace "std" has no member "(printf|fprintf)"', "", "kIncludeCstdio"),
    ('namespace "std" has no member "vector"', "", "kIncludeVector"),
    ('namespace "std" has no member "numeric_limits"', "", "kIncludeLimits"),
    ("has a void return type|must have a void return type", "", "kKernelReturns"),
    ('no instance of overloaded function "cudaMalloc', "", "kMallocOfValue"),
    ('no instance of overloaded function "atomic', "", "kAtomicArguments"),
    ('no instance of overloaded function "__shfl', "", "kShuffleArguments"),
    ("too few arguments", r"\bcudaMemcpy\(", "kCopyDirection"),
    ("variable length array", "", "kVariableSharedArray"),
    ("undefined in device code", "", "kHostNameInKernel"),
    ("calling a __device__ function.* from a __host__", "", "kDeviceFunctionOnHost"),
    (r"no operator \"[*+-]\" matches", "uint3|dim3", "kPartsOfIndex"),
    ("must be a modifiable lvalue", r"\bif\s*\([^=]*[^=!<>]=[^=]", "kAssigns"),
)
# The same for warnings.
_WARNINGS = (
    ("expression has no effect", r"\bdim3 \w+ = \(", "kCommaInBrackets"),
    ("expression has no effect", r">> \d+\)|<< \d+\)|/ \d+\)|\* \d+\)", "kShiftDropped"),
    ("expression has no effect", "", "kDropped"),
    ("pointless comparison of unsigned integer", "", "kUnsignedLoop"),
    ("used before its value is set", "", "kUnsetVariable"),
    ("missing return statement", "", "kReturnMissing"),
    ("shift count is too large", "", "kShiftTooLarge"),
    ("treated as a static definition", "", "kStaticSharedArray"),
)


def compile_hint(message: str, source: str = "") -> str:
    """One sentence about the compiler's first error; "" where its own words will do.

    `source`, the file that was compiled, has the names that a mistyped one may stand for.
    """
    error = _FIRST_ERROR.search(message)
    if error is None:
        return ""
    if found := _mistyped(error["said"], source):
        return found
    return _first(_HINTS, error)


def warning_hints(message: str) -> list[str]:
    """A line for each place that the compiler warns of and whose warning has a hint."""
    hints = {found["place"]: _first(_WARNINGS, found) for found in _WARNING.finditer(message)}
    return [f"  hint    {place}: {hint}" for place, hint in hints.items() if hint]


def _first(table: tuple[tuple[str, str, str], ...], found: re.Match[str]) -> str:
    """The first hint whose two patterns are in what is said, and in the line that it is said of."""
    matching = (hint for said, line, hint in table if re.search(said, found["said"]) and re.search(line, found["line"]))
    return next((_texts()[hint] for hint in matching), "")


@cache
def _texts() -> dict[str, str]:
    """The catalogue's texts for CUDA C++, by name."""
    return {name: json.loads(text) for name, text in _ROW.findall(_CATALOGUE.read_text(encoding="utf-8"))}


def _mistyped(said: str, source: str) -> str:
    """What a name that does not exist may stand for; "" where nothing is like it."""
    if member := _MEMBER.match(said):
        return f"its parts are x, y and z; did you mean {member[1].lower()}?" if member[1].lower() in "xyz" else ""
    undefined = _UNDEFINED.match(said)
    if undefined is None:
        return ""
    name = undefined[1]
    if _OLD_SHUFFLES.fullmatch(name):
        return (
            f"{name} is gone since CUDA 9: {name}_sync takes the mask of the lanes first, 0xffffffff for a whole warp"
        )
    known = dict.fromkeys([*_NAMES, *(word for word in _WORD.findall(source) if word != name)])
    near = did_you_mean(name, known)
    return f"there is no {name}; did you mean {near}?" if near else ""
