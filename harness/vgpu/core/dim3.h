// Extents and coordinates of grids, clusters and blocks, as in CUDA.
#pragma once

#include <cstdint>

namespace lockstep::vgpu {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t Count() const { return uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

}  // namespace lockstep::vgpu
