"""Hints for compiler errors and warnings that CUDA beginners meet and that don't explain themselves.

Only the standard library is used here: students run it.
"""

import json
import re
from functools import cache
from pathlib import Path

from grader.student.mistyped import did_you_mean

_FIRST_ERROR = re.compile(r"^(?:\S+\.cu\(\d+\)|At end of source): error: (?P<said>.*)\n?(?P<line>.*)", re.MULTILINE)
_WARNING = re.compile(r"^(?P<place>\S+\.cu\(\d+\)): warning #\S+: (?P<said>.*)\n?(?P<line>.*)", re.MULTILINE)
_UNDEFINED = re.compile(r'identifier "(\w+)" is undefined')
_MEMBER = re.compile(r'class "(?:uint3|dim3)" has no member "(\w+)"')
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_CALLED_ON_HOST = re.compile(r'calling a __host__ function\("(?:.*?::)?(\w+)[^"]*"\) from a __(?:global|device)__')
_TYPE = re.compile(r"\s*\w[\w\s:<>,*&]*[\s*&]")  # text on a line before the name of a function being defined
_BODY = re.compile(r"[^;{]*\)[\s\w]*\{")
_PARAMETERS = 2000  # characters of a parameter list to scan
_STANDARD_NAME = re.compile(r'(?:identifier|namespace "std" has no member) "(\w+)"')
# The headers for names that students often use without including them.
_HEADERS = {
    name: header
    for header, names in (
        ("algorithm", "min max clamp copy_n fill sort"), ("cassert", "assert"), ("cfloat", "FLT_MAX FLT_MIN DBL_MAX"),
        ("climits", "INT_MAX INT_MIN UINT_MAX"), ("cmath", "M_PI"), ("cstdint", "uint32_t int64_t uint64_t uintptr_t"),
        ("cstdio", "printf fprintf snprintf"), ("cstdlib", "exit"), ("limits", "numeric_limits"),
        ("numeric", "accumulate iota"), ("utility", "swap pair move"), ("vector", "vector"),
    )
    for name in names.split()
}  # fmt: skip
# Names that students use, and so may mistype.
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
# A pattern for the compiler's message, one for the source line, and the hint's name in the catalogue.
_HINTS = (
    (
        'expected a ";"',
        r"^\s*(__global__|__attribute__|__device__|void|cudaError_t|template)\b|^\s*\w+ \w+\(.*\)\s*\{",
        "kMissingBrace",
    ),
    ('expected a ";"|already been declared', r"\bfor\s*\([^;]*,[^;]*\)", "kForSemicolons"),
    ('expected a ";"', "", "kMissingSemicolon"),
    (r'expected a "\}"', "", "kUnclosedBrace"),
    (r'expected a "\("', "<<<", "kLaunchArguments"),
    ("a host function call cannot be configured", "", "kNoKernel"),
    ("a __global__ function call must be configured", "", "kKernelCalled"),
    ("integral or unscoped enum type", r"[^<]<<[^<].*[^>]>>\s*\(", "kLaunchBrackets"),
    ("integral or (unscoped )?enum type", "", "kIntegersOnly"),
    (r'calling a __host__ function\("cuda', "", "kHostCallInKernel"),
    ("calling a __host__ function", "", "kHostFunctionInKernel"),
    (r'calling a constexpr __host__ function\("m(in|ax)"', r"std::m(in|ax)\b", "kStdMinInKernel"),
    ("calling a constexpr __host__ function", "", "kHostMathInKernel"),
    (r'must have class type but it has type "[^"]*\*"', "", "kDotOnPointer"),
    ('function "(std::)?(min|max|clamp)"', "", "kTwoTypes"),
    ("return value type does not match", "return", "kNoValueReturned"),
    ("has a void return type|must have a void return type", "", "kKernelReturns"),
    ('no instance of overloaded function "cudaMalloc', "", "kMallocOfValue"),
    ('no instance of overloaded function "atomic', "", "kAtomicArguments"),
    ('no instance of overloaded function "__shfl', "", "kShuffleArguments"),
    ("too few arguments", r"\bcudaMemcpy\(", "kCopyDirection"),
    ("variable length array", "", "kVariableSharedArray"),
    ("undefined in device code", "", "kHostNameInKernel"),
    ("calling a __device__ function.* from a __host__", "", "kDeviceFunctionOnHost"),
    (r"no operator \"[*+-]\" matches", "uint3|dim3", "kPartsOfIndex"),
    ('conversion function from "(const )?(uint3|dim3)"', "", "kPartsOfIndex"),
    ("no operator", r"\[ (const )?(uint3|dim3) \]", "kPartsOfIndex"),
    ("must be a modifiable lvalue", r"\bif\s*\([^=]*[^=!<>]=[^=]", "kAssigns"),
    ("must be a modifiable lvalue", "=", "kConstTarget"),
    ('pointer-to-object type but it has|operand of "\\*" must be a pointer', "", "kValueAsPointer"),
    (r'value of type "void"', "<<<", "kLaunchReturnsNothing"),
    (r'value of type "void \*" cannot', "", "kVoidPointer"),
    (r'value of type "const (.*) \*" cannot .* entity of type "\1 \*"', "", "kConstDropped"),
    (r'value of type "[^"]*\*" cannot .* entity of type "(unsigned )?(int|float|double)"', "", "kPointerAsValue"),
    ("initializer not allowed for __shared__", "", "kSharedInitializer"),
    ('"__shared__" variable declaration is not allowed inside a host', "", "kSharedOnHost"),
    ("declaration is incompatible", r"extern\s+(__shared__|__attribute__\(\(shared)", "kOneDynamicArray"),
    ("kernel launch from __device__ or __global__", "", "kLaunchInKernel"),
    ("constructor exists to convert", r"\b(int|uint|float|double)[24] ", "kVectorCast"),
    ("cannot cast away const", "", "kCastKeepsConst"),
    (r'argument of type "([^"]+?) ?\*".* parameter of type "\1"', "&", "kAddressTooMuch"),
    (r'argument of type "([^"]+)".* parameter of type "\1 ?\*"', "", "kAddressMissing"),
)
# The same for warnings.
_WARNINGS = (
    ("expression has no effect", r"\bdim3 \w+ = \(|<<<\s*\([^)]*,", "kCommaInBrackets"),
    ("expression has no effect", r"\b__sync\w+;", "kCalledWithoutBrackets"),
    ("expression has no effect", r">> \d+\)|<< \d+\)|/ \d+\)|\* \d+\)", "kShiftDropped"),
    ("expression has no effect", "", "kDropped"),
    ("pointless comparison of unsigned integer", "", "kUnsignedLoop"),
    ("used before its value is set", "", "kUnsetVariable"),
    ("missing return statement", "", "kReturnMissing"),
    ("shift count is too large", "", "kShiftTooLarge"),
    ("treated as a static definition", "", "kStaticSharedArray"),
)


