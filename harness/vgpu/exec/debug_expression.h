// Evaluates the debugger's expressions: C operators, applied to the values of each lane of a warp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/core/lane_mask.h"
#include "vgpu/core/source_variables.h"

namespace lockstep::vgpu {

// One value per lane: a pointer to its bytes; null if the lane has none or, for a register, has not set it yet.
struct LaneValue {
  size_t type = 0;        // in the scope's types
  bool is_local = false;  // its bytes may not be set yet
  const uint8_t* at[kWarpSize] = {};
  std::shared_ptr<std::array<uint64_t, kWarpSize>> own;  // owns computed values; null: the bytes are elsewhere
};

// What the names and addresses of an expression mean.
struct ExpressionScope {
  std::vector<SourceType>& types;
  LaneMask mask;  // the lanes whose values are asked for
  // Returns no value if there is none; then *why has the reason.
  std::function<std::optional<LaneValue>(const std::string& name, std::string* why)> find;
  // Memory at a lane's generic address; null if there is none.
  std::function<const uint8_t*(uint32_t lane, uint64_t address, uint64_t bytes)> memory_at;
};

// Returns no value if no lane has one; then *why has the reason.
std::optional<LaneValue> Evaluate(std::string_view expression, const ExpressionScope& scope, std::string* why);

// The C or CUDA type with this name, such as "unsigned char"; kOther if there is none.
SourceType BasicType(std::string_view name);
// The index of this type, which is added if it is new.
size_t IndexOf(std::vector<SourceType>& types, const SourceType& type);
// Whether all bytes have this value, the fill pattern of uninitialised memory or registers. False for a single byte,
// which may have it by chance.
bool AreAll(const uint8_t* bytes, uint64_t count, uint8_t value);
// Up to eight bytes as a number.
uint64_t NumberAt(const uint8_t* bytes, uint64_t width, bool is_signed);

}  // namespace lockstep::vgpu
