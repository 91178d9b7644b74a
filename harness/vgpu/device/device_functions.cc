#include "vgpu/device/device_functions.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "vgpu/ptx/linker.h"
#include "vgpu/ptx/parser.h"

namespace lockstep::vgpu {
namespace {

constexpr std::array<std::string_view, 2> kFunctions = {"cudaCGGetIntrinsicHandle", "cudaCGSynchronize"};

// A grid's handle is its workspace, which only cooperative launches have; other scopes have no handle. The counter at
// offset 128 is separate from that of C++'s barrier. Its highest bit flips whenever all blocks have arrived: the first
// block adds 2^31 minus the number of the others, each other block adds 1.
constexpr std::string_view kGridBarrier = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope) {
  .reg .pred %grid;
  .reg .b32 %scope, %low, %high;
  .reg .b64 %workspace;
  mov.b32 %high, %envreg1;
  mov.b32 %low, %envreg2;
  mov.b64 %workspace, {%low, %high};
  ld.param.u32 %scope, [scope];
  setp.eq.u32 %grid, %scope, 1;
  selp.b64 %workspace, %workspace, 0, %grid;
  st.param.b64 [handle], %workspace;
  ret;
}

.visible .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags) {
  .reg .pred %none, %others, %first, %waits;
  .reg .b32 %x, %y, %z, %blocks, %adds, %before, %now, %changed;
  .reg .b64 %workspace;
  ld.param.u64 %workspace, [handle];
  setp.eq.u64 %none, %workspace, 0;
  @%none trap;
  barrier.sync 0;
  mov.u32 %x, %tid.x;
  mov.u32 %y, %tid.y;
  mov.u32 %z, %tid.z;
  or.b32 %x, %x, %y;
  or.b32 %x, %x, %z;
  setp.ne.u32 %others, %x, 0;
  @%others bra $meet;
  mov.u32 %x, %nctaid.x;
  mov.u32 %y, %nctaid.y;
  mov.u32 %z, %nctaid.z;
  mul.lo.u32 %blocks, %x, %y;
  mul.lo.u32 %blocks, %blocks, %z;
  sub.u32 %adds, 0x80000001, %blocks;
  mov.u32 %x, %ctaid.x;
  mov.u32 %y, %ctaid.y;
  mov.u32 %z, %ctaid.z;
  or.b32 %x, %x, %y;
  or.b32 %x, %x, %z;
  setp.eq.u32 %first, %x, 0;
  selp.u32 %adds, %adds, 1, %first;
  fence.acq_rel.gpu;
  atom.add.acq_rel.gpu.global.u32 %before, [%workspace+128], %adds;
$wait:
  ld.acquire.gpu.global.u32 %now, [%workspace+128];
  xor.b32 %changed, %now, %before;
  setp.ge.s32 %waits, %changed, 0;
  @%waits bra $wait;
  fence.acq_rel.gpu;
$meet:
  barrier.sync 0;
  st.param.b32 [error], 0;
  ret;
}
)";

}  // namespace

ptx::Module LinkWithDeviceFunctions(std::vector<ptx::Module> modules) {
  ptx::Module linked = ptx::LinkModules(std::move(modules));
  const bool wants = std::any_of(linked.functions.begin(), linked.functions.end(), [](const ptx::Function& function) {
    return !function.has_body && std::find(kFunctions.begin(), kFunctions.end(), function.name) != kFunctions.end();
  });
  if (!wants) return linked;
  std::vector<ptx::Module> both;
  both.push_back(std::move(linked));
  both.push_back(ptx::Parse(kGridBarrier));
  return ptx::LinkModules(std::move(both));
}

}  // namespace lockstep::vgpu
