// mov between registers, from immediates, and between a register and a vector of narrower ones. The decoder handles
// special registers and addresses of variables. Source: PTX ISA 9.0, 9.7.9.
#include "vgpu/isa/arithmetic.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

constexpr auto kCopy = [](auto a) { return a; };

void MovePredicate(Warp& warp, const Insn& insn, LaneMask mask) {
  WritePredicate(warp, insn.row[0], PredicateSource(warp, insn, 1), mask);
}

// 8-bit elements use 16-bit rows.
template <typename Element>
using RowElement = std::conditional_t<sizeof(Element) == 1, uint16_t, Element>;

// Rows: d, then the elements from the lowest bits on.
template <typename Whole, typename Element>
void Pack(Warp& warp, const Insn& insn, LaneMask mask) {
  constexpr int kElements = sizeof(Whole) / sizeof(Element);
  const RowElement<Element>* sources[kElements];
  for (int k = 0; k < kElements; ++k) sources[k] = Source<RowElement<Element>>(warp, insn.row[k + 1]);
  ForLanes<Whole>(warp, insn.row[0], mask, [&](int lane) {
    Whole whole = 0;
    for (int k = 0; k < kElements; ++k) {
      whole |=
          static_cast<Whole>(static_cast<Whole>(static_cast<Element>(sources[k][lane])) << (8 * sizeof(Element) * k));
    }
    return whole;
  });
}

// Rows: the elements, then the source, which is copied first because an element may use the same row.
template <typename Whole, typename Element>
void Unpack(Warp& warp, const Insn& insn, LaneMask mask) {
  constexpr int kElements = sizeof(Whole) / sizeof(Element);
  Whole whole[kWarpSize];
  std::memcpy(whole, Source<Whole>(warp, insn.row[kElements]), sizeof whole);
  for (int k = 0; k < kElements; ++k) {
    ForLanesInPlace<RowElement<Element>>(Destination<RowElement<Element>>(warp, insn.row[k]), mask, [&](int lane) {
      return static_cast<Element>(whole[lane] >> (8 * sizeof(Element) * k));
    });
  }
}

Handler PickCopy(Type type) {
  switch (DomainOf(type)) {
    case Domain::kPredicate:
      return MovePredicate;
    case Domain::kInteger:
    case Domain::kFloat:
    case Domain::kHalf:
      break;
    case Domain::kNone:
      return type == Type::kB128 ? kUnary<kCopy, unsigned __int128> : nullptr;
  }
  return ptx::SizeOf(type) == 2   ? kUnary<kCopy, uint16_t>
         : ptx::SizeOf(type) == 4 ? kUnary<kCopy, uint32_t>
                                  : kUnary<kCopy, uint64_t>;
}

struct VectorMove {
  Type type;
  int elements;
  Handler pack, unpack;
  std::string_view pack_form, unpack_form;
};

using Wide = unsigned __int128;
constexpr VectorMove kVectorMoves[] = {
    {Type::kB16, 2, Pack<uint16_t, uint8_t>, Unpack<uint16_t, uint8_t>, "d0 svb8", "dvb8 s0"},
    {Type::kB32, 4, Pack<uint32_t, uint8_t>, Unpack<uint32_t, uint8_t>, "d0 svb8", "dvb8 s0"},
    {Type::kB32, 2, Pack<uint32_t, uint16_t>, Unpack<uint32_t, uint16_t>, "d0 svb16", "dvb16 s0"},
    {Type::kB64, 2, Pack<uint64_t, uint32_t>, Unpack<uint64_t, uint32_t>, "d0 svb32", "dvb32 s0"},
    {Type::kB64, 4, Pack<uint64_t, uint16_t>, Unpack<uint64_t, uint16_t>, "d0 svb16", "dvb16 s0"},
    {Type::kB128, 2, Pack<Wide, uint64_t>, Unpack<Wide, uint64_t>, "d0 svb64", "dvb64 s0"},
    {Type::kB128, 4, Pack<Wide, uint32_t>, Unpack<Wide, uint32_t>, "d0 svb32", "dvb32 s0"},
};

Selection SelectMov(Modifiers& modifiers) {
  if (modifiers.type_count() != 1) return {};
  const Type type = modifiers.type(0);
  Selection selection;
  if (modifiers.operand_count() == 2) {
    selection.handler = PickCopy(type);
    selection.form = "d0 s0";
    if (type == Type::kPred) selection.insn_class = InsnClass::kPredicate;
    return selection;
  }
  for (const VectorMove& move : kVectorMoves) {
    if (move.type != type || modifiers.operand_count() != move.elements + 1) continue;
    const bool packs = modifiers.operand_bytes(0) == ptx::SizeOf(type);
    selection.handler = packs ? move.pack : move.unpack;
    selection.form = packs ? move.pack_form : move.unpack_form;
  }
  return selection;
}

// Rows: the elements of d, then those of a, which are copied first because the vectors may share registers.
template <typename Element, int kElements>
void MoveVector(Warp& warp, const Insn& insn, LaneMask mask) {
  Element values[kElements][kWarpSize];
  for (int k = 0; k < kElements; ++k) {
    std::memcpy(values[k], Source<Element>(warp, insn.row[kElements + k]), sizeof values[k]);
  }
  for (int k = 0; k < kElements; ++k) {
    ForLanesInPlace<Element>(Destination<Element>(warp, insn.row[k]), mask, [&](int lane) { return values[k][lane]; });
  }
}

template <int kElements>
Selection SelectMoveVector(Modifiers& modifiers) {
  if (modifiers.type_count() != 1 || modifiers.operand_count() != 2 * kElements) return {};
  const int bytes = ptx::SizeOf(modifiers.type(0));
  if (modifiers.type(0) == Type::kPred || bytes * kElements > 16) return {};
  return {bytes <= 2   ? MoveVector<uint16_t, kElements>
          : bytes == 4 ? MoveVector<uint32_t, kElements>
                       : MoveVector<uint64_t, kElements>};
}

LOCKSTEP_OPCODES(move, {
                           {"mov.v2", "dv0 sv0", SelectMoveVector<2>, InsnClass::kMove, {}, Meaning::kMoveVector},
                           {"mov.v4", "dv0 sv0", SelectMoveVector<4>, InsnClass::kMove, {}, Meaning::kMoveVector},
                           {"mov", "dv0 sv0", SelectMov, InsnClass::kMove, {}, Meaning::kMove},
                       });

}  // namespace
}  // namespace lockstep::vgpu
