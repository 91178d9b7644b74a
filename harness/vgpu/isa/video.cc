// SIMD video instructions: they operate on two halves or four bytes of a register at once, as used by CUDA's
// __vabsdiffu4 and __vsadu4. Lane masks and selectors, which no compiler emits, are not supported. Source: PTX ISA 9.0,
// 9.7.17.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "vgpu/isa/arithmetic.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

enum class VideoOp : uint8_t { kAdd, kSubtract, kAverage, kDifference, kMinimum, kMaximum };

// Insn::extra of a video instruction.
struct VideoForm {
  VideoOp op;
  uint8_t bits;  // of a part: 8 or 16
  bool a_signed, b_signed, d_signed;
  bool saturates, accumulates;

  uint64_t Pack() const {
    return static_cast<uint64_t>(op) | uint64_t{bits} << 8 | uint64_t{a_signed} << 16 | uint64_t{b_signed} << 17 |
           uint64_t{d_signed} << 18 | uint64_t{saturates} << 19 | uint64_t{accumulates} << 20;
  }
  static VideoForm Unpack(uint64_t extra) {
    const auto flag = [extra](int k) { return (extra >> k & 1) != 0; };
    return {static_cast<VideoOp>(extra & 0xff),
            static_cast<uint8_t>(extra >> 8),
            flag(16),
            flag(17),
            flag(18),
            flag(19),
            flag(20)};
  }
};

int32_t Part(uint32_t word, int at, int bits, bool is_signed) {
  const uint32_t top = word << (32 - at - bits);
  return is_signed ? static_cast<int32_t>(top) >> (32 - bits) : static_cast<int32_t>(top >> (32 - bits));
}

int32_t Combine(VideoOp op, int32_t a, int32_t b) {
  switch (op) {
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
  }
  return 0;
}

uint32_t Compute(const VideoForm& form, uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t part_mask = (1u << form.bits) - 1;
  const int32_t lowest = form.d_signed ? -(1 << (form.bits - 1)) : 0;
  const int32_t highest = form.d_signed ? (1 << (form.bits - 1)) - 1 : static_cast<int32_t>(part_mask);
  uint32_t sum = c, parts = 0;
  for (int at = 0; at < 32; at += form.bits) {
    int32_t value = Combine(form.op, Part(a, at, form.bits, form.a_signed), Part(b, at, form.bits, form.b_signed));
    if (form.saturates) value = std::clamp(value, lowest, highest);
    sum += static_cast<uint32_t>(value);
    parts |= (static_cast<uint32_t>(value) & part_mask) << at;
  }
  return form.accumulates ? sum : parts;  // all parts are written, so nothing of c remains
}

void Video(Warp& warp, const Insn& insn, LaneMask mask) {
  const VideoForm form = VideoForm::Unpack(insn.extra);
  const uint32_t *a = Source<uint32_t>(warp, insn.row[1]), *b = Source<uint32_t>(warp, insn.row[2]),
                 *c = Source<uint32_t>(warp, insn.row[3]);
  ForLanes<uint32_t>(warp, insn.row[0], mask, [&](int lane) { return Compute(form, a[lane], b[lane], c[lane]); });
}

template <VideoOp kOp, uint8_t kBits>
Selection SelectVideo(Modifiers& modifiers) {
  if (modifiers.type_count() != 3) return {};
  bool is_signed[3];
  for (int k = 0; k < 3; ++k) {
    const Type type = modifiers.type(k);
    if (type != Type::kU32 && type != Type::kS32) return {};
    is_signed[k] = type == Type::kS32;
  }
  const bool saturates = modifiers.Take("sat");
  const bool accumulates = !saturates && modifiers.Take("add");
  Selection selection{Video};
  selection.extra = VideoForm{kOp, kBits, is_signed[1], is_signed[2], is_signed[0], saturates, accumulates}.Pack();
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
                        });

}  // namespace
}  // namespace lockstep::vgpu
