// SIMD video instructions: they operate on two halves or four bytes of a register at once, as used by CUDA's
// __vabsdiffu4 and __vsadu4. Each part of the result is made from a part of {b, a}, chosen by a selector after the
// operand, and a mask after the destination says which parts are made; the others come from c. The scalar
// instructions are in video_scalar.cc. Source: PTX ISA 9.0, 9.7.17.
#include "vgpu/isa/video.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "vgpu/isa/arithmetic.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

enum class VideoOp : uint8_t { kAdd, kSubtract, kAverage, kDifference, kMinimum, kMaximum, kCompare };

// Insn::extra of a video instruction.
struct VideoForm {
  VideoOp op = VideoOp::kAdd;
  uint8_t bits = 8;  // of a part: 8 or 16
  bool a_signed = false, b_signed = false, d_signed = false;
  bool saturates = false, accumulates = false;
  uint8_t mask = 0;  // parts of the result
  VideoComparison comparison = {};
  uint16_t a_parts = 0, b_parts = 0;  // four bits per part: which part of {b, a}, or byte if bits = 8

  uint64_t Pack() const {
    return static_cast<uint64_t>(op) | uint64_t{bits == 16} << 3 | uint64_t{a_signed} << 4 | uint64_t{b_signed} << 5 |
           uint64_t{d_signed} << 6 | uint64_t{saturates} << 7 | uint64_t{accumulates} << 8 | uint64_t{mask} << 9 |
           static_cast<uint64_t>(comparison) << 13 | uint64_t{a_parts} << 16 | uint64_t{b_parts} << 32;
  }
  static VideoForm Unpack(uint64_t extra) {
    const auto flag = [extra](int k) { return (extra >> k & 1) != 0; };
    VideoForm form;
    form.op = static_cast<VideoOp>(extra & 7);
    form.bits = flag(3) ? 16 : 8;
    form.a_signed = flag(4);
    form.b_signed = flag(5);
    form.d_signed = flag(6);
    form.saturates = flag(7);
    form.accumulates = flag(8);
    form.mask = static_cast<uint8_t>(extra >> 9 & 0xf);
    form.comparison = static_cast<VideoComparison>(extra >> 13 & 7);
    form.a_parts = static_cast<uint16_t>(extra >> 16);
    form.b_parts = static_cast<uint16_t>(extra >> 32);
    return form;
  }
};

int32_t Part(uint64_t word, unsigned at, int bits, bool is_signed) {
  const auto top = static_cast<uint32_t>(word >> at << (32 - bits));
  return is_signed ? static_cast<int32_t>(top) >> (32 - bits) : static_cast<int32_t>(top >> (32 - bits));
}

int32_t Combine(const VideoForm& form, int32_t a, int32_t b) {
  switch (form.op) {
    case VideoOp::kAdd:
      return a + b;
    case VideoOp::kSubtract:
      return a - b;
    case VideoOp::kAverage:
      return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case VideoOp::kDifference:
      return std::abs(a - b);
    case VideoOp::kMinimum:
      return std::min(a, b);
    case VideoOp::kMaximum:
      return std::max(a, b);
    case VideoOp::kCompare:
      return Holds(form.comparison, a, b) ? 1 : 0;
  }
  return 0;
}

uint32_t Compute(const VideoForm& form, uint32_t a, uint32_t b, uint32_t c) {
  const int bits = form.bits;
  const uint32_t part_mask = (1u << bits) - 1;
  const int32_t lowest = form.d_signed ? -(1 << (bits - 1)) : 0;
  const int32_t highest = form.d_signed ? (1 << (bits - 1)) - 1 : static_cast<int32_t>(part_mask);
  const uint64_t both = uint64_t{b} << 32 | a;
  uint32_t sum = c, parts = c;
  for (int k = 0; k * bits < 32; ++k) {
    if ((form.mask >> k & 1) == 0) continue;
    const unsigned from_a = form.a_parts >> 4 * k & 7, from_b = form.b_parts >> 4 * k & 7;
    const int32_t x = Part(both, from_a * static_cast<unsigned>(bits), bits, form.a_signed);
    const int32_t y = Part(both, from_b * static_cast<unsigned>(bits), bits, form.b_signed);
    int32_t value = Combine(form, x, y);
    if (form.saturates) value = std::clamp(value, lowest, highest);
    sum += static_cast<uint32_t>(value);
    parts = (parts & ~(part_mask << bits * k)) | (static_cast<uint32_t>(value) & part_mask) << bits * k;
  }
  return form.accumulates ? sum : parts;
}

