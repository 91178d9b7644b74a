// Vector registers: ".reg .v4 .f32 v;" declares v.x, v.y, v.z and v.w, which may also be written v.r, v.g, v.b and v.a.
//
// The syntax tree knows scalar registers only. A vector register becomes one register for each of its elements that
// the text uses, named "v.x", and v by itself becomes {v.x, v.y, v.z, v.w}.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu::ptx {

class VectorRegisters {
 public:
  // Elements in use are declared in this list.
  explicit VectorRegisters(std::vector<Variable>* registers) : registers_(*registers) {}

  // The shape under which Scopes keeps a register declared like this; 0 for a scalar.
  int ShapeOf(const Variable& declared);
  // The element .`component` of the vector register `name`; false if it has no such element.
  bool Element(int shape, const std::string& name, std::string_view component, Operand* element);
  VectorRef Whole(int shape, const std::string& name);
  // A function's parameters with each vector register replaced by its elements.
  static std::vector<Variable> Flattened(const std::vector<Variable>& parameters);

 private:
  struct Shape {
    Type type;
    int width;
  };
  RegisterRef Use(int shape, const std::string& name, int index);

  std::vector<Variable>& registers_;
  std::vector<Shape> shapes_;
  std::unordered_set<std::string> used_;
};

// A call's operands with each vector replaced by its elements.
std::vector<Operand> Flattened(std::vector<Operand> operands);

}  // namespace lockstep::vgpu::ptx
