// Extents and coordinates of grids, clusters and blocks, as in CUDA, and how CUDA code writes them.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::vgpu {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t Count() const { return uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

// "128" for one dimension, "(16,16)" for more.
inline std::string ShapeText(const Dim3& d) {
  if (d.y == 1 && d.z == 1) return std::to_string(d.x);
  return '(' + std::to_string(d.x) + ',' + std::to_string(d.y) + (d.z == 1 ? "" : ',' + std::to_string(d.z)) + ')';
}

// "(0,3,0)"
inline std::string PointText(const Dim3& d) {
  return '(' + std::to_string(d.x) + ',' + std::to_string(d.y) + ',' + std::to_string(d.z) + ')';
}

}  // namespace lockstep::vgpu
