// What the stand-ins for NVIDIA's host libraries (harness/libraries) ask of the runtime: one C function for each kind
// of request, so that they share a device, its streams and its clock with the program.
//
// A call of cublasSgemm becomes one piece of work in the handle's stream: done in order, captured into graphs, timed,
// checked. The library says which memory the work touches when the work is done, as pointers may themselves be in
// device memory; then it does the work on this machine's CPU, at the device's addresses.
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
  // False if the range is not device memory, or the context is lost: then nothing at all may be touched.
  bool (*touch)(LockstepMemory* self, const LockstepRows* rows);
};

struct LockstepLibraryCall {
  const char* function;  // "cublasSgemm_v2"
  cudaStream_t stream;
  double operations;
  int arithmetic;  // vgpu::Arithmetic
  bool waits;      // the call returns when the work is done, as it writes host memory; it can't be captured
  void* data;      // passed to the functions below
  // Names all memory that the work touches. False: a touch was refused.
  bool (*touches)(void* data, LockstepMemory* memory);
  void (*run)(void* data);
  // Called once, when neither the call nor a graph needs `data` any more.
  void (*release)(void* data);
};

// Does the work, or adds it to the graph that the stream is captured into. The error is the call's own, or that of work
// before it; the runtime's last error stays as it was. Refused under a judge.
cudaError_t lockstep_call_library(const LockstepLibraryCall* call);

// The same of work that is described, so that a judge can do it: what submissions' libraries ask for
// (libraries/submission). What nobody can do is refused by name.
cudaError_t lockstep_do_operation(const char* function, cudaStream_t stream,
                                  const lockstep::vgpu::LibraryOperation* operation);

// Says that a function, or a form of it (`what`; nullptr: the whole function), is missing: "cublasFoo (a.cu:3): …".
void lockstep_refuse(const char* library, const char* function, const char* what);

// Prints a sentence about the call that runs: "lockstep: cublasSgemm_v2 (a.cu:3): lda is smaller than m".
void lockstep_say(const char* function, const char* sentence);

// Names messages and counts of the runtime's functions that a library calls for the program after this function of the
// library; nullptr: no longer. Returns the name before.
const char* lockstep_called_as(const char* function);

}  // extern "C"
