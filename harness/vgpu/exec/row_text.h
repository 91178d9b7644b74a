// Values of registers as text: a row of all lanes in a few words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/core/lane_mask.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

std::string Hex(uint64_t value, int digits = 1);
// Values in lane order: "7" if all are equal, "0 .. 124 step 4", otherwise a list of such runs and single values.
std::string SequenceText(const std::vector<uint64_t>& values);
std::string SequenceText(const std::vector<int64_t>& values);
// The values that the lanes in `mask` have in a row of 32 elements as wide as `type`. mask is not 0.
std::string RowText(ptx::Type type, const uint8_t* row, LaneMask mask);

}  // namespace lockstep::vgpu
