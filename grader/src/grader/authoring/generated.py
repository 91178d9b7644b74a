"""Randomly generated submissions: hostile ones built from evasion moves, right ones from a grammar.

An adversary solves its rung naively and then applies moves that hide it: it copies the input first, uses other
instructions to read and write, uses the rung's technique only if a size or the number of the call looks like a
measurement, splits the work, or adds idle work. No move is worth a point, so it deserves what its naive kernel earns
without them; anything beyond that is a hole in the grading. A friend solves its rung as intended, with some block and
grid shape, kind of memory, and stream or graph: it deserves all points.

A task here is a map: element `out` of the result comes from element `source(out)` of the input.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

_LAUNCHERS = {
    "03_circular_shift": (
        "void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift)",
        "void shift2_any(const int* d_in, int* d_out, unsigned n, int shift)",
        "void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift)",
        "void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift)",
        "void shift5_in_place(int* d_data, unsigned n, int shift)",
    ),
    "06_transpose": tuple(
        f"void {name}(const float* d_in, float* d_out, unsigned width, unsigned height)"
        for name in (
            "transpose1_naive",
            "transpose2_tiled",
            "transpose3_padded",
            "transpose4_rows",
            "transpose5_wide",
        )
    ),
    "08_coalescing": (
        *(
            f"void {name}(const float* d_in, float* d_out, unsigned n)"
            for name in (
                "coalesce2_aligned",
                "coalesce3_misaligned",
                "coalesce4_strided",
                "coalesce5_permuted",
                "coalesce6_structures",
                "coalesce7_arrays",
                "coalesce8_staged",
            )
        ),
        "int coalesce1_predict(const WarpRequest* request)",
        "int coalesce9_in_2006(const WarpRequest* request)",
    ),
}


@dataclass(frozen=True)
class Task:
    """A rung as a map. `begin` sets `Task t` from the launcher's parameters; `source` is C++ of `t` and `out`."""

    assignment: str
    rung: str
    header: str
    type: str
    begin: str
    source: str
    value: str  # C++ of the result, given the input element `v`
    evidence: str  # what is true of `t` at the size that assignment.toml names


_SHIFT = (
    "if (n == 0) return;\n  const long long s = shift % (long long)n;\n"
    "  const Task t{n, 1, unsigned(s < 0 ? s + n : s)};"
)
_SHIFTED = "out < t.n - t.b ? out + t.b : out - (t.n - t.b)"
_MATRIX = "if (width == 0 || height == 0) return;\n  const Task t{width * height, width, height};"
TASKS = (
    Task("03_circular_shift", "shift1_gather", "shift.h", "int", _SHIFT, _SHIFTED, "v", "t.n == 4194304"),
    Task("03_circular_shift", "shift2_any", "shift.h", "int", _SHIFT, _SHIFTED, "v", "t.n == 4194304"),
    Task("06_transpose", "transpose2_tiled", "transpose.h", "float", _MATRIX, "out % t.b * t.a + out / t.b", "v",
         "t.a == 1024 && t.b == 1024"),
    Task("06_transpose", "transpose3_padded", "transpose.h", "float", _MATRIX, "out % t.b * t.a + out / t.b", "v",
         "t.a == 1024 && t.b == 1024"),
    Task("08_coalescing", "coalesce2_aligned", "coalescing.h", "float",
         "if (n == 0) return;\n  const Task t{n, 1, 0};", "out", "v + 1.0f", "t.n == 3145728"),
)  # fmt: skip


def _source(task: Task, says: str, device: str, launcher: str) -> str:
    """A whole submission: code before the launcher, the launcher's body, empty bodies for all other launchers."""
    others = []
    for signature in _LAUNCHERS[task.assignment]:
        body = " return kNotBegun; " if signature.startswith("int ") else ""
        own = f"{signature} {{\n  {task.begin}\n{launcher}}}"
        others.append(own if f" {task.rung}(" in signature else f"{signature} {{{body}}}")
    return (
        f"// {says}\n#include <cuda_runtime.h>\n#include \"{task.header}\"\n\n"
        f"namespace {{\n\nusing T = {task.type};\nstruct Task {{\n  unsigned n, a, b;\n}};\n"
        f"__device__ unsigned source_of(Task t, unsigned out) {{ return {task.source}; }}\n"
        f"__device__ T value_of(T v) {{ return {task.value}; }}\n{device}\n}}  // namespace\n\n"
        + "\n".join(others) + "\n"
    )  # fmt: skip


