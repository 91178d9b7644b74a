// Functions that the runtime provides to kernels: vprintf, __assertfail, malloc, free, and the device runtime's.
#include <cstring>

#include "vgpu/decode/assert_text.h"
#include "vgpu/decode/decoder_internal.h"
#include "vgpu/decode/device_runtime.h"
#include "vgpu/decode/kernel_heap.h"
#include "vgpu/decode/kernel_printf.h"
#include "vgpu/exec/block.h"
#include "vgpu/exec/control.h"
#include "vgpu/exec/engine.h"
#include "vgpu/exec/frame_values.h"
#include "vgpu/isa/memory/memory_access.h"
#include "vgpu/memory/freed.h"

namespace lockstep::vgpu {
namespace {

constexpr size_t kMaxOutputOfBlock = 1 << 20;  // bytes that a block may print
// The same if blocks run interleaved and there are more than kManyBlocks.
constexpr size_t kMaxOutputOfMany = 64 << 10;
constexpr uint64_t kManyBlocks = 64;
constexpr size_t kMaxFormat = 64 << 10;

uint64_t Argument(const FrameValues& frame, const CallSite& site, size_t k, int lane) {
  return ArgumentOf<uint64_t>(frame, site, k, lane);
}

// The same results as in CUDA: the number of arguments, -1 for a null format, -2 if the text could not be stored.
int Printf(Warp& warp, uint64_t format, uint64_t arguments, const ReadMemory& read) {
  if (format == 0) return -1;
  const LaunchState& launch = warp.engine->launch();
  const bool many = launch.interleaved && launch.info.grid.Count() > kManyBlocks;
  std::string& output = warp.block->output;
  if (output.size() >= (many ? kMaxOutputOfMany : kMaxOutputOfBlock)) return -2;
  const KernelPrintf printed = FormatKernelPrintf(ReadString(read, format, kMaxFormat), arguments, read);
  output += printed.text;
  warp.engine->Charge(warp, printed.bytes / kBytesAnInstruction);
  return printed.arguments;
}

std::string FileName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string CudasAssertText(const Finding& finding, const std::string& file, int line, const std::string& function,
                            const std::string& condition) {
  const auto triple = [](const Dim3& at) {
    return "[" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) + "]";
  };
  return file + ":" + std::to_string(line) + ": " + function + ": block: " + triple(finding.first.block) +
         ", thread: " + triple(finding.first.thread) + " Assertion `" + condition + "` failed.";
}

}  // namespace

Builtin FindBuiltin(std::string_view name) {
  if (name == "vprintf") return Builtin::kVprintf;
  if (name == "__assertfail") return Builtin::kAssertFail;
  if (name == "malloc") return Builtin::kMalloc;
  if (name == "free") return Builtin::kFree;
  if (FindRuntimeFunction(name) != kNoRuntimeFunction) return Builtin::kDeviceRuntime;
  return Builtin::kNone;
}

void CallBuiltin(Warp& warp, const Insn& insn, LaneMask mask) {
  Engine& engine = *warp.engine;
  const CallSite& site = engine.program().calls[insn.immediate];
  const FrameValues frame{warp.base[0], warp.base[1], warp.state->groups[warp.state->current].frame->function};
  for (const int lane : EachLane(mask)) {
    const ReadMemory read = [&](uint64_t address, void* to, uint64_t bytes) {
      const uint8_t* from = LocateLane(warp, lane, address, bytes);
      if (from != nullptr) std::memcpy(to, from, bytes);
      return from != nullptr;
    };
    const uint64_t first = Argument(frame, site, 0, lane);
    switch (site.builtin) {
      case Builtin::kVprintf: {
        SetResult(frame, site, lane, static_cast<uint32_t>(Printf(warp, first, Argument(frame, site, 1, lane), read)));
        break;
      }
      case Builtin::kAssertFail: {
        const std::string message = ReadString(read, first, kMaxFormat);
        const std::string file = ReadString(read, Argument(frame, site, 1, lane), 4096);
        const int line = static_cast<int>(Argument(frame, site, 2, lane));
        Finding finding = engine.MakeFinding(
            warp, warp.pc - 1, lane, FindingKind::kAssert,
            "assertion `" + message + "` failed (" + FileName(file) + ":" + std::to_string(line) + ")");
        if (AssertsAsCudaToo()) {
          const std::string function = ReadString(read, Argument(frame, site, 3, lane), 4096);
          finding.detail += "\n  " + CudasAssertText(finding, FileName(file), line, function, message);
        }
        finding.first.file = file;
        finding.first.line = line;
        engine.Fault(warp, std::move(finding));
        return;
      }
      case Builtin::kMalloc:
        SetResult(frame, site, lane, MallocInKernel(warp, first));
        break;
      case Builtin::kFree:
        if (!FreeInKernel(warp, lane, first, "free", "malloc")) return;
        break;
      case Builtin::kDeviceRuntime:
        if (!CallRuntimeFunction(warp, site, frame, lane)) return;
        break;
      case Builtin::kNone:
        break;
    }
  }
}

}  // namespace lockstep::vgpu