void Video(Warp& warp, const Insn& insn, LaneMask mask) {
  const VideoForm form = VideoForm::Unpack(insn.extra);
  const uint32_t *a = Source<uint32_t>(warp, insn.row[1]), *b = Source<uint32_t>(warp, insn.row[2]),
                 *c = Source<uint32_t>(warp, insn.row[3]);
  ForLanes<uint32_t>(warp, insn.row[0], mask, [&](int lane) { return Compute(form, a[lane], b[lane], c[lane]); });
}

// "b7610" or "h31": the source of each part, highest first. Nullopt for an invalid selector.
std::optional<uint16_t> Parts(std::string_view text, int bits, uint16_t if_empty) {
  if (text.empty()) return if_empty;
  const size_t parts = static_cast<size_t>(32 / bits);
  if (text.size() != parts + 1 || text[0] != (bits == 8 ? 'b' : 'h')) return std::nullopt;
  uint16_t value = 0;
  for (const char digit : text.substr(1)) {
    if (digit < '0' || digit >= '0' + static_cast<int>(2 * parts)) return std::nullopt;
    value = static_cast<uint16_t>(value << 4 | (digit - '0'));
  }
  return value;
}

// "b320" or "h1": the parts of the result, highest first.
std::optional<uint8_t> Mask(std::string_view text, int bits) {
  const int parts = 32 / bits;
  if (text.empty()) return static_cast<uint8_t>((1 << parts) - 1);
  if (text.size() < 2 || text[0] != (bits == 8 ? 'b' : 'h')) return std::nullopt;
  uint8_t mask = 0;
  int before = parts;
  for (const char digit : text.substr(1)) {
    const int part = digit - '0';
    if (part < 0 || part >= before) return std::nullopt;
    before = part;
    mask |= static_cast<uint8_t>(1 << part);
  }
  return mask;
}

template <VideoOp kOp, uint8_t kBits>
Selection SelectVideo(Modifiers& modifiers) {
  constexpr bool kCompares = kOp == VideoOp::kCompare;
  VideoForm form;
  form.op = kOp;
  form.bits = kBits;
  if (!TakeSigns(modifiers, kCompares, &form)) return {};
  if (kCompares && !TakeComparison(modifiers, &form.comparison)) return {};
  form.saturates = !kCompares && modifiers.Take("sat");
  form.accumulates = !form.saturates && modifiers.Take("add");
  const auto mask = Mask(modifiers.TakePart(0), kBits);
  const auto a = Parts(modifiers.TakePart(1), kBits, kBits == 8 ? 0x3210 : 0x10);
  const auto b = Parts(modifiers.TakePart(2), kBits, kBits == 8 ? 0x7654 : 0x32);
  if (!mask || !a || !b) return {};
  form.mask = *mask;
  form.a_parts = *a;
  form.b_parts = *b;
  Selection selection{Video};
  if (kCompares) selection.form = "du32 s0 s1 su32";
  selection.extra = form.Pack();
  return selection;
}

template <VideoOp kOp>
constexpr auto kHalves = SelectVideo<kOp, 16>;
template <VideoOp kOp>
constexpr auto kBytes = SelectVideo<kOp, 8>;
constexpr std::string_view kForm = "d0 s1 s2 su32";

LOCKSTEP_OPCODES(video, {
                            {"vadd2", kForm, kHalves<VideoOp::kAdd>, InsnClass::kInteger},
                            {"vadd4", kForm, kBytes<VideoOp::kAdd>, InsnClass::kInteger},
                            {"vsub2", kForm, kHalves<VideoOp::kSubtract>, InsnClass::kInteger},
                            {"vsub4", kForm, kBytes<VideoOp::kSubtract>, InsnClass::kInteger},
                            {"vavrg2", kForm, kHalves<VideoOp::kAverage>, InsnClass::kInteger},
                            {"vavrg4", kForm, kBytes<VideoOp::kAverage>, InsnClass::kInteger},
                            {"vabsdiff2", kForm, kHalves<VideoOp::kDifference>, InsnClass::kInteger},
                            {"vabsdiff4", kForm, kBytes<VideoOp::kDifference>, InsnClass::kInteger},
                            {"vmin2", kForm, kHalves<VideoOp::kMinimum>, InsnClass::kInteger},
                            {"vmin4", kForm, kBytes<VideoOp::kMinimum>, InsnClass::kInteger},
                            {"vmax2", kForm, kHalves<VideoOp::kMaximum>, InsnClass::kInteger},
                            {"vmax4", kForm, kBytes<VideoOp::kMaximum>, InsnClass::kInteger},
                            {"vset2", "du32 s0 s1 su32", kHalves<VideoOp::kCompare>, InsnClass::kInteger},
                            {"vset4", "du32 s0 s1 su32", kBytes<VideoOp::kCompare>, InsnClass::kInteger},
                        });

}  // namespace
}  // namespace lockstep::vgpu
