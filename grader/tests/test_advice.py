"""Advice names the technique of the next rung (or kernel of a pair), with the modelled gain."""

import csv
import io
import json
import re
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas
import pytest

from conftest import BUILD, ROOT

pytest_plugins = ("browser",)
RUN = BUILD / "bin" / "vgpu-run"
NVCC = (BUILD / "nvcc.txt").read_text().strip() if (BUILD / "nvcc.txt").exists() else ""
pytestmark = [
    pytest.mark.skipif(not (NVCC and RUN.exists()), reason="needs nvcc and make build"),
    pytest.mark.in_turn,
]

_MAIN = """
#include <cstdio>
#include "{header}"
int main() {{
  char* memory[4];
  for (auto& one : memory) cudaMalloc(&one, 1 << 25), cudaMemset(one, 0, 1 << 25);
  {call};
  std::printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
}}
"""
_REDUCE = "{rung}((const int*)memory[0], (int*)memory[1], 1 << 22, (int*)memory[2])"
_TRANSPOSE = "{rung}((const float*)memory[0], (float*)memory[1], 2048, 1024)"
_SHIFT = "{rung}((const int*)memory[0], (int*)memory[1], 1 << 22, 5)"
_SCAN = "{rung}((const float*)memory[0], (float*)memory[1], 1024, (unsigned long long*)memory[2])"
_COALESCE = "{rung}((const float*)memory[0], (float*)memory[1], 1 << 20)"
_MATMUL = "{rung}((const float*)memory[0], (const float*)memory[1], (float*)memory[2], 512, 512, 256)"
# Each rung with the technique that its advice must include: the next rung's. None: the next rung is not at least 6 %
# faster here; "": it is only compared with. 08 has no ladder, and rung 5 of the shift saves memory, not time.
LADDERS = [
    ("03_circular_shift/shift", _SHIFT, {"shift2_any": "several elements a thread", "shift3_grid_stride": "wide"}),
    ("04_reduction/reduction", _REDUCE, {
        "reduce1_interleaved": "full warps", "reduce2_strided": "no bank conflicts",
        "reduce3_sequential": "several elements a thread", "reduce4_first_add": "fewer barriers",
        "reduce5_warp_unrolled": "unroll", "reduce6_unrolled": "several elements a thread", "reduce7_many": "wide"}),
    ("05_scan/scan", _SCAN, {
        "scan1_hillis_steele": None, "scan2_work_efficient": None, "scan3_padded": "more blocks"}),
    ("05_scan/scan", _SCAN.replace("1024", "1 << 20"), {"scan4_blocks": "one launch"}),
    ("06_transpose/transpose", _TRANSPOSE, {
        "transpose1_naive": "coalesce", "transpose2_tiled": "no bank conflicts",
        "transpose3_padded": "several elements a thread", "transpose4_rows": None, "transpose5_wide": ""}),
    ("08_coalescing/coalescing", _COALESCE, {"coalesce4_strided": "coalesce", "coalesce6_structures": "coalesce"}),
    ("14_matmul/matmul", _MATMUL, {
        "matmul1_naive": "tile", "matmul2_tiled": "registers", "matmul3_registers": "wide",
        "matmul4_vectors": "tensor cores"}),
]  # fmt: skip


def _compile(source: Path, *flags: str) -> Path:
    program = source.with_suffix("")
    subprocess.run([NVCC, "-std=c++17", "-cudart", "shared", "-lineinfo", "-gencode", "arch=compute_80,code=compute_80",
                    *flags, str(source), "-o", str(program)], check=True)  # fmt: skip
    return program


def _kernels(program: Path, tmp_path: Path, device: str = "h100") -> dict[str, dict[str, Any]]:
    page = tmp_path / "page.html"
    subprocess.run([RUN, f"--device={device}", f"--page={page}", program], check=True, capture_output=True)
    data = re.search(r'id="data">(.*?)</script>', page.read_text(), re.DOTALL)
    assert data is not None
    return {kernel["name"]: kernel for kernel in json.loads(data[1])["kernels"]}