# The rung's technique, for calls that pass an adversary's gate: it reads and writes whole cache lines.
_GOOD_LINES = """__global__ void good(const T* in, T* out, Task t) {
  const unsigned o = blockIdx.x * blockDim.x + threadIdx.x;
  if (o < t.n) out[o] = value_of(in[source_of(t, o)]);
}
void technique(const T* in, T* out, Task t) { good<<<(t.n + 255) / 256, 256>>>(in, out, t); }
"""
_GOOD_TILES = """__global__ void good(const T* in, T* out, Task t) {
  __shared__ T tile[32][33];
  for (unsigned y = threadIdx.y; y < 32; y += blockDim.y) {
    const unsigned c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + y;
    if (c < t.a && r < t.b) tile[y][threadIdx.x] = in[r * t.a + c];
  }
  __syncthreads();
  for (unsigned y = threadIdx.y; y < 32; y += blockDim.y) {
    const unsigned c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + y;
    if (c < t.b && r < t.a) out[r * t.b + c] = tile[threadIdx.x][y];
  }
}
void technique(const T* in, T* out, Task t) {
  good<<<dim3((t.a + 31) / 32, (t.b + 31) / 32), dim3(32, 8)>>>(in, out, t);
}
"""

# ---- Moves ----

_LOADS = {
    "plain": "return p[i];",
    "volatile": "return *(const volatile T*)(p + i);",
    "nc": "return __ldg(p + i);",
    "ldu": 'T v; asm volatile("ldu.global.b32 %0, [%1];" : "={r}"(v) : "l"(p + i)); return v;',
    "generic": 'T v; asm volatile("ld.b32 %0, [%1];" : "={r}"(v) : "l"(p + i)); return v;',
    "const": 'T v; asm volatile("{{ .reg .u64 c; cvta.to.const.u64 c, %1; ld.const.b32 %0, [c]; }}" '
    ': "={r}"(v) : "l"(p + i)); return v;',
    "atomic": "return atomicAdd((T*)(p + i), T(0));",
    "prefetch": 'asm volatile("prefetch.global.L1 [%0];" :: "l"(p + i)); return p[i];',
    "local": "volatile T kept = p[i]; return kept;",
    "staged": "__shared__ T kept[1024]; kept[threadIdx.x] = p[i]; return kept[threadIdx.x];",
    "async": "extern __shared__ T later[]; "
    'asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.wait_all;" '
    ':: "r"((unsigned)__cvta_generic_to_shared(later + threadIdx.x)), "l"(p + i) : "memory"); '
    "return later[threadIdx.x];",
}
_STORES = {
    "plain": "p[i] = v;",
    "volatile": "*(volatile T*)(p + i) = v;",
    "exchange": "atomicExch(p + i, v);",
    "generic": 'asm volatile("st.b32 [%0], %1;" :: "l"(p + i), "{r}"(v) : "memory");',
    "swap": "T seen = p[i]; p[i] = v; if (seen == v) p[i] = seen;",
}
_ORDERS = {
    "columns": "const unsigned rows = (t.n + 31) / 32; const unsigned o = k % 32 * rows + k / 32;\n"
    "    if (k / 32 >= rows || o >= t.n) continue;",
    "hops": "if (k >= t.n) continue;\n"
    "    const unsigned o = t.n % 3 && t.n % 23 && t.n % 587 ? unsigned(k * 40503ull % t.n) : k;",
    "backward": "if (k >= t.n) continue;\n    const unsigned o = k % 2 ? t.n - 1 - k / 2 : k / 2;",
}
_GATES = {
    "never": "false",
    "evidence": "{evidence}",
    "first call": "calls == 1",
    "odd calls": "calls % 2 == 1",
    "second call": "calls == 2",
    "round sizes": "t.n % 4096 == 0",
    "powers of two": "(t.n & (t.n - 1)) == 0",
    "warm": "calls > 3",
}
_COPY = "T* copy;\n  cudaMalloc(&copy, t.n * sizeof(T));\n  "
_FIRST = {
    "none": ("", "in"),
    "copy": (_COPY + "cudaMemcpy(copy, in, t.n * sizeof(T), cudaMemcpyDeviceToDevice);", "copy"),
    "symbol": (
        "if (t.n <= kRoom) cudaMemcpyToSymbol(kept_in_module, in, t.n * sizeof(T), 0, cudaMemcpyDeviceToDevice);\n"
        "  void* kept;\n  cudaGetSymbolAddress(&kept, kept_in_module);",
        "(t.n <= kRoom ? (const T*)kept : in)",
    ),
    "rows": (
        _COPY + "const size_t row = sizeof(T) * t.a;\n"
        "  cudaMemcpy2D(copy, row, in, row, row, t.n / t.a, cudaMemcpyDeviceToDevice);",
        "copy",
    ),
}
_LAST = {"copy": "cudaFree(copy);", "rows": "cudaFree(copy);"}
_IDLE = {
    "none": "",
    "blocks": "idle<<<4096, 256>>>();",
    "launches": "for (int k = 0; k < 20; ++k) idle<<<1, 32>>>();",
    "reads": "reads<<<64, 256>>>(in, t.n);",
}
_SPLITS = (1, 2, 7)
MOVES: dict[str, Sequence[str]] = {
    "order": tuple(_ORDERS),
    "load": tuple(_LOADS),
    "store": tuple(_STORES),
    "gate": tuple(_GATES),
    "first": tuple(_FIRST),
    "idle": tuple(_IDLE),
    "split": tuple(str(parts) for parts in _SPLITS),
    "cache": ("no", "no", "no", "by address"),
}
NAIVE = {move: kinds[0] for move, kinds in MOVES.items()}


