#include "judge/run/failure.h"

#include "judge/model/api_text.h"
#include "judge/model/text.h"
#include "vgpu/core/hint.h"

namespace lockstep::judge {
namespace {

using worker::ApiCall;
using worker::ApiKind;

// Whether the input is empty: "n = 0, …", "width = 0, height = 7, …".
bool IsOfNothing(const std::string& input) { return (", " + input + ",").find(" = 0,") != std::string::npos; }

HintText LaunchHint(const ApiCall& launch, const CallContext& context) {
  const vgpu::Dim3 &grid = launch.grid, &block = launch.block;
  if (grid.Count() == 0 && IsOfNothing(context.input)) return Hint::kGridForNothing;
  if (grid.Count() == 0) return {Hint::kGridRoundedDown, {}, {"blocks"}};
  if (block.Count() == 0) return Hint::kEmptyBlock;
  if (block.Count() > 1024 && grid.Count() <= 1024 && grid.Count() % 32 == 0) return Hint::kGridAsBlock;
  if (block.Count() > 1024) return Hint::kBlockTooLarge;
  if (grid.y > 65535 || grid.z > 65535) return Hint::kGridTooHigh;
  if (launch.error == static_cast<int>(vgpu::LaunchError::kCooperativeTooLarge)) return Hint::kCooperativeTooLarge;
  if (launch.error == static_cast<int>(vgpu::LaunchError::kTooManyResources)) return Hint::kTooManyRegisters;
  return Hint::kTooMuchShared;
}

constexpr int kInvalidSymbol = 13;   // cudaErrorInvalidSymbol
constexpr int kInvalidHandle = 400;  // cudaErrorInvalidResourceHandle

bool IsCopy(const ApiCall& call) { return call.function.find("Memcpy") != std::string::npos; }

// Derived from the preceding calls.
HintText CopyHint(const CallReport& report, const ApiCall& copy) {
  const ApiCall* freed = nullptr;
  for (const ApiCall& call : report.trace) {
    if (&call == &copy) break;
    if (call.kind == ApiKind::kFree && !call.failed && call.address != 0) freed = &call;
  }
  if (freed != nullptr) {
    return {Hint::kCopyOfFreed, {freed->call_site.empty() ? "" : ", " + AtSite(freed->call_site)}};
  }
  const bool is_peer = copy.function.find("Peer") != std::string::npos;
  if (copy.bytes == 0) return is_peer ? Hint::kPeerArguments : Hint::kCopyArguments;
  for (const ApiCall& call : report.trace) {
    if (&call == &copy) break;
    if (call.kind == ApiKind::kAllocate && !call.failed && call.bytes < copy.bytes) {
      return {Hint::kCopyTooLarge, {Grouped(call.bytes)}};
    }
  }
  return Hint::kCopyBytes;
}

HintText CallHint(const CallReport& report, const ApiCall& call) {
  if (call.error == kInvalidSymbol) return Hint::kSymbolItself;
  if (call.error == kInvalidHandle) return Hint::kForeignStream;
  if (call.kind == ApiKind::kAllocate || call.function == "cudaMalloc") {
    return call.bytes > 0 ? Hint::kOutOfMemory : Hint::kMallocByValue;
  }
  if (IsCopy(call)) return CopyHint(report, call);
  if (call.function.find("Free") != std::string::npos) return Hint::kFreedTwice;
  if (call.function.find("Memset") != std::string::npos) return Hint::kFillArguments;
  return {};
}

}  // namespace

Failure FirstFailure(const CallReport& report, const CallContext& context) {
  for (const ApiCall& call : report.trace) {
    if (!call.failed) continue;
    const vgpu::MessageLine at = LineAt("failed", call.call_site);
    const std::string site = at.text.empty() ? "" : "  " + at.text;
    if (call.kind == ApiKind::kLaunch) {
      return {{"failed", LaunchText(Printable(call.kernel_name), call.grid, call.block) + site, at.file, at.line},
              LaunchHint(call, context)};
    }
    const std::string bytes = call.bytes > 0 ? " of " + Counted(call.bytes, "byte") : "";
    return {{"failed", call.function + bytes + site, at.file, at.line}, CallHint(report, call)};
  }
  return {};
}

}  // namespace lockstep::judge
