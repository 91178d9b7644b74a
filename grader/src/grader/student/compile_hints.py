"""What to do about the compiler's errors and warnings that new students of CUDA meet, and whose words do not say it.

Only the standard library is used here: students run it.
"""

import re

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
# What the compiler says, what the line has that it is about, and the hint.
_HINTS = (
    (
        r'expected a ";"',
        r"^\s*(__global__|__attribute__|__device__|void|cudaError_t|template)\b|^\s*\w+ \w+\(.*\)\s*\{",
        "a function begins here while another is still open: a } is missing above",
    ),
    (r'expected a ";"', "", "a ; is missing before this place, perhaps at the end of the line above"),
    (
        "a host function call cannot be configured",
        "",
        "only a kernel is launched by <<<…>>>: does its definition begin with __global__ void?",
    ),
    (
        "a __global__ function call must be configured",
        "",
        "a kernel is launched, not called: kernel<<<blocks, threads>>>(arguments)",
    ),
    (
        "integral or unscoped enum type",
        r"[^<]<<[^<].*[^>]>>\s*\(",
        "a launch has three brackets on each side: kernel<<<blocks, threads>>>(arguments)",
    ),
    (
        "calling a __host__ function",
        "",
        "a kernel calls functions of the device alone: write __device__ before the definition of that one",
    ),
    (
        r'function "std::(min|max|clamp)',
        "",
        "the arguments have to be of one type, and an int and an unsigned are of two: convert one of them",
    ),
    (r'namespace "std" has no member "(min|max|clamp|copy_n)"', "", "#include <algorithm> is missing"),
    (r'namespace "std" has no member "swap"', "", "#include <utility> is missing"),
    (r'namespace "std" has no member "(printf|fprintf)"', "", "#include <cstdio> is missing"),
    (r'namespace "std" has no member "vector"', "", "#include <vector> is missing"),
    (r'namespace "std" has no member "numeric_limits"', "", "#include <limits> is missing"),
    (
        "has a void return type|must have a void return type",
        "",
        "a kernel returns nothing: declare it void, and write its result to memory through a pointer",
    ),
    (
        'no instance of overloaded function "cudaMalloc',
        "",
        "cudaMalloc writes the address to your pointer, so it wants the pointer's own address: cudaMalloc(&d_a, bytes)",
    ),
    (
        'no instance of overloaded function "atomic',
        "",
        "an atomic wants the address of what it changes, and a value of the same type: atomicAdd(&sum, value)",
    ),
    (
        'no instance of overloaded function "__shfl',
        "",
        "the first argument is the mask of the lanes that take part: 0xffffffff for a whole warp",
    ),
    ("too few arguments", r"\bcudaMemcpy\(", "the fourth argument says which way: cudaMemcpyHostToDevice, for example"),
    (
        "variable length array",
        "",
        "a __shared__ array's size is a constant; extern __shared__ int s[]; takes it from the launch's third argument",
    ),
    (
        "undefined in device code",
        "",
        "a kernel sees none of the host's variables or functions: pass it as an argument, or make it constexpr",
    ),
    (r"calling a __device__ function.* from a __host__", "", "only kernels call __device__ functions: launch a kernel"),
    (
        r"no operator \"[*+-]\" matches",
        r"uint3|dim3",
        "each of them has three parts: blockIdx.x * blockDim.x + threadIdx.x",
    ),
    ("must be a modifiable lvalue", r"\bif\s*\([^=]*[^=!<>]=[^=]", "= assigns; == compares"),
)
# The same for warnings.
_WARNINGS = (
    ("expression has no effect", r"\bdim3 \w+ = \(", "(16, 16) is the number 16 alone; write dim3 b(16, 16)"),
    (
        "expression has no effect",
        r">> \d+\)|<< \d+\)|/ \d+\)|\* \d+\)",
        "it is computed and dropped: assign it, as s >>= 1 does",
    ),
    ("expression has no effect", "", "it is computed and dropped"),
    (
        "pointless comparison of unsigned integer",
        "",
        "an unsigned is never below zero: the loop never ends, or the guard never holds; use int",
    ),
    ("used before its value is set", "", "it starts with garbage, not with 0"),
    ("missing return statement", "", "without return cudaGetLastError(); the function returns garbage"),
    ("shift count is too large", "", "an int has 32 bits: shift a 1ull instead"),
    (
        "treated as a static definition",
        "",
        "with a size it is an array of that size; without one, [], its size comes from the launch",
    ),
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
    return next(matching, "")


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
