// Dim3 values written as in CUDA code.
#pragma once

#include <string>

#include "vgpu/core/dim3.h"

namespace lockstep::vgpu {

// "128" for one dimension, "(16,16)" for more.
inline std::string ShapeText(const Dim3& d) {
  if (d.y == 1 && d.z == 1) return std::to_string(d.x);
  std::string text = "(" + std::to_string(d.x) + "," + std::to_string(d.y);
  if (d.z != 1) text += "," + std::to_string(d.z);
  return text + ")";
}

// "(0,3,0)"
inline std::string PointText(const Dim3& d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

}  // namespace lockstep::vgpu
