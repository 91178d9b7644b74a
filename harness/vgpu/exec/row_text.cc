#include "vgpu/exec/row_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "vgpu/memory/address_space.h"

namespace lockstep::vgpu {

using ptx::Type;

std::string Hex(uint64_t value, int digits) {
  char text[24];
  std::snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

namespace {

constexpr uint64_t kAddresses = uint64_t{1} << kWindowShift;  // larger values are more likely addresses than numbers

std::string TextOf(uint64_t value) { return value < kAddresses ? std::to_string(value) : "0x" + Hex(value); }
std::string TextOf(int64_t value) { return std::to_string(value); }
template <typename F>
  requires std::is_floating_point_v<F>
std::string TextOf(F value) {
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// Values in lane order: "7" if all are equal, "0 .. 124 step 4", otherwise a list of such runs and single values.
template <typename T>
std::string Sequence(const std::vector<T>& values) {
  const size_t n = values.size();
  // Bitwise, so that NaNs compare equal and -0 differs from 0.
  const auto same = [&](size_t a, size_t b) { return std::memcmp(&values[a], &values[b], sizeof(T)) == 0; };
  const auto step = [&](size_t k) { return static_cast<T>(values[k + 1] - values[k]); };
  std::string text;
  for (size_t at = 0; at < n;) {
    size_t end = at + 1;
    std::string run = TextOf(values[at]);
    while (end < n && same(at, end)) ++end;
    if (end - at > 1) {
      if (end - at < n) run += " x" + std::to_string(end - at);
    } else {
      while (end + 1 < n && !same(at, end) && step(end) == step(at)) ++end;
      if (end + 1 == n || end == at + 1 || step(end) != step(at)) ++end;
      end = std::min(end, n);
      if (end - at >= 3) {
        const T by = step(at);
        const bool down = std::is_unsigned_v<T> && values[at + 1] < values[at];
        run += " .. " + TextOf(values[end - 1]) + " step " +
               (down ? "-" + TextOf(static_cast<T>(values[at] - values[at + 1])) : TextOf(by));
      } else {
        end = at + 1;
      }
    }
    text += (text.empty() ? "" : ", ") + run;
    at = end;
  }
  return text;
}

// The values of lanes `mask` in a row of elements E, converted to T.
template <typename T, typename E>
std::string Values(const uint8_t* row, LaneMask mask) {
  std::vector<T> values;
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    E element;
    std::memcpy(&element, row + sizeof(E) * static_cast<size_t>(std::countr_zero(left)), sizeof element);
    values.push_back(static_cast<T>(element));
  }
  return Sequence(values);
}

std::string PredicateText(const uint8_t* row, LaneMask mask) {
  LaneMask holds;
  std::memcpy(&holds, row, sizeof holds);
  holds &= mask;
  return holds == mask ? "true" : holds == 0 ? "false" : "true in " + Hex(holds, 8);
}

bool AreAddresses(const uint8_t* row, LaneMask mask) {
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    int64_t value;
    std::memcpy(&value, row + sizeof value * static_cast<size_t>(std::countr_zero(left)), sizeof value);
    if (value < static_cast<int64_t>(kAddresses)) return false;
  }
  return true;
}

}  // namespace

std::string SequenceText(const std::vector<uint64_t>& values) { return Sequence(values); }
std::string SequenceText(const std::vector<int64_t>& values) { return Sequence(values); }

std::string RowText(Type type, const uint8_t* row, LaneMask mask) {
  switch (type) {
    case Type::kPred:
      return PredicateText(row, mask);
    case Type::kF32:
      return Values<float, float>(row, mask);
    case Type::kF64:
      return Values<double, double>(row, mask);
    case Type::kS8:
    case Type::kS16:
      return Values<int64_t, int16_t>(row, mask);
    case Type::kS32:
      return Values<int64_t, int32_t>(row, mask);
    case Type::kS64:
      if (AreAddresses(row, mask)) break;
      return Values<int64_t, int64_t>(row, mask);
    default:
      break;
  }
  switch (ptx::SizeOf(type)) {
    case 1:
    case 2:
      return Values<uint64_t, uint16_t>(row, mask);
    case 4:
      return Values<uint64_t, uint32_t>(row, mask);
    case 8:
      return Values<uint64_t, uint64_t>(row, mask);
    default:
      return "(128 bits)";
  }
}

}  // namespace lockstep::vgpu
