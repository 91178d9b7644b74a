"""The assembler's changes, from PTX and nvdisasm's text, and from both tools if installed."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from grader.base.layout import Layout, find_layout
from grader.model.assignment import load_assignment
from grader.model.result import Line, Profile
from grader.student import machine_code
from grader.student.machine_code import Change, Inventory, changes, find_disassembler, look_at_machine_code
from grader.student.text import Terminal, profile_text

ROOT = Path(__file__).resolve().parents[2]
_PTX = """
.file 1 "/somewhere/shift.cu"
.file 2 "/usr/include/other.h"
.loc 1 4 3
@%p1 bra $L__BB0_2;
.loc 2 4 3
@%p9 bra $L__BB0_9;
.loc 1 9 5, function_name $L__info_string0, inlined_at 1 8 3
ld.shared.f32 %f7, [%r14];
ld.shared.f32 %f9, [%r14+4];
@%p2 st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};
bra.uni $L__BB0_3;
.loc 1 12 5
@!%p3 bra $L__BB0_4;
ld.global.nc.u8 %rs1, [%rd1];
"""
_SASS = """
\t//## File "/somewhere/shift.cu", line 4
        /*00a0*/               @P0 EXIT ;
        /*00b0*/              @!P0 LDG.E R13, desc[UR6][R10.64] ;
\t//## File "/usr/include/other.h", line 4
        /*00b8*/              @!P0 BRA `(.L_x_7) ;
\t//## File "/somewhere/shift.cu", line 9
        /*0180*/                   LDS.64 R4, [R2+UR4] ;
        /*0190*/               @P1 STG.E.128 desc[UR6][R8.64], R4 ;
        /*01a0*/                   BRA `(.L_x_1) ;
\t//## File "/somewhere/shift.cu", line 12
        /*0230*/              @!P0 BRA `(.L_x_1) ;
        /*0240*/                   LDG.E.U8.CONSTANT R3, desc[UR4][R2.64] ;
"""


def test_instructions_are_counted_on_the_lines_of_the_file() -> None:
    assert machine_code.ptx_inventory(_PTX, "shift.cu") == {
        4: Inventory(1),
        9: Inventory(0, {"LDS": Counter({4: 2}), "STG": Counter({16: 1})}),
        12: Inventory(1, {"LDG": Counter({1: 1})}),
    }
    assert machine_code.machine_inventory(_SASS, "shift.cu") == {
        4: Inventory(0, {"LDG": Counter({4: 1})}),
        9: Inventory(0, {"LDS": Counter({8: 1}), "STG": Counter({16: 1})}),
        12: Inventory(1, {"LDG": Counter({1: 1})}),
    }


def test_what_is_the_same_is_no_change() -> None:
    found = changes(machine_code.ptx_inventory(_PTX, "shift.cu"), machine_code.machine_inventory(_SASS, "shift.cu"))
    assert found == {
        4: (Change("branches", 0.0, "no branch is left in the machine code"),),
        9: (Change("shared_load_requests", 0.5, "shared loads: 2 of 4 bytes became 1 of 8 bytes in the machine code"),),
    }


def test_an_unrolled_loop_says_nothing_about_its_accesses() -> None:
    once, four = Inventory(0, {"LDG": Counter({4: 1})}), Inventory(0, {"LDG": Counter({4: 4})})
    assert changes({3: once}, {3: four}) == {}


@pytest.fixture(scope="module")
def layout() -> Layout:
    return find_layout(None)


def test_the_real_assembler_joins_loads_and_drops_branches(layout: Layout, tmp_path: Path) -> None:
    nvcc = (layout.build / "nvcc.txt").read_text().strip()
    assert find_disassembler(nvcc) is not None  # in requirements.txt
    source = tmp_path / "sums.cu"
    source.write_text(
        "__global__ void sums(float* out, const float* in, int n) {\n"
        "  __shared__ float s[256];\n"
        "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  s[threadIdx.x] = in[i];\n"
        "  __syncthreads();\n"
        "  float sum = 0;\n"
        "  for (int k = 0; k < 4; ++k) sum += s[threadIdx.x / 32 * 4 + k];\n"
        "  if (i < n) out[i] = sum;\n"
        "}\n"
    )
    ptx = tmp_path / "sums.ptx"
    assignment = load_assignment(ROOT / "assignments" / "04_reduction")
    subprocess.run(
        [
            *(layout.build_script, "--build", layout.build, "--assignment", assignment.path.parent),
            *("--source", source, "--arch", machine_code.ARCH, "--ptx", ptx),
        ],
        check=True,
    )
    found = look_at_machine_code(ptx, "sums.cu", nvcc, tmp_path)
    assert found is not None
    assert found[7][0].counter == "shared_load_requests"
    assert found[7][0].factor == 0.25
    assert found[8] == (Change("branches", 0.0, "no branch is left in the machine code"),)


def test_without_a_disassembler_nothing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine_code, "find_disassembler", lambda _: None)
    assert look_at_machine_code(tmp_path / "x.ptx", "x.cu", "/nowhere/nvcc", tmp_path) is None


def test_a_profile_shows_both_counts() -> None:
    counters = {"branches": 65_796.0, "divergent_branches": 0.0, "warp_instructions": 7.0}
    line = Line("/somewhere/shift.cu", 1, counters)
    run = Profile("shift1", "submission", 8, 1.0, {"warp_instructions": 7.0}, (), (line,))
    machine = {1: (Change("branches", 0.0, "no branch is left in the machine code"),)}
    text = profile_text("shift.cu", [run], "if (i < n) return;\n", Terminal(colour=False), machine)
    assert "· no branch is left in the machine code: 65,796 branches as written, 0 as compiled" in text
    assert "what ptxas makes of it for sm_90" in text
    assert "machine" not in profile_text("shift.cu", [run], "if (i < n) return;\n", Terminal(colour=False))
