// printf called by kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace lockstep::vgpu {

// Reads bytes of a thread's memory; false if they may not be read.
using ReadMemory = std::function<bool(uint64_t address, void* to, uint64_t bytes)>;

// A string in a thread's memory, cut after `limit` bytes; unreadable memory ends it.
std::string ReadString(const ReadMemory& read, uint64_t address, size_t limit);

// The output of printf(format, …) if its arguments are at `arguments` in vprintf's layout: consecutive, each aligned to
// its size, floats as doubles. As on the hardware, unsupported conversions such as %n are printed unchanged.
struct KernelPrintf {
  std::string text;
  int arguments = 0;   // number consumed, which CUDA's printf returns; at most 32
  uint64_t bytes = 0;  // read and written by the call
};
KernelPrintf FormatKernelPrintf(const std::string& format, uint64_t arguments, const ReadMemory& read);

}  // namespace lockstep::vgpu
