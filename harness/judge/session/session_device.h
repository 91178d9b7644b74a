// Serves a worker on a virtual GPU that the judge owns, and keeps a trace of its requests. Several devices of a worker
// share that GPU's memory: each allocation belongs to one of them, whose kernels alone reach it.
//
// The worker may copy from and to its own allocations, its modules' variables, and the buffers passed to the current
// call; it may free only its own. (Its kernels, as on hardware, can access all live memory, so expected values must
// stay on the host.) Everything it created is freed when the session ends, so a session must be stopped before its
// device is Reset.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
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
  kOther,  // streams, events, queries, …: local to the worker, without a request
  kAllocate,
  kFree,
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kFill,
  kLaunch,
  kReset,
};

// One CUDA call of the worker.
struct ApiCall {
  ApiKind kind = ApiKind::kOther;
  std::string function;   // "cudaMemcpy"; as reported by the worker, only letters, digits and underscores
  std::string call_site;  // "reduction.cu:120" if known
  std::string kernel;     // kLaunch: mangled
  uint64_t bytes = 0;     // allocations, copies, fills
  uint64_t address = 0;   // allocated, freed, filled, or the device side of a copy (kDeviceToDevice: the destination)
  bool failed = false;
  int error = 0;                             // kOther: the cudaError_t; kLaunch: the vgpu::LaunchError
  vgpu::Dim3 grid{0, 0, 0}, block{0, 0, 0};  // kLaunch
  std::string kernel_name;                   // kLaunch: demangled, without parameters
  uint64_t from = 0;                         // kDeviceToDevice: the copy's source
  bool foreign = false;                      // kLaunch: its kernel is not from the options' image
  std::array<uint64_t, 2> events = {};  // that were recorded, or asked for the time between, as reported by the worker
  std::string stream;                   // "stream 2", as reported by the worker; "" if streams are not observed
};

struct DeviceServerOptions {
  uint64_t memory_bytes = uint64_t{2} << 30;  // total that the worker may allocate
  int devices = 1;                            // the number of devices that the worker has
  // Limits on a session's records in the judge. Correct programs need a hundredth of each; exceeding one is reported in
  // violations().
  uint64_t allocations = 65'536;           // live at the same time
  uint64_t modules = 256;                  // loaded and not unloaded, or refused
  uint64_t ptx_bytes = uint64_t{8} << 20;  // of decompressed module texts; parsed they take twenty times as much
  uint64_t name_bytes = 4096;              // of a kernel's name: each launch has a copy
  uint64_t origin_bytes = 256;             // of a function's name or call site: each call has a copy
  uint64_t streams = 4096;                 // that order one operation
  bool cublas = false, cufft = false;      // whether it may use the library
  std::vector<uint8_t> image;              // the device code its kernels must be from; empty: not checked
  size_t trace_calls = 100'000;
  LaunchEditor* editor = nullptr;  // intercepts launches; nullptr: none
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
  // The trace as operations of streams.
  const std::vector<StreamedOperation>& operations() const { return log_.operations(); }
  // Successful requests since the last ClearTrace, and their effects on the last call's buffers.
  MemoryUse memory_use() const;
  // Bytes that the program had allocated when the call began.
  uint64_t held_before() const { return held_before_; }
  // Attempts to copy from, write to or free memory of the judge's that was not passed, and exceeded limits of the
  // options: one sentence each. With a full trace the call can't be judged.
  const std::vector<std::string>& violations() const { return violations_; }
  void ClearTrace();
  // Makes the nth allocation (from 1) of the next call fail with out of memory; FailCopy makes the nth copy fail, and
  // FailLaunch the nth launch with out of resources. A copy to the device that fails has moved its bytes, as on a GPU
  // where it reports earlier work's error: only its error tells.
  void FailAllocation(uint64_t nth) { failing_next_.allocation = nth; }
  void FailCopy(uint64_t nth) { failing_next_.copy = nth; }
  void FailLaunch(uint64_t nth) { failing_next_.launch = nth; }
  // Rounds kernels' modelled times reported to the program up to steps of this many microseconds, for tasks whose
  // result need not be secret; 0: up to powers of two, which reveal almost nothing of a buffer's contents.
  void QuantizeTimes(double step_us) { time_step_us_ = step_us; }
  // The worker's live allocations.
  std::vector<vgpu::Device::AllocationInfo> Allocations() const;

