#include "judge/run/failure.h"

#include "judge/model/api_text.h"
#include "judge/model/text.h"

namespace lockstep::judge {
namespace {

using worker::ApiCall;
using worker::ApiKind;

// Whether there is nothing to do for the input: "n = 0, …", "width = 0, height = 7, …".
bool IsOfNothing(const std::string& input) { return (", " + input + ",").find(" = 0,") != std::string::npos; }

std::string LaunchHint(const ApiCall& launch, const CallContext& context) {
  const vgpu::Dim3 &grid = launch.grid, &block = launch.block;
  if (grid.Count() == 0 && IsOfNothing(context.input)) {
    return "a grid needs at least one block: when there is nothing to do, skip the launch";
  }
  if (grid.Count() == 0) {
    return "a grid needs at least one block, and here there is something to do: integer division rounds down, so round "
           "the number of blocks up";
  }
  if (block.Count() == 0) return "a block needs at least one thread";
  if (block.Count() > 1024)
    return "a block has at most 1,024 threads; cudaGetLastError() after the launch reports this";
  if (grid.y > 65535 || grid.z > 65535)
    return "gridDim.y and gridDim.z are at most 65,535; gridDim.x is at most 2,147,483,647";
  if (launch.error == static_cast<int>(vgpu::LaunchError::kCooperativeTooLarge)) {
    return "all blocks of a cooperative launch must fit on the GPU at once: launch at most "
           "cudaOccupancyMaxActiveBlocksPerMultiprocessor times the number of multiprocessors, and let each block do "
           "more";
  }
  if (launch.error == static_cast<int>(vgpu::LaunchError::kTooManyResources)) {
    return "the block needs more registers than there are: use fewer threads per block, or __launch_bounds__";
  }
  return "the block asks for more shared memory than it may have, 48 KB: add up the arrays that the kernel declares "
         "and the third launch argument";
}

bool IsCopy(const ApiCall& call) { return call.function.find("Memcpy") != std::string::npos; }

// As far as the calls before it tell.
std::string CopyHint(const CallReport& report, const ApiCall& copy) {
  const ApiCall* freed = nullptr;
  for (const ApiCall& call : report.trace) {
    if (&call == &copy) break;
    if (call.kind == ApiKind::kFree && !call.failed && call.address != 0) freed = &call;
  }
  if (freed != nullptr) {
    return "a buffer was freed before this copy" + (freed->call_site.empty() ? "" : ", " + AtSite(freed->call_site)) +
           ": does the copy use it?";
  }
  if (copy.bytes == 0) {
    return "cudaMemcpy takes destination, source, bytes, direction, and the direction must match the two pointers";
  }
  for (const ApiCall& call : report.trace) {
    if (&call == &copy) break;
    if (call.kind == ApiKind::kAllocate && !call.failed && call.bytes < copy.bytes) {
      return "the copy does not fit: its buffer has " + Grouped(call.bytes) +
             " bytes; cudaMalloc counts bytes, and n ints are n * sizeof(int)";
    }
  }
  return "do the bytes fit in both buffers, and are both still allocated?";
}

std::string CallHint(const CallReport& report, const ApiCall& call) {
  if (call.kind == ApiKind::kAllocate || call.function == "cudaMalloc") {
    return call.bytes > 0
               ? "out of device memory: is the size right (n ints are n * sizeof(int) bytes), and do you free every "
                 "buffer?"
               : "cudaMalloc(&a_d, bytes) sets your pointer, so it takes the pointer's address; a cast "
                 "hides that from the compiler";
  }
  if (IsCopy(call)) return CopyHint(report, call);
  if (call.function.find("Free") != std::string::npos) {
    return "free each buffer once, with the pointer that its allocation returned: cudaFree for cudaMalloc, "
           "cudaFreeHost for cudaMallocHost";
  }
  if (call.function.find("Memset") != std::string::npos) {
    return "cudaMemset takes a device pointer, the value of each byte, and the number of bytes: do they lie in one "
           "buffer?";
  }
  return "";
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
