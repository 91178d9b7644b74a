// The runtime's interface for our replacements of NVIDIA's host libraries (harness/libraries): one C function per kind
// of request, so that they share a device, its streams and its clock with the program.
//
// A call of cublasSgemm becomes one operation in the handle's stream: ordered, captured into graphs, timed, checked.
// When the operation runs, the library declares the memory it will access, because pointers may themselves be in device
// memory; then it computes on this machine's CPU, directly on device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lockstep::vgpu {
struct LibraryOperation;  // vgpu/device/library_operation.h
}

extern "C" {

// `rows` rows of `width` bytes, `pitch` bytes apart.
struct LockstepRows {
  const char* what;  // "matrix A", for messages
  const void* address;
  uint64_t width, rows, pitch;
  uint32_t element;  // bytes
  bool reads, writes;
};

struct LockstepMemory {
  // False if the range is not device memory, or the context is lost: then no memory may be accessed.
  bool (*touch)(LockstepMemory* self, const LockstepRows* rows);
};

struct LockstepLibraryCall {
  const char* function;  // "cublasSgemm_v2"
  cudaStream_t stream;
  double operations;
  int arithmetic;  // vgpu::Arithmetic
  bool waits;      // the call returns when the work is done, because it writes host memory; it can't be captured
  void* data;      // passed to the functions below
  // Declares all memory that the work accesses. False if a range was refused.
  bool (*touches)(void* data, LockstepMemory* memory);
  void (*run)(void* data);
  // Called once, when neither the call nor a graph needs `data` any more.
  void (*release)(void* data);
};

// Does the work, or adds it to the graph into which the stream is captured. Returns the call's own error, or that of
// earlier work; the runtime's last error is unchanged. Not supported in submissions.
cudaError_t lockstep_call_library(const LockstepLibraryCall* call);

// The same for a described operation that a judge can execute, used by libraries in submissions (libraries/submission).
// Unsupported operations are refused by name.
cudaError_t lockstep_do_operation(const char* function, cudaStream_t stream,
                                  const lockstep::vgpu::LibraryOperation* operation);

// Reports that a function is missing, or only a form of it (`what`, if not nullptr): "cublasFoo (a.cu:3): …".
void lockstep_refuse(const char* library, const char* function, const char* what);

// Prints a sentence about the current call: "lockstep: cublasSgemm_v2 (a.cu:3): lda is smaller than m".
void lockstep_say(const char* function, const char* sentence);

// Sets the name under which the runtime calls that a library makes are reported and counted: that of the library's
// function; nullptr: their own. Returns the previous name.
const char* lockstep_called_as(const char* function);

}  // extern "C"

namespace lockstep::libraries {

// While it exists, messages and the judge's trace use this function's name for runtime calls.
class CalledAs {
 public:
  explicit CalledAs(const char* function) : outer_(lockstep_called_as(function)) {}
  ~CalledAs() { lockstep_called_as(outer_); }
  CalledAs(const CalledAs&) = delete;
  CalledAs& operator=(const CalledAs&) = delete;

 private:
  const char* outer_;
};

}  // namespace lockstep::libraries
