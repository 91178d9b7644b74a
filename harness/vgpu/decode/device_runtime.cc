#include "vgpu/decode/device_runtime.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "vgpu/core/hint.h"
#include "vgpu/decode/kernel_heap.h"
#include "vgpu/exec/engine.h"
#include "vgpu/exec/grid_runtime.h"
#include "vgpu/isa/memory/memory_access.h"

namespace lockstep::vgpu {
namespace {

constexpr std::string_view kPrefix = "__cudaCDP2", kPerThread = "_ptsz";
constexpr uint64_t kMostParameterBytes = 64 << 10;
constexpr uint64_t kChunkBytes = 64 << 10;
constexpr uint64_t kLaunchCharge = 64;  // charge of a request against the launch's budget, in instructions
constexpr int kVersion = 6000;          // cudaRuntimeGetVersion's result in kernels, with CUDA 13.0

// A lane's call of a function.
struct LaneCall {
  Warp& warp;
  const CallSite& site;
  const FrameValues& frame;
  const int lane;
  GridRuntime& grid;

  Engine& engine() const { return *warp.engine; }
  uint64_t thread() const {
    return uint64_t{warp.block->index} << 32 |
           (warp.index * static_cast<uint32_t>(kWarpSize) + static_cast<uint32_t>(lane));
  }
  template <typename T>
  T Argument(size_t k) const {
    return ArgumentOf<T>(frame, site, k, lane);
  }
  uint64_t Word(size_t k) const { return Argument<uint64_t>(k); }
  Dim3 Dim(size_t k) const {
    struct Three {
      uint32_t x, y, z;
    };
    const Three dim = Argument<Three>(k);
    return {dim.x, dim.y, dim.z};
  }
  void Return(uint64_t value) const { SetResult(frame, site, lane, value); }
  // Returns the error, and sets it as the thread's last one.
  bool End(RuntimeError error) const {
    grid.SetError(thread(), error);
    Return(static_cast<uint32_t>(error));
    return true;
  }
  bool Fault(FindingKind kind, std::string detail, Hint hint = Hint::kNone) const {
    Finding finding = engine().MakeFinding(warp, warp.pc - 1, lane, kind, std::move(detail));
    finding.hint = hint;
    engine().Fault(warp, std::move(finding));
    return false;
  }
  // Stores a result for the program through its pointer. False after a fault.
  template <typename T>
  bool Store(uint64_t address, T value) const {
    return StoreLane(warp, lane, address, &value, sizeof value);
  }
  std::string Place() const {
    const ThreadPlace place = engine().Place(warp, warp.pc - 1, lane);
    if (place.line <= 0) return "";
    return place.file.substr(place.file.find_last_of('/') + 1) + ":" + std::to_string(place.line);
  }
  void Note(ChildWork work, uint64_t stream) const {
    work.place = Place();
    engine().Charge(warp, kLaunchCharge + work.parameters.size() / kBytesAnInstruction);
    grid.works().Add(std::move(work), stream == GridRuntime::kTailStream);
  }
};

// Device memory that lasts as long as the grid; 0 when there is none left.
uint64_t TakeMemory(const LaneCall& call, uint64_t bytes) {
  uint64_t address = call.grid.TakeParameters(bytes);
  if (address != 0) return address;
  const uint64_t chunk_bytes = std::max(kChunkBytes, bytes + kChunkBytes);
  const uint64_t chunk =
      call.engine().launch().memory->Allocate(chunk_bytes, "parameters of launches", "", true, false);
  if (chunk == 0) return 0;
  for (Observer* observer : call.engine().observers()) observer->OnAllocate(chunk, chunk_bytes);
  call.grid.AddChunk(chunk, chunk_bytes);
  return call.grid.TakeParameters(bytes);
}

// Looks up the child's kernel. False after a fault: there is none at this address.
bool Find(const LaneCall& call, uint64_t function, ChildKernel& child) {
  const KernelInfo* kernel = call.grid.kernels().at(function);
  if (kernel == nullptr) {
    return call.Fault(FindingKind::kInvalidAddress,
                      "a kernel launches a function pointer, but no kernel is at that address");
  }
  child.name = kernel->mangled;
  child.parameter_bytes = kernel->parameter_bytes;
  return true;
}

// Records the launch and copies its parameters.
bool Launch(const LaneCall& call, const ChildKernel& child, uint64_t buffer, uint64_t stream) {
  if (!call.grid.IsStream(stream)) return call.End(RuntimeError::kInvalidValue);
  const RuntimeError error = call.grid.kernels().check(child);
  if (error != RuntimeError::kNone) return call.End(error);
  if (call.grid.works().pending() >= call.grid.answers().most_pending()) {
    return call.End(RuntimeError::kLaunchPendingCountExceeded);
  }
  ChildWork work;
  work.kernel = child;
  work.parameters.resize(child.parameter_bytes);
  const uint8_t* from = LocateLane(call.warp, call.lane, buffer, child.parameter_bytes);
  if (from == nullptr && child.parameter_bytes != 0) return call.End(RuntimeError::kInvalidValue);
  if (child.parameter_bytes != 0) std::memcpy(work.parameters.data(), from, child.parameter_bytes);
  call.Note(std::move(work), stream);
  return call.End(RuntimeError::kNone);
}

// void* (void* kernel, dim3 grid, dim3 block, unsigned shared): the launch checks whether these are valid
bool GetParameterBufferV2(const LaneCall& call) {
  ChildKernel child{"", call.Dim(1), call.Dim(2), call.Argument<uint32_t>(3)};
  if (!Find(call, call.Word(0), child)) return false;
  const uint64_t buffer = TakeMemory(call, child.parameter_bytes);
  if (buffer == 0) call.grid.SetError(call.thread(), RuntimeError::kMemoryAllocation);
  if (buffer != 0) call.grid.open()[buffer] = std::move(child);
  call.Return(buffer);
  return true;
}
// (void* buffer, cudaStream_t)
bool LaunchDeviceV2(const LaneCall& call) {
  const auto open = call.grid.open().find(call.Word(0));
  if (open == call.grid.open().end()) return call.End(RuntimeError::kInvalidValue);
  const ChildKernel child = std::move(open->second);
  call.grid.open().erase(open);
  return Launch(call, child, call.Word(0), call.Word(1));
}
// void* (size_t alignment, size_t bytes)
bool GetParameterBuffer(const LaneCall& call) {
  const uint64_t bytes = call.Word(1);
  const uint64_t buffer = bytes <= kMostParameterBytes ? TakeMemory(call, bytes) : 0;
  if (buffer == 0) call.grid.SetError(call.thread(), RuntimeError::kInvalidValue);
  call.Return(buffer);
  return true;
}
// (void* kernel, void* buffer, dim3 grid, dim3 block, unsigned shared, cudaStream_t)
bool LaunchDevice(const LaneCall& call) {
  ChildKernel child{"", call.Dim(2), call.Dim(3), call.Argument<uint32_t>(4)};
  if (!Find(call, call.Word(0), child)) return false;
  return Launch(call, child, call.Word(1), call.Word(5));
}

bool GetLastError(const LaneCall& call) {
  call.Return(static_cast<uint32_t>(call.grid.TakeError(call.thread())));
  return true;
}
bool PeekAtLastError(const LaneCall& call) {
  call.Return(static_cast<uint32_t>(call.grid.PeekError(call.thread())));
  return true;
}

// Returns the address of a copy of the text in device memory.
bool ReturnText(const LaneCall& call, std::string_view text) {
  uint64_t& address = call.grid.texts()[std::string(text)];
  if (address == 0) {
    address = TakeMemory(call, text.size() + 1);
    if (address == 0) return call.Fault(FindingKind::kUnsupported, "there is no memory left for an error's text");
    std::memcpy(reinterpret_cast<void*>(address), std::string(text).c_str(), text.size() + 1);
    for (Observer* observer : call.engine().observers()) observer->OnHostWrite(address, text.size() + 1);
  }
  call.Return(address);
  return true;
}
bool GetErrorString(const LaneCall& call) {
  return ReturnText(call, call.grid.answers().error_text(call.Argument<uint32_t>(0)));
}
bool GetErrorName(const LaneCall& call) {
  return ReturnText(call, call.grid.answers().error_name(call.Argument<uint32_t>(0)));
}

// (cudaStream_t*, unsigned flags)
bool StreamCreateWithFlags(const LaneCall& call) {
  constexpr uint32_t kNonBlocking = 1;
  if (call.Argument<uint32_t>(1) > kNonBlocking) return call.End(RuntimeError::kInvalidValue);
  return call.Store(call.Word(0), call.grid.MakeStream()) && call.End(RuntimeError::kNone);
}
bool StreamDestroy(const LaneCall& call) {
  return call.End(call.grid.DestroyStream(call.Word(0)) ? RuntimeError::kNone : RuntimeError::kInvalidValue);
}
// (cudaEvent_t*, unsigned flags)
bool EventCreateWithFlags(const LaneCall& call) {
  constexpr uint32_t kBlockingSync = 1, kDisableTiming = 2;
  if ((call.Argument<uint32_t>(1) | kBlockingSync) != (kBlockingSync | kDisableTiming))
    return call.End(RuntimeError::kInvalidValue);
  return call.Store(call.Word(0), call.grid.MakeEvent()) && call.End(RuntimeError::kNone);
}
bool EventDestroy(const LaneCall& call) {
  return call.End(call.grid.DestroyEvent(call.Word(0)) ? RuntimeError::kNone : RuntimeError::kInvalidValue);
}
bool Meet(const LaneCall& call, uint64_t event, uint64_t stream) {
  const bool may = call.grid.IsEvent(event) && call.grid.IsStream(stream) && GridRuntime::IsOrdered(stream);
  return call.End(may ? RuntimeError::kNone : RuntimeError::kInvalidValue);
}
// (cudaEvent_t, cudaStream_t, …): all requests so far are done before later ones.
bool EventRecord(const LaneCall& call) { return Meet(call, call.Word(0), call.Word(1)); }
// (cudaStream_t, cudaEvent_t, unsigned flags)
bool StreamWaitEvent(const LaneCall& call) { return Meet(call, call.Word(1), call.Word(0)); }

// cudaMemcpyDeviceToDevice, cudaMemcpyDefault
bool IsWithinDevice(uint32_t kind) { return kind == 3 || kind == 4; }
// Shared and local memory ends with its block.
bool IsOfThread(uint64_t address) { return InWindow(address, kSharedWindow) || InWindow(address, kLocalWindow); }

bool NoteMemory(const LaneCall& call, ChildWork work, uint64_t stream) {
  const bool copies = work.kind == ChildWork::Kind::kCopy;
  if (!call.grid.IsStream(stream) || IsOfThread(work.to) || (copies && IsOfThread(work.from))) {
    return call.End(RuntimeError::kInvalidValue);
  }
  if (!copies && work.value != 0) {
    return call.Fault(
        FindingKind::kUnsupported,
        "cudaMemsetAsync in a kernel with a value that is not 0: on an H100, CUDA 13.0 fills with 0 anyway",
        Hint::kFillInKernel);
  }
  if (work.width != 0 && work.rows != 0) call.Note(std::move(work), stream);
  return call.End(RuntimeError::kNone);
}
ChildWork CopyOf(uint64_t to, uint64_t to_pitch, uint64_t from, uint64_t from_pitch, uint64_t width, uint64_t rows) {
  ChildWork work;
  work.kind = ChildWork::Kind::kCopy;
  work.to = to, work.to_pitch = to_pitch, work.from = from, work.from_pitch = from_pitch;
  work.width = width, work.rows = rows;
  return work;
}
ChildWork FillOf(uint64_t to, uint64_t to_pitch, uint32_t value, uint64_t width, uint64_t rows) {
  ChildWork work;
  work.kind = ChildWork::Kind::kFill;
  work.to = to, work.to_pitch = to_pitch, work.value = static_cast<uint8_t>(value);
  work.width = width, work.rows = rows;
  return work;
}
// (void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t)
bool MemcpyAsync(const LaneCall& call) {
  if (!IsWithinDevice(call.Argument<uint32_t>(3))) return call.End(RuntimeError::kInvalidMemcpyDirection);
  return NoteMemory(call, CopyOf(call.Word(0), 0, call.Word(1), 0, call.Word(2), 1), call.Word(4));
}
// (void* to, size_t pitch, const void* from, size_t pitch, size_t width, size_t rows, cudaMemcpyKind, cudaStream_t)
bool Memcpy2DAsync(const LaneCall& call) {
  if (!IsWithinDevice(call.Argument<uint32_t>(6))) return call.End(RuntimeError::kInvalidMemcpyDirection);
  return NoteMemory(call, CopyOf(call.Word(0), call.Word(1), call.Word(2), call.Word(3), call.Word(4), call.Word(5)),
                    call.Word(7));
}
// (void* to, int value, size_t bytes, cudaStream_t)
bool MemsetAsync(const LaneCall& call) {
  return NoteMemory(call, FillOf(call.Word(0), 0, call.Argument<uint32_t>(1), call.Word(2), 1), call.Word(3));
}
// (void* to, size_t pitch, int value, size_t width, size_t rows, cudaStream_t)
bool Memset2DAsync(const LaneCall& call) {
  return NoteMemory(call, FillOf(call.Word(0), call.Word(1), call.Argument<uint32_t>(2), call.Word(3), call.Word(4)),
                    call.Word(5));
}

// (void**, size_t bytes): from the heap that malloc takes from
bool Malloc(const LaneCall& call) {
  if (call.Word(1) == 0) return call.End(RuntimeError::kInvalidValue);
  const uint64_t address = MallocInKernel(call.warp, call.Word(1));
  if (address == 0) return call.End(RuntimeError::kMemoryAllocation);
  return call.Store(call.Word(0), address) && call.End(RuntimeError::kNone);
}
bool Free(const LaneCall& call) {
  return FreeInKernel(call.warp, call.lane, call.Word(0), "cudaFree", "cudaMalloc") && call.End(RuntimeError::kNone);
}

// (int*)
bool GetDevice(const LaneCall& call) {
  return call.Store(call.Word(0), call.grid.answers().device) && call.End(RuntimeError::kNone);
}
bool GetDeviceCount(const LaneCall& call) {
  return call.Store(call.Word(0), call.grid.answers().device_count()) && call.End(RuntimeError::kNone);
}
bool DeviceGetCacheConfig(const LaneCall& call) {
  return call.Store(call.Word(0), call.grid.answers().cache_config()) && call.End(RuntimeError::kNone);
}
// (int* value, cudaDeviceAttr, int device)
bool DeviceGetAttribute(const LaneCall& call) {
  int value = 0;
  const int attribute = call.Argument<int>(1);
  const auto error = static_cast<RuntimeError>(call.grid.answers().attribute(attribute, call.Argument<int>(2), &value));
  if (error != RuntimeError::kNone) return call.End(error);
  return call.Store(call.Word(0), value) && call.End(error);
}
// (size_t* value, cudaLimit)
bool DeviceGetLimit(const LaneCall& call) {
  uint64_t value = 0;
  const auto limit = call.Argument<int>(1);
  auto error = RuntimeError::kNone;  // CUDA stores 0 for negative limits
  if (limit >= 0) error = static_cast<RuntimeError>(call.grid.answers().limit(static_cast<uint32_t>(limit), &value));
  if (error == RuntimeError::kUnsupportedLimit && !call.Store(call.Word(0), UINT64_MAX)) return false;
  if (error != RuntimeError::kNone) return call.End(error);
  return call.Store(call.Word(0), value) && call.End(error);
}
// (cudaFuncAttributes*, const void* kernel)
bool FuncGetAttributes(const LaneCall& call) {
  const KernelInfo* const kernel = call.grid.kernels().at(call.Word(1));
  if (kernel == nullptr) return call.End(RuntimeError::kInvalidDeviceFunction);
  const std::string all = call.grid.answers().attributes(*kernel);
  for (size_t at = 0; at + sizeof(uint32_t) <= all.size(); at += sizeof(uint32_t)) {
    uint32_t word = 0;
    std::memcpy(&word, all.data() + at, sizeof word);
    if (!call.Store(call.Word(0) + at, word)) return false;
  }
  return call.End(RuntimeError::kNone);
}
// (int* blocks, const void* kernel, int threads, size_t shared)
bool OccupancyMaxActiveBlocksPerMultiprocessor(const LaneCall& call) {
  const KernelInfo* const kernel = call.grid.kernels().at(call.Word(1));
  if (kernel == nullptr) return call.End(RuntimeError::kInvalidDeviceFunction);
  const int threads = call.Argument<int>(2);
  if (threads <= 0) return call.End(RuntimeError::kInvalidValue);
  return call.Store(call.Word(0), call.grid.answers().resident(*kernel, threads, call.Word(3))) &&
         call.End(RuntimeError::kNone);
}
// (cudaGraphConditionalHandle, unsigned value)
bool GraphSetConditional(const LaneCall& call) {
  if (call.grid.answers().set_condition(call.Word(0), call.Argument<uint32_t>(1))) return true;
  return call.Fault(FindingKind::kInvalidAddress, "cudaGraphSetConditional of a handle that no graph has");
}
// (cudaGraphExec_t, cudaStream_t)
bool GraphLaunch(const LaneCall& call) {
  if (call.grid.graph() == 0)
    return call.Fault(FindingKind::kUnsupported, "cudaGraphLaunch in a kernel that no graph has launched");
  const auto error = call.grid.answers().launch_graph(call.Word(0), call.Word(1), call.grid.graph());
  if (error.has_value()) return call.End(static_cast<RuntimeError>(*error));
  return call.Fault(FindingKind::kInvalidAddress, "cudaGraphLaunch of a handle that no graph for device launch has");
}
bool RuntimeGetVersion(const LaneCall& call) {
  return call.Store(call.Word(0), kVersion) && call.End(RuntimeError::kNone);
}

struct Function {
  std::string_view name;
  bool (*run)(const LaneCall& call);
};
#define LOCKSTEP_RUNTIME_FUNCTION(name) {#name, name}
constexpr Function kFunctions[] = {
    LOCKSTEP_RUNTIME_FUNCTION(DeviceGetAttribute),
    LOCKSTEP_RUNTIME_FUNCTION(DeviceGetCacheConfig),
    LOCKSTEP_RUNTIME_FUNCTION(DeviceGetLimit),
    LOCKSTEP_RUNTIME_FUNCTION(EventCreateWithFlags),
    LOCKSTEP_RUNTIME_FUNCTION(EventDestroy),
    LOCKSTEP_RUNTIME_FUNCTION(EventRecord),
    {"EventRecordWithFlags", EventRecord},
    LOCKSTEP_RUNTIME_FUNCTION(Free),
    LOCKSTEP_RUNTIME_FUNCTION(FuncGetAttributes),
    LOCKSTEP_RUNTIME_FUNCTION(GetDevice),
    LOCKSTEP_RUNTIME_FUNCTION(GetDeviceCount),
    LOCKSTEP_RUNTIME_FUNCTION(GetErrorName),
    LOCKSTEP_RUNTIME_FUNCTION(GetErrorString),
    LOCKSTEP_RUNTIME_FUNCTION(GetLastError),
    LOCKSTEP_RUNTIME_FUNCTION(GetParameterBuffer),
    LOCKSTEP_RUNTIME_FUNCTION(GetParameterBufferV2),
    LOCKSTEP_RUNTIME_FUNCTION(GraphLaunch),
    LOCKSTEP_RUNTIME_FUNCTION(GraphSetConditional),
    LOCKSTEP_RUNTIME_FUNCTION(LaunchDevice),
    LOCKSTEP_RUNTIME_FUNCTION(LaunchDeviceV2),
    LOCKSTEP_RUNTIME_FUNCTION(Malloc),
    LOCKSTEP_RUNTIME_FUNCTION(Memcpy2DAsync),
    LOCKSTEP_RUNTIME_FUNCTION(MemcpyAsync),
    LOCKSTEP_RUNTIME_FUNCTION(Memset2DAsync),
    LOCKSTEP_RUNTIME_FUNCTION(MemsetAsync),
    LOCKSTEP_RUNTIME_FUNCTION(OccupancyMaxActiveBlocksPerMultiprocessor),
    {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", OccupancyMaxActiveBlocksPerMultiprocessor},
    LOCKSTEP_RUNTIME_FUNCTION(PeekAtLastError),
    LOCKSTEP_RUNTIME_FUNCTION(RuntimeGetVersion),
    LOCKSTEP_RUNTIME_FUNCTION(StreamCreateWithFlags),
    LOCKSTEP_RUNTIME_FUNCTION(StreamDestroy),
    LOCKSTEP_RUNTIME_FUNCTION(StreamWaitEvent),
};
#undef LOCKSTEP_RUNTIME_FUNCTION

// The name without nvcc's prefix and suffix.
std::string_view Core(std::string_view name) {
  constexpr std::string_view kPlain = "cuda";  // nvcc leaves the names of graphs' functions as they are
  const bool is_plain = name.starts_with("cudaGraph");
  if (!is_plain && !name.starts_with(kPrefix)) return "";
  name.remove_prefix(is_plain ? kPlain.size() : kPrefix.size());
  if (name.ends_with(kPerThread)) name.remove_suffix(kPerThread.size());
  return name;
}

}  // namespace

std::string RuntimeFunctionName(std::string_view name) {
  const std::string_view core = Core(name);
  return core.empty() ? "" : "cuda" + std::string(core);
}

int FindRuntimeFunction(std::string_view name) {
  const std::string_view core = Core(name);
  const auto* found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const Function& function) { return function.name == core; });
  return found == std::end(kFunctions) ? kNoRuntimeFunction : static_cast<int>(found - std::begin(kFunctions));
}

bool CallRuntimeFunction(Warp& warp, const CallSite& site, const FrameValues& frame, int lane) {
  Engine& engine = *warp.engine;
  const Function& function = kFunctions[site.runtime_function];
  if (engine.launch().runtime == nullptr) {
    Finding finding = engine.MakeFinding(
        warp, warp.pc - 1, lane, FindingKind::kUnsupported,
        "cuda" + std::string(function.name) + " in a kernel: kernels of submissions don't launch kernels");
    finding.hint = Hint::kLaunchFromHost;
    engine.Fault(warp, std::move(finding));
    return false;
  }
  return function.run({warp, site, frame, lane, *engine.launch().runtime});
}

}  // namespace lockstep::vgpu