@dataclass(frozen=True)
class Generated:
    """A submission, its task, and the choices it was made from; `plain`: the same without tricks."""

    task: Task
    moves: dict[str, str]
    text: str
    plain: str = ""

    @property
    def name(self) -> str:
        """Its name and choices: "shift1_gather: load const, gate evidence"."""
        said = [f"{move} {kind}" for move, kind in self.moves.items() if kind != NAIVE.get(move)]
        return f"{self.task.rung}: {', '.join(said) or 'no moves'}"


def adversary(task: Task, moves: dict[str, str]) -> Generated:
    """The naive kernel of a task with these moves."""
    register = "f" if task.type == "float" else "r"
    first, source = _FIRST[moves["first"]]
    parts = int(moves["split"])
    order = _ORDERS[moves["order"]]
    load = _LOADS[moves["load"]].replace("{r}", register).replace("{{", "{").replace("}}", "}")
    store = _STORES[moves["store"]].replace("{r}", register)
    device = f"""__device__ T load(const T* p, unsigned i) {{ {load} }}
__device__ void store(T* p, unsigned i, T v) {{ {store} }}
__device__ void one(const T* in, T* out, Task t, unsigned o) {{ store(out, o, value_of(load(in, source_of(t, o)))); }}
__global__ void naive(const T* in, T* out, Task t, unsigned begin, unsigned end) {{
  const unsigned step = gridDim.x * blockDim.x;
  for (unsigned k = begin + blockIdx.x * blockDim.x + threadIdx.x; k < end; k += step) {{
    {order}
    one(in, out, t, o);
  }}
}}
__global__ void idle() {{}}
__global__ void reads(const T* in, unsigned n) {{
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {{
    if (in[i] == T(-123456789)) __trap();
  }}
}}
constexpr unsigned kRoom = 1 << 22;
{"__device__ T kept_in_module[kRoom];" if moves["first"] == "symbol" else ""}
{_GOOD_TILES if task.assignment.startswith("06") else _GOOD_LINES}int calls = 0;
const void* last_in = nullptr;
unsigned last_n = 0;
"""
    gate = _GATES[moves["gate"]].replace("{evidence}", task.evidence)
    cache = "  if (last_in == d_in && last_n == t.n) return;\n" if moves["cache"] == "by address" else ""
    launcher = f"""  const T* in = d_in;
  ++calls;
{cache}  last_in = d_in;
  last_n = t.n;
  if ({gate}) {{
    technique(in, d_out, t);
    return;
  }}
  {first}
  {_IDLE[moves["idle"]]}
  const unsigned most = (t.n + 31) / 32 * 32, part = ((most + {parts - 1}) / {parts} + 31) / 32 * 32;
  for (unsigned begin = 0; begin < most; begin += part) {{
    naive<<<(part + 255) / 256, 256, 4096>>>({source}, d_out, t, begin, begin + part < most ? begin + part : most);
  }}
  {_LAST.get(moves["first"], "")}
"""
    naive = NAIVE | {"order": moves["order"]}
    plain = adversary(task, naive).text if moves != naive else ""
    return Generated(task, moves, _source(task, f"{task.rung}, {moves}", device, launcher), plain)


def adversaries(count: int, seed: int, tasks: Sequence[Task] = TASKS) -> list[Generated]:
    """`count` adversaries, each with a few moves, taking the tasks in turn."""
    chance = random.Random(seed)  # noqa: S311
    made = []
    for index in range(count):
        chosen = set(chance.sample(sorted(MOVES), chance.randint(1, 4)))
        moves = {move: chance.choice(kinds) if move in chosen else NAIVE[move] for move, kinds in MOVES.items()}
        made.append(adversary(tasks[index % len(tasks)], moves))
    return made


# ---- Friends ----

FRIENDS: dict[str, Sequence[str]] = {
    "block": ("32", "64", "128", "256", "512", "1024"),
    "grid": ("one block for each part", "fixed", "two dimensions"),
    # Not global memory: each warp would read a sector more, and sector budgets leave no room for that
    # (docs/concepts/fairness.md).
    "memory": ("parameters", "constant"),
    "stream": ("default", "created", "graph", "event"),
    "load": ("plain", "nc", "volatile"),
    "parts": ("1", "2"),
}


