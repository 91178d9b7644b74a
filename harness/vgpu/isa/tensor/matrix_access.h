// Memory accesses of matrix instructions: each lane moves some bytes at its own address, and counters and observers see
// an access of these lanes like any other.
#pragma once

#include <string>

#include "vgpu/core/opcode_table.h"
#include "vgpu/isa/memory/memory_modifiers.h"

namespace lockstep::vgpu::tensor {

// An instruction's address operand; packed into the lower half of Insn::extra.
struct MatrixAddress {
  uint32_t kind = 0;  // of the instruction, 16 bits
  AccessSpace space = AccessSpace::kGeneric;
  bool narrow = false;  // a 32-bit register

  uint64_t Pack() const { return kind | static_cast<uint64_t>(space) << 16 | uint64_t{narrow} << 31; }
  static MatrixAddress Unpack(uint64_t extra) {
    return {static_cast<uint32_t>(extra & 0xffff), static_cast<AccessSpace>(extra >> 16 & 0x7f),
            (extra >> 31 & 1) != 0};
  }
};

// Removes the state space from an instruction's modifiers.
AccessSpace TakeSpaceFrom(std::string& modifiers);

// Each lane's base + offset.
void ReadMatrixAddresses(const Warp& warp, const Insn& insn, RowRef base, uint64_t address[kWarpSize]);

// Checks, counts and reports an access of `bytes` by each lane of the mask, and finds where the bytes are. False: it
// has faulted.
bool AccessMatrix(Warp& warp, const Insn& insn, AccessKind access, const uint64_t address[kWarpSize], LaneMask mask,
                  uint32_t bytes, uint8_t* host[kWarpSize]);

}  // namespace lockstep::vgpu::tensor
