"""To add a kind of finding, a hint or a request to the device takes one row: builds a program with one more of each."""

import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, needs_build

HARNESS, BUILD = ROOT / "harness", ROOT / "build"
LAST_KIND = 'X(IllegalInstruction, "CRASH", "illegal instruction", IllegalInstruction, Hint::kIllegalInstruction)'
END = "#undef MESSAGE\n"
ROWS = {  # by file: a text in it, and what replaces it; in hints.inc, what follows it
    "vgpu/core/finding_kind.h": (LAST_KIND, f'{LAST_KIND} \\\n  X(Added, "CRASH", "added", Trap, Hint::kAdded)'),
    "vgpu/core/hints.inc": ("// Addresses.\n", 'HINT(kAdded, "what an added hint says")\n'),
    "protocol/messages.inc": (END, f"REQUEST(Added, 90, kMargin, uint64_t, WireOrigin origin, uint64_t value)\n{END}"),
}
PROGRAM = r"""
#include <cstdio>

#include "judge/model/verdict.h"
#include "judge/session/session_device.h"

using namespace lockstep;

uint64_t worker::DeviceServer::Added(WireOrigin origin, uint64_t value) { return origin.function.size() + value; }

int main() {
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::kAdded;
  finding.kernel = "k";
  std::puts(judge::FormatProblem(judge::ProblemOf(finding), "Test").c_str());
  vgpu::Device device(*vgpu::FindProfile("h200"), {});
  worker::DeviceServer server(device);
  worker::Encoder request;
  Put(request, worker::WireOrigin{"cudaCall", ""}).Put(uint64_t{34});
  const auto type = worker::MessageType::kAdded;
  const auto reply = server.Serve({type, 0, request.Take()});
  std::printf("%s %d\n", worker::NameOf(type).data(), static_cast<int>(worker::Decoded<uint64_t>(reply.payload)));
}
"""
# Sources that list the rows, compiled here; all else comes from the build, which lacks the new rows.
SOURCES = ("vgpu/core/finding_kind.cc", "vgpu/core/hint.cc", "protocol/wire.cc", "judge/session/session_device.cc")
LIBRARIES = ("harness/judge/liblockstep_judge.a", "lib/liblockstep_wire.a", "harness/vgpu/liblockstep_fatbin.a")

pytestmark = [needs_build, pytest.mark.in_turn]


def test_a_row_is_all_that_a_kind_of_finding_a_hint_and_a_request_take(tmp_path: Path) -> None:
    for name, (old, new) in ROWS.items():
        text = (HARNESS / name).read_text()
        assert text.count(old) == 1
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text.replace(old, old + new if name.endswith("hints.inc") else new))
    program = tmp_path / "program.cc"
    program.write_text(PROGRAM)
    folders = [f"-I{tmp_path}", f"-I{HARNESS}", f"-I{BUILD / 'generated'}"]
    built = [
        *(BUILD / "harness" / "vgpu" / "CMakeFiles").glob("lockstep_vgpu_*/**/*.o"),
        *map(BUILD.joinpath, LIBRARIES),
    ]
    subprocess.run(
        ["/usr/bin/env", "c++", "-std=c++20", "-march=x86-64-v3", *folders, program,
         *map(HARNESS.joinpath, SOURCES), "-Wl,-z,muldefs",
         *built, "-lgtest", "-lzstd", "-o", tmp_path / "program"],
        check=True,
    )  # fmt: skip
    said = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=True).stdout
    headline, *_, hint, answer = said.splitlines()
    assert (headline, hint) == ("CRASH  Test   k<<<1,1>>>", "  hint    what an added hint says")
    assert answer == "Added 42"
