// The debugger's expressions: C's operators on what each lane of a warp has.
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

// A value of each lane, as the place of its bytes; null: none or, for a register, not set yet.
struct LaneValue {
  size_t type = 0;        // in the scope's types
  bool is_local = false;  // its bytes may not be set yet
  const uint8_t* at[kWarpSize] = {};
  std::shared_ptr<std::array<uint64_t, kWarpSize>> own;  // the bytes of computed values; null: they stand elsewhere
};

// What the names and addresses of an expression mean.
struct ExpressionScope {
  std::vector<SourceType>& types;
  LaneMask mask;  // the lanes whose values are asked for
  // No value: *why says why.
  std::function<std::optional<LaneValue>(const std::string& name, std::string* why)> find;
  // Memory at a lane's generic address; null if there is none.
  std::function<const uint8_t*(uint32_t lane, uint64_t address, uint64_t bytes)> memory_at;
};

// No value, in any lane: *why says why.
std::optional<LaneValue> Evaluate(std::string_view expression, const ExpressionScope& scope, std::string* why);

// The type that C and CUDA call so, "unsigned char"; kOther: none.
SourceType BasicType(std::string_view name);
// The index of this type, which is added if it is new.
size_t IndexOf(std::vector<SourceType>& types, const SourceType& type);
// Whether these are the fill pattern of uninitialised memory or registers; short values may match by chance.
bool AreAll(const uint8_t* bytes, uint64_t count, uint8_t value);
// Up to eight bytes as a number.
uint64_t NumberAt(const uint8_t* bytes, uint64_t width, bool is_signed);

}  // namespace lockstep::vgpu
