// libFuzzer: any text through the parser and what it takes through flow analysis and register allocation.
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -I harness harness/tests/fuzz/ptx_fuzz.cc
//     harness/vgpu/ptx/*.cc harness/vgpu/isa/{flow,control_flow_graph,dominators,liveness}.cc
//     harness/vgpu/isa/{register_uses,register_allocation,opcode_table,operand_form}.cc -o ptx_fuzz
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "vgpu/isa/flow.h"
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
