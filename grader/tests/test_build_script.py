"""Which sources harness/worker/build.sh accepts, and its messages for others; with the real compiler if installed."""

import re
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, needs_build, needs_sandbox
from grader.base import cgroup
from grader.base.layout import find_layout
from grader.base.toolchain import find_toolchain
from grader.model.assignment import load_assignment
from grader.running.build import Order, build_worker

ASSIGNMENT = ROOT / "assignments" / "01_handson_copy"
REFERENCE = (ROOT / "reference" / "01_handson_copy" / "copy.cu").read_text()
REFUSED = 65

pytestmark = [needs_build, pytest.mark.in_turn]


def build(folder: Path, source: str) -> tuple[int, str]:
    """The script's status, and what it printed."""
    path = folder / "copy.cu"
    path.write_text(source)
    script = [str(ROOT / "harness" / "worker" / "build.sh"), "--assignment", str(ASSIGNMENT), "--source", str(path)]
    ended = subprocess.run([*script, "--out", str(folder / "worker")], capture_output=True, text=True, check=False)
    return ended.returncode, ended.stderr


def test_a_main_of_the_submissions_own_does_not_matter(tmp_path: Path) -> None:
    status, said = build(tmp_path, REFERENCE + '\n#include <cstdio>\nint main() { std::puts("tried out"); }\n')
    assert (status, said) == (0, "")
    assert (tmp_path / "worker").is_file()


@pytest.mark.parametrize("value", ["std::riemann_zeta(2.0)", "std::numeric_limits<double>::max()"])
def test_what_the_headers_bring_unasked_is_there(tmp_path: Path, value: str) -> None:
    assert build(tmp_path, f"{REFERENCE}\ndouble value() {{ return {value}; }}\n") == (0, "")


def test_a_name_of_the_standard_librarys_clashes_as_it_does_for_nvcc(tmp_path: Path) -> None:
    status, said = build(
        tmp_path, REFERENCE + "using namespace std;\nfloat beta;\nfloat twice() { return 2 * beta; }\n"
    )
    assert status != 0
    assert '"beta" is ambiguous' in said


def test_a_launcher_that_is_missing_is_named_with_what_is_there_instead(tmp_path: Path) -> None:
    source = REFERENCE.replace('#include "copy.h"', "#include <cuda_runtime.h>")
    source = source.replace(
        "copy1_round_trip(const int* h_in, int* h_out, size_t n)", "copy1_round_trip(int*, int*, int)"
    )
    source = source.replace(
        "cudaError_t copy1", "static const int *h_in; static int *h_out; static size_t n;\ncudaError_t copy1"
    )
    source = source.replace("cudaError_t copy2", 'extern "C" cudaError_t copy2')
    source = source.replace("cudaError_t copy4", "namespace mine { cudaError_t copy4", 1) + "\n}\n"
    status, said = build(tmp_path, source)
    assert status == 1
    signature = "(int const*, int*, unsigned long)"
    assert re.search(rf"copy.cu: error: copy1_round_trip{re.escape(signature)} is missing; see copy\.h:\d+\n", said), (
        said
    )
    assert "it has copy1_round_trip(int*, int*, int): its parameters have to be those above" in said
    assert 'it has copy2_two_buffers as extern "C": leave that out' in said
    assert f"it has mine::copy4_pinned{signature}: take it out of the namespace" in said
    assert "copy3_checked" not in said
    assert str(tmp_path) not in said


def test_libraries_are_listed_by_name(tmp_path: Path) -> None:
    # Headers of such names: nvcc's Python packages come without cuBLAS, and Thrust's take long to compile.
    headers = ["thrust/sort.h", "cublas_v2.h", "cub/cub.cuh"]
    for header in headers:
        (tmp_path / header).parent.mkdir(exist_ok=True)
        (tmp_path / header).touch()
    status, said = build(tmp_path, "".join(f'#include "{header}"\n' for header in headers) + REFERENCE)
    assert status == REFUSED
    assert said.startswith("copy.cu includes cub, cublas and thrust: this assignment asks for kernels of your own")


