// The variables of the source and their locations, from debug information (nvcc -G); see decode/source_variables.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/core/insn.h"

namespace lockstep::vgpu {

struct SourceType {
  enum class Kind : uint8_t { kOther, kSigned, kUnsigned, kFloat, kPointer, kArray, kStruct };
  struct Member {
    std::string name;  // empty: a base class, or an unnamed struct or union
    uint64_t offset = 0;
    size_t type = 0;
  };
  Kind kind = Kind::kOther;
  uint64_t bytes = 0;
  size_t element = 0;  // element type of a pointer or an array
  uint64_t count = 0;  // elements of an array
  std::vector<Member> members;
};

struct SourceVariable {
  enum class Space : uint8_t { kRegister, kLocal, kParameter };
  // Valid for instructions begin to end - 1.
  struct Place {
    uint32_t begin = 0, end = 0;
    Space space = Space::kRegister;
    uint32_t offset = 0;     // a register: its row's offset in the frame; kLocal: offset in the function's local memory
    uint32_t row_bytes = 0;  // a register: size of its row per lane
  };
  std::string name;
  size_t type = 0;
  int depth = 0;                // nesting depth of its block: an inner variable hides an outer one of the same name
  uint32_t begin = 0, end = 0;  // instruction range of its block
  std::vector<Place> places;    // empty: found by its name in shared or global memory
};

struct SourceVariables {
  std::vector<SourceType> types;  // the first one is the unknown type
  std::vector<SourceVariable> variables;
};

}  // namespace lockstep::vgpu
