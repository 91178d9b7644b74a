#include "vgpu/ptx/vector_registers.h"

#include <iterator>
#include <utility>

namespace lockstep::vgpu::ptx {
namespace {

constexpr std::string_view kPlaces = "xyzw";
constexpr std::string_view kColours = "rgba";

std::string ElementName(const std::string& name, int index) { return name + "." + kPlaces[static_cast<size_t>(index)]; }

}  // namespace

int VectorRegisters::ShapeOf(const Variable& declared) {
  if (declared.vector_width == 1) return 0;
  shapes_.push_back({declared.type, declared.vector_width});
  return static_cast<int>(shapes_.size());
}

RegisterRef VectorRegisters::Use(int shape, const std::string& name, int index) {
  std::string element = ElementName(name, index);
  if (used_.insert(element).second) {
    Variable variable;
    variable.name = element;
    variable.space = Space::kReg;
    variable.type = shapes_[static_cast<size_t>(shape) - 1].type;
    variable.count = 0;
    registers_.push_back(std::move(variable));
  }
  return {std::move(element), false};
}

bool VectorRegisters::Element(int shape, const std::string& name, std::string_view component, Operand* element) {
  if (component.size() != 1) return false;
  size_t index = kPlaces.find(component);
  if (index == std::string_view::npos) index = kColours.find(component);
  if (index >= static_cast<size_t>(shapes_[static_cast<size_t>(shape) - 1].width)) return false;
  *element = {Use(shape, name, static_cast<int>(index)), {}};
  return true;
}

VectorRef VectorRegisters::Whole(int shape, const std::string& name) {
  VectorRef whole;
  for (int k = 0; k < shapes_[static_cast<size_t>(shape) - 1].width; ++k) {
    whole.elements.push_back({Use(shape, name, k), {}});
  }
  return whole;
}

std::vector<Variable> VectorRegisters::Flattened(const std::vector<Variable>& parameters) {
  std::vector<Variable> flat;
  for (const Variable& parameter : parameters) {
    if (parameter.space != Space::kReg || parameter.vector_width == 1) {
      flat.push_back(parameter);
      continue;
    }
    for (int k = 0; k < parameter.vector_width; ++k) {
      Variable& element = flat.emplace_back(parameter);
      element.name = ElementName(parameter.name, k);
      element.vector_width = 1;
    }
  }
  return flat;
}

std::vector<Operand> Flattened(std::vector<Operand> operands) {
  std::vector<Operand> flat;
  for (Operand& operand : operands) {
    if (auto* vector = std::get_if<VectorRef>(&operand.value)) {
      flat.insert(flat.end(), std::make_move_iterator(vector->elements.begin()),
                  std::make_move_iterator(vector->elements.end()));
    } else {
      flat.push_back(std::move(operand));
    }
  }
  return flat;
}

}  // namespace lockstep::vgpu::ptx
