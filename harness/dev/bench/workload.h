// The kernels of *_bench.cu, and how benchmarks and tests launch them.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "vgpu/device/device.h"

namespace lockstep::vgpu {

// A kernel takes `buffers` pointers and then n.
struct Work {
  const char* kernel;
  Dim3 grid, block;
  uint32_t shared;  // bytes, dynamic
  uint32_t n;
  size_t buffers;
  size_t elements;  // of 4 bytes, per buffer
};

inline constexpr Work kWork[] = {
    {"reduction", {64}, {256}, 1024, 1 << 20, 2, 1 << 20},
    {"reduction_naive", {1024}, {256}, 1024, 1 << 18, 2, 1 << 18},
    {"scan", {512}, {256}, 0, 512 * 256, 2, 512 * 256},
    {"transpose", {32, 32}, {32, 8}, 0, 1024, 2, 1 << 20},
    {"transpose_naive", {32, 32}, {32, 8}, 0, 1024, 2, 1 << 20},
    {"matrix_multiply", {16, 16}, {16, 16}, 0, 256, 3, 256 * 256},
    {"divergent", {64}, {256}, 0, 64 * 256, 2, 64 * 256},
};

inline std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A work's launch on a device, with its own buffers.
struct Prepared {
  std::vector<uint8_t> parameters;
  LaunchSpec spec;  // points into `parameters`
  std::vector<uint64_t> buffers;
};

inline Prepared Prepare(Device& device, ModuleHandle module, const Work& work) {
  Prepared prepared;
  LaunchSpec& spec = prepared.spec;
  spec.module = module;
  spec.kernel = work.kernel;
  spec.grid = work.grid;
  spec.block = work.block;
  spec.dynamic_shared = work.shared;
  std::vector<uint32_t> values(work.elements);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<uint32_t>(k % 1000 + 1);
  for (size_t k = 0; k < work.buffers; ++k) {
    prepared.buffers.push_back(device.Allocate(4 * work.elements, "buffer"));
    device.Write(prepared.buffers.back(), values.data(), 4 * work.elements);
  }
  prepared.parameters.resize(8 * work.buffers + 4);
  std::memcpy(prepared.parameters.data(), prepared.buffers.data(), 8 * work.buffers);
  std::memcpy(&prepared.parameters[8 * work.buffers], &work.n, 4);
  spec.parameters = prepared.parameters;
  return prepared;
}

}  // namespace lockstep::vgpu