@pytest.mark.parametrize(("reference", "call", "rungs"), LADDERS, ids=[ladder[0] for ladder in LADDERS])
def test_advice_for_a_rung_is_the_next_rungs_technique(
    reference: str, call: str, rungs: dict[str, str | None], tmp_path: Path
) -> None:
    folder, name = reference.split("/")
    calls = ";\n  ".join(call.format(rung=rung) for rung in rungs)
    source = tmp_path / "ladder.cu"
    source.write_text(_MAIN.format(header=f"{name}.h", call=calls))
    program = _compile(source, f"-I{ROOT}/assignments/{folder}", str(ROOT / "reference" / f"{reference}.cu"))
    # The course's device of 2006, for which the reduction's ladder was made, or one of today.
    kernels = _kernels(program, tmp_path, "g80" if name == "reduction" else "h100")
    told = {}
    for rung in rungs:
        stem = "shift1_gather" if rung == "shift2_any" else rung  # rung 2 launches the kernel of rung 1
        (kernel,) = (kernels[name] for name in kernels if name.startswith(stem))
        (advice,) = kernel["advice"]
        assert all(change["lines"] for change in advice["changes"])
        told[rung] = [change["technique"] for change in advice["changes"]]
    assert {rung: technique for rung, technique in rungs.items() if technique and technique not in told[rung]} == {}, (
        told
    )

    def takes(rung: str) -> float:
        return sum(kernel["us"] for name, kernel in kernels.items() if name.startswith(rung.partition("_")[0]))

    for rung, after in pairwise(rungs):
        assert rungs[rung] or takes(after) > 0.94 * takes(rung), after


_MEETING = """
__global__ void meet(const int* in, int* out, int rounds) {
  __shared__ int part[96];
  const int t = threadIdx.x;
  part[t] = in[t];
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    const int other = part[(t + 32 * round + 32) % 96];
    BARRIER
    if (t % 2 == 0) part[t] += other;
    __syncthreads();
  }
  out[96 * blockIdx.x + t] = part[t];
}
int main() {
  int *in, *out;
  cudaMalloc(&in, 384), cudaMalloc(&out, 768), cudaMemset(in, 1, 384);
  for (int rounds : {FIRST, 2}) meet<<<2, 96>>>(in, out, rounds);
  cudaDeviceSynchronize();
}
"""


@pytest.mark.parametrize("races", [False, True])
def test_a_replay_is_what_the_block_does(races: bool, tmp_path: Path) -> None:
    source, page = tmp_path / "meet.cu", tmp_path / "page.html"
    source.write_text(_MEETING.replace("BARRIER", "" if races else "__syncthreads();"))
    program = _compile(source, f"-DFIRST={0 if races else 1000}")
    for block in ("1", "0"):
        subprocess.run(
            [RUN, "--check", f"--page={page}", f"--replay={block}", program], check=True, capture_output=True
        )
    found = re.search(r'id="replays">(.*?)</script>', page.read_text(), re.DOTALL)
    (replay,) = json.loads(found[1]) if found else []
    # The first launch, or the first in which something is found.
    assert (replay["launch"], replay["block"], replay["whole"], replay["by_barriers"]) == (races, 0, races, True)
    assert replay["variables"] == [["part", 0, 384]]
    assert 30 < len(replay["steps"]) <= 3000
    passed = dict.fromkeys(range(3), 0)
    for warp, file, line, lanes, arrives, accesses, of_global in replay["steps"]:
        assert replay["files"][file] == str(source)
        thread, round_ = 32 * warp, (passed[warp] - 1) // (2 - races)
        own = {5: ("store", thread), 8: ("load", (thread + 32 * (round_ + 1)) % 96)}
        for deed, bytes_, mask, packed, cost, ideal in accesses:
            count = mask.bit_count()
            at = packed if len(packed) == count else [packed[0] + k * packed[1] for k in range(count)]
            expected, first = own.get(line, (deed, thread))
            assert (deed, bytes_, cost, ideal) == (expected, 4, 1, 1)
            assert mask in ((0xFFFFFFFF, 0x55555555) if line in (8, 10) else (0xFFFFFFFF,))
            assert mask & ~lanes == 0
            assert at == [4 * (first + lane) for lane in range(32) if mask >> lane & 1]
        if line == 5 and of_global:
            assert of_global == [["load", 4, 0xFFFFFFFF, [0, 4], 4, 4]]
        passed[warp] += arrives
        assert max(passed.values()) - min(passed.values()) <= 1
    assert min(passed.values()) >= 3
    unpaged = subprocess.run([RUN, "--replay=1", program], capture_output=True, text=True, check=False)
    assert (unpaged.returncode, "give --page=FILE too" in unpaged.stderr) == (2, True)


_STREAMS = """
__global__ void part(const int* in, int* out) {
  const int t = blockIdx.x * 64 + threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (int k = 1; k <= 4; ++k) sum += in[threadIdx.x * k];
  if (t % 4 == 0) {
    for (int k = 0; k < t; ++k) sum = sum * 3 ^ k;
  } else {
    for (int k = t; k > 0; --k) sum = sum * 5 + k;
  }
  out[t] = sum;
}
int main() {
  int *host, *in, *out;
  cudaMallocHost(&host, 4096), cudaMalloc(&in, 4096), cudaMalloc(&out, 4096), cudaMemset(in, 1, 4096);
  for (int k = 0; k < 2; ++k) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMemcpyAsync(in + 256 * k, host, 1024, cudaMemcpyHostToDevice, stream);
    part<<<2, 64, 0, stream>>>(in, out + 128 * k);
  }
  cudaDeviceSynchronize();
}
"""


