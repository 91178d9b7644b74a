// The host code's requests to the device in one call, counted from the judge's own trace.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judge/session/session_device.h"

namespace lockstep::judge {

// The only list: X(name, sentence). Calls that failed count only as failed. docs/reference/metrics.md shows it.
#define LOCKSTEP_API_COUNTS(X)                                                                             \
  X(copies_to_device, "copies from the host to the device")                                                \
  X(copies_on_device, "copies from the device to the device")                                              \
  X(copies_to_host, "copies from the device to the host")                                                  \
  X(bytes_to_device, "bytes copied from the host to the device")                                           \
  X(bytes_on_device, "bytes copied from the device to the device")                                         \
  X(bytes_to_host, "bytes copied from the device to the host")                                             \
  X(fills, "memsets")                                                                                      \
  X(allocations, "allocations of device memory")                                                           \
  X(frees, "device memory given back")                                                                     \
  X(pinned_allocations, "allocations of page-locked host memory (cudaMallocHost, cudaHostAlloc, …)")       \
  X(leaked_allocations, "allocations of device memory that are still held when the launcher has returned") \
  X(failed_calls, "CUDA calls that returned an error")

struct ApiCounts {
#define LOCKSTEP_API_FIELD(name, text) uint64_t name = 0;
  LOCKSTEP_API_COUNTS(LOCKSTEP_API_FIELD)
#undef LOCKSTEP_API_FIELD
  bool operator==(const ApiCounts&) const = default;
};

struct ApiCountInfo {
  const char* name;
  const char* text;
  uint64_t ApiCounts::* field;
};
const std::vector<ApiCountInfo>& AllApiCounts();

// The first device allocation that the trace does not free; null if there is none.
const worker::ApiCall* FirstHeld(std::span<const worker::ApiCall> trace);

// `use`: the bytes, which the judge counted itself.
ApiCounts CountApi(std::span<const worker::ApiCall> trace, const worker::MemoryUse& use);

}  // namespace lockstep::judge
