// The variables of the source, and where each is: from a debugger's information (nvcc -G); see decode/source_variables.cc.
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
  size_t element = 0;  // type of a pointer's or an array's elements
  uint64_t count = 0;  // elements of an array
  std::vector<Member> members;
};

struct SourceVariable {
  enum class Space : uint8_t { kRegister, kLocal, kParameter };
  // At instructions begin to end - 1.
  struct Place {
    uint32_t begin = 0, end = 0;
    Space space = Space::kRegister;
    uint32_t offset = 0;     // a register: of its row in the frame; kLocal: in the function's local memory
    uint32_t row_bytes = 0;  // a register: of its row, by lane
  };
  std::string name;
  size_t type = 0;
  int depth = 0;                // of its block: of two with one name the inner is meant
  uint32_t begin = 0, end = 0;  // of its block
  std::vector<Place> places;
};

struct SourceVariables {
  std::vector<SourceType> types;  // the first is unknown
  std::vector<SourceVariable> variables;
};

}  // namespace lockstep::vgpu
