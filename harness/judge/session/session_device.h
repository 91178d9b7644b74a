// Serves a worker on a virtual GPU that the judge owns, and keeps a trace of its requests.
//
// The worker may copy from and to what it allocated, its own module's variables, and the buffers that the
// current call passed to it; it frees only its own. (Its kernels, as on the hardware, reach all live memory:
// expected values belong on the host.) Everything it made is freed when the session ends, so a session is stopped
// before its device is Reset.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "judge/session/buffer_use.h"
#include "judge/session/launch_editor.h"
#include "judge/session/session.h"
#include "judge/session/session_streams.h"
#include "protocol/wire_device.h"
#include "vgpu/device/device.h"

namespace lockstep::worker {

enum class ApiKind : uint8_t {
  kOther,  // streams, events, queries, …: no request carried it
  kAllocate,
  kFree,
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kFill,
  kLaunch,
  kReset,
};

// One CUDA call of the worker's.
struct ApiCall {
  ApiKind kind = ApiKind::kOther;
  std::string function;   // "cudaMemcpy"; the worker's word, letters, digits and underscores only
  std::string call_site;  // "reduction.cu:120" where known
  std::string kernel;     // kLaunch: mangled
  uint64_t bytes = 0;     // allocations, copies, fills
  uint64_t address = 0;   // of device memory: allocated, freed, or the copy's device side (destination first)
  bool failed = false;
  int error = 0;                             // kOther: the cudaError_t; kLaunch: the vgpu::LaunchError
  vgpu::Dim3 grid{0, 0, 0}, block{0, 0, 0};  // kLaunch
  std::string kernel_name;                   // kLaunch: demangled, without parameters
  uint64_t from = 0;                         // kDeviceToDevice: the copy's source
  bool foreign = false;                      // kLaunch: its kernel is not of the options' image
  std::string stream;                        // "stream 2"; "" where streams are not watched; the worker's word
};

struct DeviceServerOptions {
  uint64_t memory_bytes = uint64_t{2} << 30;  // that the worker may allocate in all
  // Bounds of what a session's records take in the judge. Right programs need a hundredth of each; a call that goes
  // beyond one is told of in violations().
  uint64_t allocations = 65'536;                  // that live at one time
  uint64_t modules = 256;                         // loaded and not unloaded, or refused
  uint64_t ptx_bytes = uint64_t{8} << 20;         // of their texts, decompressed; its syntax takes twenty times as much
  uint64_t name_bytes = 4096;                     // of a kernel's name: each launch has a copy
  uint64_t demangled_bytes = uint64_t{64} << 20;  // that such a name may stand for
  uint64_t origin_bytes = 256;                    // of a function's name, and of a call site: each call has a copy
  uint64_t streams = 4096;                        // that an operation is ordered by
  bool cublas = false, cufft = false;             // whether it may have the library's work done
  std::vector<uint8_t> image;                     // the device code that its kernels are from; empty: nobody asks
  size_t trace_calls = 100'000;
  LaunchEditor* editor = nullptr;  // that launches go through; nullptr: there is none
  uint64_t print_bytes = 1'000'000;
};

class DeviceServer : public CudaServer {
 public:
  explicit DeviceServer(vgpu::Device& device, DeviceServerOptions options = {});

  void BeginCall(std::span<const Argument> arguments) override;
  Message Serve(const Message& request) override;
  void EndSession() override;

  // Since the last ClearTrace.
  const std::vector<ApiCall>& trace() const { return trace_; }
  uint64_t trace_dropped() const { return trace_dropped_; }
  // The same as operations of streams.
  const std::vector<StreamedOperation>& operations() const { return log_.operations(); }
  // What succeeded since the last ClearTrace, and what became of the buffers of the last call.
  MemoryUse memory_use() const;
  // Attempts to copy from, write to or free memory of the judge's that was not passed: one sentence each. Also that the
  // trace has no room for all calls: then it can't be judged.
  const std::vector<std::string>& violations() const { return violations_; }
  void ClearTrace();
  // The nth allocation (from 1) of the next call runs out of memory; the nth copy of the next call fails.
  void FailAllocation(uint64_t nth) { failing_next_.allocation = nth; }
  void FailCopy(uint64_t nth) { failing_next_.copy = nth; }
  // Kernels' modelled times are told to the program in steps of so many microseconds; 0: in powers of two, which tell
  // it next to nothing of what a kernel found in a buffer. For tasks whose result is no secret of the judge's.
  void QuantizeTimes(double step_us) { time_step_us_ = step_us; }
  // What the worker allocated and has not freed.
  std::vector<vgpu::Device::AllocationInfo> Allocations() const;

  // For DeviceOptions::print: what kernels print, cut at options.print_bytes.
  void Print(std::string_view text);
  const std::string& printed() const { return printed_; }

 private:
  struct Request;
  // Says once a call that a bound was passed.
  void PassedBound(const std::string& sentence);
  WireOrigin OriginOf(Decoder& in) const;
  const vgpu::KernelInfo* FindOwnKernel(vgpu::ModuleHandle module, const std::string& name);
  Message LoadModule(const Message& request);
  void Answer(Request& request);
  void AnswerTransfer(Request& request);
  bool AnswersStreams(Request& request);
  bool MayTouch(uint64_t address, uint64_t bytes, const std::string& function);
  void Record(ApiCall call, bool continued = false);
  void Count(const ApiCall& done);
  // How far into its buffer an address lies: into what the launcher was given, an allocation, or a variable.
  uint64_t PlaceInBuffer(uint64_t address) const;
  bool IsOwn(uint64_t address, uint64_t bytes) const;
  void Watch(uint64_t base, uint64_t bytes);
  void WatchVariables(vgpu::ModuleHandle module);
  bool OwnsModule(vgpu::ModuleHandle module) const { return modules_.count(module) != 0; }
  void Unload(vgpu::ModuleHandle module, uint64_t text_bytes);
  void FreeAll();

  vgpu::Device& device_;
  const DeviceServerOptions options_;
  std::map<vgpu::ModuleHandle, uint64_t> modules_;  // → bytes of its texts
  std::map<uint64_t, uint64_t> owned_;              // base → bytes
  std::map<uint64_t, uint64_t> variables_;          // base → bytes, of the worker's modules
  std::map<uint64_t, uint64_t> passed_;             // base → the lowest address in it that the call was given
  std::map<vgpu::ModuleHandle, std::vector<std::string>> texts_;  // for the editor, if there is one
  std::set<std::string> made_;                                    // the texts of the options' image
  std::set<vgpu::ModuleHandle> foreign_;                          // modules of other texts
  uint64_t owned_bytes_ = 0, ptx_bytes_ = 0, modules_loaded_ = 0, allocations_made_ = 0;
  // Which request fails, counted from 1; 0: none.
  struct Failing {
    uint64_t allocation = 0, copy = 0;
  };
  Failing failing_next_, failing_;  // in the next call; in this one, from here on
  MemoryUse use_;
  size_t watched_variables_ = 0;
  uint64_t most_kept_ = 0;  // bytes of use_.to_host
  double time_step_us_ = 0;
  std::string stream_;  // of the operation that has begun
  std::vector<ApiCall> trace_;
  OperationLog log_;
  uint64_t trace_dropped_ = 0;
  std::vector<std::string> violations_;
  std::string printed_;
};

}  // namespace lockstep::worker