def friend(task: Task, choice: dict[str, str]) -> Generated:
    """A right design of a task."""
    block = int(choice["block"])
    tiles = task.assignment.startswith("06")
    job = {"parameters": "given", "constant": "job_in_constant"}[choice["memory"]]
    threads = f"dim3(32, {max(1, min(block // 32, 32))})" if tiles else str(block)
    count = "((t.a + 31) / 32) * ((t.b + 31) / 32)" if tiles else f"(t.n + {block - 1}) / {block}"
    blocks = {"one block for each part": "count", "fixed": "count < 512 ? count : 512",
              "two dimensions": "dim3(count < 64 ? count : 64, (count + 63) / 64)"}[choice["grid"]]  # fmt: skip
    load = {"plain": "in[i]", "nc": "__ldg(in + i)", "volatile": "*(const volatile T*)(in + i)"}[choice["load"]]
    lines = f"""    const unsigned o = b * {block} + threadIdx.x;
    if (o < t.n) out[o] = value_of(load(in, source_of(t, o)));
"""
    tiled = """    const unsigned wide = (t.a + 31) / 32, x = b % wide, y = b / wide;
    for (unsigned r = threadIdx.y; r < 32; r += blockDim.y) {
      if (x * 32 + threadIdx.x < t.a && y * 32 + r < t.b) {
        tile[r][threadIdx.x] = load(in, (y * 32 + r) * t.a + x * 32 + threadIdx.x);
      }
    }
    __syncthreads();
    for (unsigned r = threadIdx.y; r < 32; r += blockDim.y) {
      if (y * 32 + threadIdx.x < t.b && x * 32 + r < t.a) {
        out[(x * 32 + r) * t.b + y * 32 + threadIdx.x] = tile[threadIdx.x][r];
      }
    }
    __syncthreads();
"""
    device = f"""__constant__ Task job_in_constant;
__device__ T load(const T* in, unsigned i) {{ return {load}; }}
__global__ void part_of(const T* in, T* out, Task given, unsigned begin, unsigned end) {{
  const Task t = {job};
  {"__shared__ T tile[32][33];" if tiles else ""}
  const unsigned first = begin + blockIdx.y * gridDim.x + blockIdx.x, step = gridDim.x * gridDim.y;
  for (unsigned b = first; b < end; b += step) {{
{tiled if tiles else lines}  }}
}}
"""
    launch = f"""  const unsigned all = {count}, part = (all + {int(choice["parts"]) - 1}) / {choice["parts"]};
  for (unsigned begin = 0; begin < all; begin += part) {{
    const unsigned end = begin + part < all ? begin + part : all, count = end - begin;
    part_of<<<{blocks}, {threads}, 0, stream>>>(d_in, d_out, t, begin, end);
  }}
"""
    job_before = "" if choice["memory"] == "parameters" else "cudaMemcpyToSymbol(job_in_constant, &t, sizeof t);"
    before, after = {
        "default": ("cudaStream_t stream = nullptr;", ""),
        "created": ("cudaStream_t stream;\n  cudaStreamCreate(&stream);",
                    "cudaStreamSynchronize(stream);\n  cudaStreamDestroy(stream);"),
        "event": ("cudaStream_t stream;\n  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);\n"
                  "  cudaEvent_t done;\n  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);",
                  "cudaEventRecord(done, stream);\n  cudaEventSynchronize(done);\n  cudaEventDestroy(done);\n"
                  "  cudaStreamDestroy(stream);"),
        "graph": ("cudaStream_t stream;\n  cudaStreamCreate(&stream);\n"
                  "  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);",
                  "cudaGraph_t graph;\n  cudaStreamEndCapture(stream, &graph);\n  cudaGraphExec_t ready;\n"
                  "  cudaGraphInstantiate(&ready, graph, 0);\n  cudaGraphLaunch(ready, stream);\n"
                  "  cudaStreamSynchronize(stream);\n  cudaGraphExecDestroy(ready);\n  cudaGraphDestroy(graph);\n"
                  "  cudaStreamDestroy(stream);"),
    }[choice["stream"]]  # fmt: skip
    launcher = f"  {job_before}\n  {before}\n{launch}  {after}\n"
    return Generated(task, choice, _source(task, f"{task.rung}, {choice}", device, launcher))


def friends(count: int, seed: int, tasks: Sequence[Task] = TASKS) -> list[Generated]:
    """`count` right designs, taking the tasks in turn."""
    chance = random.Random(seed)  # noqa: S311
    return [
        friend(tasks[index % len(tasks)], {rule: chance.choice(kinds) for rule, kinds in FRIENDS.items()})
        for index in range(count)
    ]