  // For DeviceOptions::print: kernel output, truncated at options.print_bytes.
  void Print(std::string_view text);
  const std::string& printed() const { return printed_; }

 private:
  // The requests: each decoded, checked, done and recorded by a function of its own, which Serve calls.
#define REQUEST(name, number, most_bytes, answer, ...) answer name(__VA_ARGS__);
#include "protocol/messages.inc"
  template <class Answer, class... Field>
  Message AnswerBy(Answer (DeviceServer::*act)(Field...), const Message& request);
  // Reports once per call that a limit was exceeded.
  void PassedBound(const std::string& sentence);
  template <class Field>
  void Shorten(Field&) const {}
  void Shorten(WireOrigin& origin) const;
  void Shorten(vgpu::StreamPoint& point) const;
  const vgpu::KernelInfo* FindOwnKernel(vgpu::ModuleHandle module, const std::string& name);
  vgpu::ModuleHandle Load(std::span<const std::span<const uint8_t>> images);
  vgpu::LaunchResult Launched(vgpu::LaunchResult result, size_t launches_before, ApiCall call);
  // Whether this copy is the one to fail.
  bool CopyFails() { return !continued_ && failing_.copy > 0 && --failing_.copy == 0; }
  bool Transferred(ApiCall call, bool done);
  bool MayTouch(uint64_t address, uint64_t bytes, const std::string& function);
  void Record(ApiCall call);
  void Count(const ApiCall& done);
  const vgpu::TouchedRange* WatchedAt(uint64_t address) const;
  bool KernelsStored(uint64_t address, uint64_t bytes) const;
  void KeepOutput(uint64_t from, uint64_t bytes);
  void KeepReceived(uint64_t to, uint64_t bytes);
  // The offset of an address in its buffer: a passed one, an allocation, or a variable.
  uint64_t PlaceInBuffer(uint64_t address) const;
  bool IsConstant(uint64_t address) const;
  bool IsOwn(uint64_t address, uint64_t bytes) const;
  void Watch(uint64_t base, uint64_t bytes);
  void WatchVariables(vgpu::ModuleHandle module);
  bool OwnsModule(vgpu::ModuleHandle module) const { return modules_.count(module) != 0; }
  void Unload(vgpu::ModuleHandle module, uint64_t text_bytes);
  void FreeAll(std::optional<int> device = std::nullopt);

  static constexpr size_t kMostWatched = 64;  // of a call's allocations; as many of the program's variables
  vgpu::Device& device_;
  const DeviceServerOptions options_;
  std::map<vgpu::ModuleHandle, uint64_t> modules_;  // → bytes of its texts
  std::map<vgpu::ModuleHandle, int> device_of_;     // the device that loaded it
  std::map<uint64_t, uint64_t> owned_;              // base → bytes
  std::map<uint64_t, uint64_t> variables_;          // base → bytes, of the worker's modules
  std::map<uint64_t, uint64_t> passed_;             // base → the lowest address in it that the call was given
  std::map<vgpu::ModuleHandle, std::vector<std::string>> texts_;  // for the editor, if there is one
  std::set<std::string> made_;                                    // the texts in the options' image
  std::set<vgpu::ModuleHandle> foreign_;                          // modules with other texts
  uint64_t owned_bytes_ = 0, held_before_ = 0, ptx_bytes_ = 0, modules_loaded_ = 0, allocations_made_ = 0;
  // The index of the request to fail, counted from 1; 0: none.
  struct Failing {
    uint64_t allocation = 0, copy = 0, launch = 0;
  };
  Failing failing_next_, failing_;  // in the next call; remaining in this one
  MemoryUse use_;
  size_t watched_variables_ = 0;
  uint64_t most_kept_ = 0;  // limits the bytes kept in use_.to_host and the like
  double time_step_us_ = 0;
  std::string stream_;      // of the current operation
  bool continued_ = false;  // the request being served is a further piece of a transfer
  int asked_ = 0;           // the device of the request being served
  std::vector<ApiCall> trace_;
  OperationLog log_;
  uint64_t trace_dropped_ = 0;
  std::vector<std::string> violations_;
  std::string printed_;
};

}  // namespace lockstep::worker