@pytest.mark.parametrize(("width", "dark"), [(360, True), (1280, False)])
def test_a_page_shows_any_execution_ways_streams_and_the_sm(
    tmp_path: Path, open_page: Callable[..., Any], width: int, *, dark: bool
) -> None:
    source, path = tmp_path / "part.cu", tmp_path / "page.html"
    source.write_text(_STREAMS)
    subprocess.run([RUN, f"--page={path}", _compile(source)], check=True, capture_output=True)
    page = open_page(path, width=width, dark=dark)

    def unfold(line: int, summary: str) -> Any:
        row = page.locator(f"[id='part.cu:{line}']")
        row.locator("summary", has_text=summary).press("Enter")
        return row.locator("details", has_text=summary)

    own = unfold(6, "another warp or execution")
    own.locator("select").select_option(label="warp 1")
    own.locator("input").fill("3")
    own.locator("input").press("Enter")
    told = own.locator("figcaption").first.inner_text()
    assert "warp 1 of block 0 reads 4 bytes a lane, 12 bytes apart: 12 sectors" in told
    ways = unfold(7, "another warp").locator("figcaption").last.inner_text()
    assert re.match(r"warp 0 parts at line 7: (8|24) lanes at lines? .*; (8|24) lanes at lines? ", ways), ways
    branch = unfold(7, "a branch at which lanes part").locator("figcaption").last.inner_text()
    assert re.search(r"warp 0 of block 0 goes both ways.*: (8 lanes take.*24|24 lanes take.*8) lanes go on", branch)
    told = page.locator("#streams figcaption").inner_text()
    assert "default stream: 1 operation, stream 1: 2 operations, stream 2: 2 operations" in told
    assert re.search(r"kernels and fills \d+ % of the time, copies to the device \d+ % of the time", told)
    assert page.locator("#streams rect").count() == 5
    assert "32 blocks of 2 warps fit on an SM: 64 of 64 warps, limited by" in page.locator("#kernels").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    closed = page.locator("details:not([open]) > summary").all_inner_texts()
    assert set(closed) <= {"another warp or execution"}
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 3


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("pairs") / "pairs.cu"
    source.write_text((ROOT / "harness/tests/model/advice/pairs.cu").read_text())
    return _compile(source)


def test_gains_are_those_of_the_kernel_with_the_technique(pairs: Path, tmp_path: Path) -> None:
    kernels = _kernels(pairs, tmp_path)
    for name, technique in [("structures", "coalesce"), ("stencil", "tile"), ("histogram", "privatise"),
                            ("transpose", "coalesce"), ("compact", "full warps")]:  # fmt: skip
        before, after = kernels[f"{name}_before"], kernels[f"{name}_after"]
        saved = {change["technique"]: change["saved_microseconds"] for change in before["advice"][0]["changes"]}
        assert technique in saved, (name, saved)
        assert 0.5 < saved[technique] / (before["us"] - after["us"]) < 2, name


def test_a_page_of_millions_of_accesses_is_small(pairs: Path, tmp_path: Path) -> None:
    kernels = _kernels(pairs, tmp_path)
    assert sum(kernel["counters"].get("global_load_requests", 0) for kernel in kernels.values()) > 1_000_000
    assert (tmp_path / "page.html").stat().st_size < 2_000_000


# What ncu 2025.3 recorded in metrics.h200.csv.
_MEASURED = """
struct Pair { int a; float b; };
namespace tools {
template <typename T, int N> __global__ void scale(const T* in, T* out, int n, T by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(i * N) % n] * by;
}
}
__global__ void conflicts(float* out, int n) {
  __shared__ float tile[32][32];
  tile[threadIdx.x][threadIdx.y] = threadIdx.x + threadIdx.y;
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void diverge(unsigned* out, const Pair* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 3 == 0) { for (int k = 0; k < i % 7; ++k) out[i] += p[k].a * k; }
  else { for (int k = 0; k < i % 5; ++k) out[i] ^= (unsigned)p[k].b + k; }
  atomicAdd(&out[i % 17], 1u);
}
extern "C" __global__ void fill(double* out) { out[threadIdx.x] = 1; }
int main() {
  char* m[5]; const int n = 1 << 20;
  for (char*& one : m) cudaMalloc(&one, n * 4), cudaMemset(one, 0, n * 4);
  tools::scale<float, 1><<<n / 256, 256>>>((float*)m[0], (float*)m[1], n, 2.f);
  tools::scale<float, 8><<<n / 256, 256>>>((float*)m[0], (float*)m[1], n, 2.f);
  conflicts<<<1, dim3(32, 32)>>>((float*)m[1], n);
  diverge<<<1234, 128>>>((unsigned*)m[2], (Pair*)m[3], n);
  fill<<<1, 64>>>((double*)m[4]);
  cudaDeviceSynchronize();
}
"""


