// libFuzzer: parses any text; accepted text goes through flow analysis and register allocation.
//   cmake --preset sanitize && ninja -C build-sanitize ptx_fuzz
//   build-sanitize/fuzz/ptx_fuzz -max_total_time=600 -dict=harness/tests/fuzz/ptx.dict FOLDER-OF-PTX
#include <cstddef>
#include <cstdint>

#include "vgpu/decode/flow.h"
#include "vgpu/ptx/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lockstep::vgpu;
  try {
    const ptx::Module module = ptx::Parse({reinterpret_cast<const char*>(data), size});
    for (const ptx::Function& function : module.functions) AllocateRegisters(function, AnalyzeFlow(function));
  } catch (const ptx::PtxError&) {
  }
  return 0;
}
