// printf in kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace lockstep::vgpu {

// Reads bytes of a thread's memory; false where they may not be read.
using ReadMemory = std::function<bool(uint64_t address, void* to, uint64_t bytes)>;

// A string in a thread's memory, cut after `limit` bytes; what can't be read ends it.
std::string ReadString(const ReadMemory& read, uint64_t address, size_t limit);

// What printf(format, …) writes when its arguments lie at `arguments` as vprintf has them: one after the other, each
// aligned to its size, floats as doubles. As on the hardware, *n conversions count nothing and %n writes nothing.
struct KernelPrintf {
  std::string text;
  int arguments = 0;   // that were taken, as CUDA's printf returns: 32 at most
  uint64_t bytes = 0;  // that were read and written for it
};
KernelPrintf FormatKernelPrintf(const std::string& format, uint64_t arguments, const ReadMemory& read);

}  // namespace lockstep::vgpu