def _as_scripts_read(text: str) -> "pandas.DataFrame":
    """Launches by metric, as a script written for `ncu --csv --page raw` reads them: a row of names, one of units."""
    table = pandas.read_csv(io.StringIO(text[text.index('"ID"') :]), header=[0, 1], thousands=",", dtype={"CC": str})
    table.columns = table.columns.droplevel(1)
    return table


def test_csv_reads_as_nsights(tmp_path: Path) -> None:
    folder = ROOT / "harness/tests/model/advice"
    recorded = (folder / "metrics.h200.csv").read_text()
    header, units = list(csv.reader(io.StringIO(recorded)))[:2]
    source = tmp_path / "csv.cu"
    source.write_text(_MEASURED)
    program = _compile(source)
    given = ",".join(name.removesuffix(".sum") for name in header[:10:-1])  # in another order
    run = subprocess.run([RUN, f"--metrics={given}", "--csv", program], check=True, capture_output=True, text=True)
    ours = run.stdout[run.stdout.index('"ID"') :]
    assert list(csv.reader(io.StringIO(ours)))[:2] == [header, units]
    theirs, here = _as_scripts_read(recorded), _as_scripts_read(ours)
    others = {"gpu__time_duration.sum", "launch__registers_per_thread", "sm__inst_executed_pipe_tensor.sum",
              "smsp__sass_branch_targets_threads_divergent.sum", "Process ID", "Stream"}  # fmt: skip
    for name in header:
        if name not in others:
            assert list(here[name]) == list(theirs[name]), name
    assert '"1,048,576"' in ours


def test_metrics_by_nsights_names_are_the_counters(pairs: Path, tmp_path: Path) -> None:
    counters = tmp_path / "counters.csv"
    names = ["gpu__time_duration.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "launch__registers_per_thread"]
    run = subprocess.run([RUN, f"--metrics={','.join(names)}", "--csv", f"--counters={counters}", pairs], check=True,
                         capture_output=True, text=True)  # fmt: skip
    units, *rows = csv.DictReader(io.StringIO(run.stdout[run.stdout.index('"ID"') :]))
    assert [units[name] for name in names] == ["ns", "sector", "register/thread"]
    launches = list(csv.DictReader(io.StringIO(counters.read_text())))
    assert len(rows) == len(launches) == 10
    for row, launch in zip(rows, launches, strict=True):
        assert row["Kernel Name"].startswith(f"{launch['kernel']}(")
        assert float(row[names[0]].replace(",", "")) == pytest.approx(1e3 * float(launch["microseconds"]), abs=1)
        assert row[names[1]].replace(",", "") == launch["global_store_sectors"]
        assert row[names[2]] == launch["registers"]
    wrong = subprocess.run([RUN, "--metrics=sm__cycles", pairs], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "there is no metric sm__cycles" in wrong.stderr


def test_compute_sanitizer_and_nvidia_smi_stand_in(tmp_path: Path) -> None:
    source = tmp_path / "race.cu"
    source.write_text(
        "__global__ void k(int* a) { a[0] = threadIdx.x; }\n"
        "int main() { int* a; cudaMalloc(&a, 4); k<<<1, 64>>>(a); cudaDeviceSynchronize(); }\n"
    )
    program = _compile(source)
    for tool, status in [("racecheck", 9), ("memcheck", 0), ("initcheck", 0), ("synccheck", 0)]:
        for flags in [[f"--tool={tool}", "--error-exitcode=9"],
                      ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9"]]:  # fmt: skip
            run = subprocess.run([RUN, *flags, program], check=False, capture_output=True, text=True)
            assert (run.returncode, "RACE" in run.stderr) == (status, status == 9), (flags, run.stderr)
    query = ["nvidia-smi", "--query-gpu=name, compute_cap,memory.total", "--format=csv,nounits"]
    asked = subprocess.run([RUN, "--device=h100", "--devices=2", *query], check=True, capture_output=True, text=True)
    assert asked.stdout.splitlines() == ["name, compute_cap, memory.total"] + 2 * ["NVIDIA H100 80GB HBM3, 9.0, 81559"]
    for bad in [["--query-gpu=colour", "--format=csv"], ["-q"], ["--query-gpu=name"]]:
        run = subprocess.run([RUN, "nvidia-smi", *bad], check=False, capture_output=True, text=True)
        assert run.returncode == 2
        assert "usage: vgpu-run" in run.stderr