def compile_hint(message: str, source: str = "") -> str:
    """One sentence about the compiler's first error; "" if its own message is clear.

    `source`, the compiled file, provides names that a mistyped one may mean.
    """
    error = _FIRST_ERROR.search(message)  # parses nvcc's output
    if error is None:
        return ""
    called = _CALLED_ON_HOST.search(error["said"])
    if called and not called[1].startswith("cuda") and not _definition(called[1], source):
        return _texts()["kHostLibraryInKernel"]
    if found := _missing_header(error["said"], source) or _mistyped(error["said"], source):
        return found
    return _first(_HINTS, error)


def warning_hints(message: str) -> list[str]:
    """A line for each location with a warning that has a hint."""
    hints = {found["place"]: _first(_WARNINGS, found) for found in _WARNING.finditer(message)}  # parses nvcc's output
    return [f"  hint    {place}: {hint}" for place, hint in hints.items() if hint]


def _first(table: tuple[tuple[str, str, str], ...], found: re.Match[str]) -> str:
    """The first hint whose two patterns match the message and the source line."""
    matching = (
        hint for words, line, hint in table if re.search(words, found["said"]) and re.search(line, found["line"])
    )
    return next((_texts()[hint] for hint in matching), "")


@cache
def _texts() -> dict[str, str]:
    """The catalogue's texts for CUDA C++, by name."""
    return {name: json.loads(text) for name, text in _ROW.findall(_CATALOGUE.read_text(encoding="utf-8"))}


def _definition(name: str, source: str) -> bool:
    """Whether the source defines a function of that name; takes time in proportion to the source's length."""
    for found in re.finditer(rf"^([^\n(]*)\b{re.escape(name)}\s*\(", source, re.MULTILINE):
        if _TYPE.fullmatch(found[1]) and _BODY.match(source, found.end(), found.end() + _PARAMETERS):
            return True
    return False


def _missing_header(said: str, source: str) -> str:
    """What to include or write for a name of the standard library; "" for other names."""
    name = _STANDARD_NAME.match(said)  # parses nvcc's output
    header = _HEADERS.get(name[1]) if name else None
    if name is None or header is None:
        return ""
    return f"it is std::{name[1]}" if f"<{header}>" in source else f"#include <{header}> is missing"


def _mistyped(said: str, source: str) -> str:
    """The likely meaning of an unknown name; "" if no known name is similar."""
    if member := _MEMBER.match(said):  # parses nvcc's output
        return f"its parts are x, y and z; did you mean {member[1].lower()}?" if member[1].lower() in "xyz" else ""
    undefined = _UNDEFINED.match(said)  # parses nvcc's output
    if undefined is None:
        return ""
    name = undefined[1]
    if _definition(name, source):
        return f"{name} is defined further down: move it above this function, or declare it there"
    if _OLD_SHUFFLES.fullmatch(name):
        return (
            f"{name} is gone since CUDA 9: {name}_sync takes the mask of the lanes first, 0xffffffff for a whole warp"
        )
    known = dict.fromkeys([*_NAMES, *(word for word in _WORD.findall(source) if word != name)])
    near = did_you_mean(name, known)
    return f"there is no {name}; did you mean {near}?" if near else ""
