"""A new kind of finding, hint or request to the device is one row in its table; a request also needs its function."""

import subprocess
from pathlib import Path

from conftest import ROOT, needs_build
from grader.base.layout import find_layout

HARNESS = ROOT / "harness"
# By table: the row that the new one follows, and the new one.
ROWS = {
    "vgpu/core/finding_kind.h": (
        "Hint::kIllegalInstruction)\n",
        'Hint::kIllegalInstruction) \\\n X(Added, "CRASH", "added fault", Trap, Hint::kAdded)\n',
    ),
    "vgpu/core/hints.inc": ("\n#undef HINT", '\nHINT(kAdded, "take the row out again")\n#undef HINT'),
    "protocol/messages.inc": (
        "\n#undef MESSAGE",
        "\nREQUEST(Added, 99, kSmallBytes, uint64_t, uint64_t value)\n#undef MESSAGE",
    ),
}
REBUILT = ("vgpu/core/finding_kind.cc", "vgpu/core/hint.cc", "protocol/wire.cc", "judge/session/session_device.cc")
PROGRAM = """
#include <cstdio>
#include "judge/session/session_device.h"
using namespace lockstep;
uint64_t worker::DeviceServer::Added(uint64_t value) { return value + 1; }
int main() {
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::kAdded;
  finding.kernel = "kernel";
  vgpu::Device device(*vgpu::FindProfile("h200"), {});
  worker::DeviceServer server(device, {});
  const worker::Message reply =
      server.Serve({worker::MessageType::kAdded, 0, worker::Encoder().Put(uint64_t{41}).bytes()});
  std::printf("%s\\n%s: %d\\n", vgpu::Format(finding).c_str(), NameOf(worker::MessageType::kAdded).data(),
              static_cast<int>(worker::Decoder(reply.payload).Get<uint64_t>()));
}
"""


@needs_build
def test_a_row_adds_a_kind_of_finding_a_hint_and_a_request(tmp_path: Path) -> None:
    for table, (old, new) in ROWS.items():
        text = (HARNESS / table).read_text()
        assert text.count(old) == 1
        (tmp_path / table).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / table).write_text(text.replace(old, new))
    (tmp_path / "main.cc").write_text(PROGRAM)
    build = find_layout(None).build
    objects = [str(path) for path in build.glob("harness/vgpu/CMakeFiles/lockstep_vgpu_*.dir/**/*.o")]
    libraries = ("harness/judge/liblockstep_judge.a", "lib/liblockstep_wire.a", "harness/vgpu/liblockstep_fatbin.a")
    # The sources rebuilt with the rows replace those of the build, which come later.
    command = ["g++", "-std=c++20", "-O0", f"-I{tmp_path}", f"-I{HARNESS}", f"-I{build}", "-Wl,-z,muldefs"]
    command += ["-o", str(tmp_path / "run"), str(tmp_path / "main.cc"), *(str(HARNESS / source) for source in REBUILT)]
    command += [*objects, *(str(build / library) for library in libraries), "-lgtest", "-lzstd", "-ldl", "-pthread"]
    subprocess.run(command, check=True)
    said = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=True).stdout
    wanted = {"CRASH  kernel<<<1,1>>>", "  added fault", "  hint    take the row out again", "Added: 42"}
    assert wanted <= set(said.splitlines()), said