@needs_sandbox
@pytest.mark.parametrize(
    "name",
    ["harness/dev/bench/scan_bench.cu", "harness/judge/device/gpu_kernels.cu", "harness/judge/session/session.h",
     "reference/01_handson_copy/copy.cu", "harness/suites/01_handson_copy_test.cc"],
)  # fmt: skip
def test_a_graded_submission_includes_nothing_of_the_checkouts(tmp_path: Path, name: str) -> None:
    layout = find_layout(None, ROOT)
    assert (ROOT / name).is_file()
    source = f'#include "{ROOT / name}"\n'.encode()
    assignment = load_assignment(layout.assignment("01_handson_copy"))
    built = build_worker(Order(layout, find_toolchain(layout), assignment, source, tmp_path, sandboxed=True))
    assert built.worker is None
    assert "No such file or directory" in built.message


LIBRARIES = """#include <cublas_v2.h>
#include <cufft.h>
#include "tool.h"
void tool1_scale(float* x, int n) {
  const float half = 0.5f;
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSscal(handle, n, &half, x, 1);
  cublasDestroy(handle);
}
"""
EMPTY = '#include "tool.h"\nvoid tool1_scale(float*, int) {}\n'  # no library's headers, which take a second


def build_with_libraries(folder: Path, source: str, libraries: str = '["cublas", "cufft"]') -> tuple[int, str]:
    """Like `build`, for an assignment that allows these libraries."""
    assignment = folder / "90_tool"
    assignment.mkdir(exist_ok=True)
    (assignment / "assignment.toml").write_text(f'id = "90_tool"\nlibraries = {libraries}\n')
    (assignment / "tool.h").write_text("void tool1_scale(float* x, int n);\n")
    glue = folder / "glue.cc"
    glue.write_text('#include "tool.h"\n#include "worker/launchers.h"\nLOCKSTEP_LAUNCHERS(tool1_scale);\n')
    path = folder / "tool.cu"
    path.write_text(source)
    words = ["--assignment", assignment, "--source", path, "--glue", glue, "--out", folder / "worker"]
    command = [str(ROOT / "harness" / "worker" / "build.sh"), *map(str, words)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stderr


def test_an_assignments_libraries_are_linked(tmp_path: Path) -> None:
    assert build_with_libraries(tmp_path, LIBRARIES) == (0, "")
    loaded = subprocess.run(
        ["/usr/bin/ldd", str(tmp_path / "worker")], capture_output=True, text=True, check=True
    ).stdout
    assert "/lib/submission/libcublas.so.13" in loaded
    assert "libcufft" not in loaded, "nothing of it is called"


def test_what_an_assignment_does_not_give_is_refused(tmp_path: Path) -> None:
    status, said = build_with_libraries(tmp_path, LIBRARIES, '["cublas"]')
    assert status == REFUSED
    assert said == "tool.cu includes cufft: this assignment asks for cublas, and no other library of kernels\n"


def test_thrust_brings_cub(tmp_path: Path) -> None:
    source = LIBRARIES.replace("<cufft.h>", "<cub/version.cuh>").replace(
        "<cublas_v2.h>", "<cublas_v2.h>\n#include <thrust/version.h>"
    )
    assert build_with_libraries(tmp_path, source, '["thrust", "cublas"]') == (0, "")
    status, said = build_with_libraries(tmp_path, source, '["cub", "cublas"]')
    assert (status, said.partition(":")[0]) == (REFUSED, "tool.cu includes thrust")


def test_a_function_that_submissions_do_not_have_is_named(tmp_path: Path) -> None:
    source = f'extern "C" int cublasXtCreate(void** handle);\n{LIBRARIES}int value = cublasXtCreate(nullptr);\n'
    status, said = build_with_libraries(tmp_path, source)
    assert status == 1
    assert said.startswith("tool.cu: error: cublasXtCreate is not among the library's functions that submissions have;")


@pytest.mark.parametrize(
    "line",
    ["#line 1 \"/usr/include/cuda/a.h\"", "# 1 \"/usr/include/cuda/a.h\" 3", "  %: line 7", "#/* */line 7",
     "#li\\\nne 7", "/* */ #line 7", "/*\n*/#line 7",
     "#define cudaError_t int\n#include <cuda.h>", "%:undef CUDART_VERSION\n# include <cuda.h>",
     "#define/**/cudaError_t\n#include <cuda.h>", "#if 0\n#include __FILE__\n#endif",
     "#if 0\n#include \"tool.cu\"\n#endif"],
)  # fmt: skip
def test_lines_keep_their_names_where_they_tell_whose_a_kernel_is(tmp_path: Path, line: str) -> None:
    status, said = build_with_libraries(tmp_path, f"{EMPTY}{line}\nint more;\n")
    assert status == REFUSED, said
    assert "this assignment does not take a line as" in said


@pytest.mark.parametrize(
    ("written", "word"), [("asm", "asm"), ("__asm__", "__asm__"), ("JOIN(as, m)", "asm"), ("__asm", "__asm")]
)
def test_no_assembly_where_lines_tell_whose_a_kernel_is(tmp_path: Path, written: str, word: str) -> None:
    status, said = build_with_libraries(
        tmp_path, f'{EMPTY}#define JOIN(a, b) a##b\n__device__ void f() {{ {written}("ret;"); }}\n'
    )
    assert status == REFUSED, said
    assert said.startswith(f"tool.cu: this assignment does not take {word}:")
    source = f'{EMPTY}// asm\nconst char* text = "no asm";\n'
    assert build_with_libraries(tmp_path, source) == (0, "")


def test_assembly_is_assembled(tmp_path: Path) -> None:
    before = "__global__ void moves(int* p) {\n  int x;\n"
    fits = 'asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(p));\n  p[1] = x;\n}\n'
    assert build(tmp_path, REFERENCE + before + fits) == (0, "")
    newer = fits.replace("ld.global.u32 %0, [%1];", "red.async.relaxed.cluster.global.add.u32 [%1], %0;")
    status, said = build(tmp_path, REFERENCE + before + "\n" + newer)
    assert status == 1
    line = (REFERENCE + before).count("\n") + 2
    assert re.search(rf"copy\.cu\({line}\): error: .+ \(assembly for sm_80\)\n", said)


def test_macros_of_names_that_no_header_uses_may_be_anywhere(tmp_path: Path) -> None:
    source = LIBRARIES.replace("#include <cufft.h>", "#define OWN_HALF 0.5f\n#define MY_CHECK(x) x\n#include <cufft.h>")
    assert build_with_libraries(tmp_path, source.replace("0.5f;", "OWN_HALF;")) == (0, "")


def test_other_directives_and_comments_are_taken(tmp_path: Path) -> None:
    more = (
        "# define A 1\n#\n#if A /* 1 */\n#else\n#endif\n#undef A\n#pragma unroll\n// # 1\n/* see #2 */ int b; // */ 3\n"
    )
    assert build_with_libraries(tmp_path, EMPTY + more)[0] == 0


def test_our_headers_do_where_the_toolkit_has_none(tmp_path: Path) -> None:
    include = ROOT / "harness/libraries/submission/include"
    source = LIBRARIES.replace("<cublas_v2.h>", f'"{include}/cublas_v2.h"').replace("<cufft.h>", f'"{include}/cufft.h"')
    assert build_with_libraries(tmp_path, source) == (0, "")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero here")
def test_a_compiler_has_an_end_of_memory_without_control_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup, "_make", lambda *_: [])
    layout = find_layout(None)
    assignment = load_assignment(ASSIGNMENT)
    source = f'{REFERENCE}\n#include "/dev/zero"\n'.encode()
    built = build_worker(Order(layout, find_toolchain(layout), assignment, source, tmp_path, sandboxed=False))
    assert built.worker is None
    assert "out of memory" in built.message
