#include <algorithm>
#include <atomic>
#include <utility>

#include "vgpu/core/half_format.h"
#include "vgpu/isa/memory/memory_bulk.h"
#include "vgpu/isa/memory/memory_operations.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

// Blocks on several threads may reduce into one word.
template <typename Op, Region kRegion>
void Reduce(uint8_t* to, const uint8_t* from, uint32_t bytes) {
  using Bits = typename Op::Bits;
  for (uint32_t at = 0; at < bytes; at += sizeof(Bits)) {
    Bits operand;
    std::memcpy(&operand, from + at, sizeof operand);
    std::atomic_ref<Bits> word(*reinterpret_cast<Bits*>(to + at));
    Bits old = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(old, Op::Apply(old, operand, 0, kRegion), std::memory_order_relaxed)) {
    }
  }
}

enum Word : uint8_t { kNoWord, kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor };
constexpr const char* kWords[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};

struct Row {
  Word word;
  Type type;
  BulkReduction reduction;
};

template <typename Op>
constexpr BulkReduction Of() {
  return {Reduce<Op, Region::kGlobal>, sizeof(typename Op::Bits)};
}

constexpr Row kRows[] = {
    {kAdd, Type::kU32, Of<Add<uint32_t>>()},
    {kAdd, Type::kS32, Of<Add<uint32_t>>()},
    {kAdd, Type::kU64, Of<Add<uint64_t>>()},
    {kAdd, Type::kS64, Of<Add<uint64_t>>()},
    {kAdd, Type::kF32, {Reduce<AddF32, Region::kShared>, sizeof(float)}},  // keeps subnormal numbers, as measured
    {kAdd, Type::kF64, Of<AddF64>()},
    {kAdd, Type::kF16, Of<AddHalf<Half>>()},
    {kAdd, Type::kBF16, Of<AddHalf<Bfloat>>()},
    {kMin, Type::kU32, Of<Min<uint32_t, uint32_t>>()},
    {kMin, Type::kS32, Of<Min<uint32_t, int32_t>>()},
    {kMin, Type::kU64, Of<Min<uint64_t, uint64_t>>()},
    {kMin, Type::kS64, Of<Min<uint64_t, int64_t>>()},
    {kMin, Type::kF16, Of<ExtremeHalf<Half, false>>()},
    {kMin, Type::kBF16, Of<ExtremeHalf<Bfloat, false>>()},
    {kMax, Type::kU32, Of<Max<uint32_t, uint32_t>>()},
    {kMax, Type::kS32, Of<Max<uint32_t, int32_t>>()},
    {kMax, Type::kU64, Of<Max<uint64_t, uint64_t>>()},
    {kMax, Type::kS64, Of<Max<uint64_t, int64_t>>()},
    {kMax, Type::kF16, Of<ExtremeHalf<Half, true>>()},
    {kMax, Type::kBF16, Of<ExtremeHalf<Bfloat, true>>()},
    {kInc, Type::kU32, Of<Increment>()},
    {kDec, Type::kU32, Of<Decrement>()},
    {kAnd, Type::kB32, Of<And<uint32_t>>()},
    {kAnd, Type::kB64, Of<And<uint64_t>>()},
    {kOr, Type::kB32, Of<Or<uint32_t>>()},
    {kOr, Type::kB64, Of<Or<uint64_t>>()},
    {kXor, Type::kB32, Of<Xor<uint32_t>>()},
    {kXor, Type::kB64, Of<Xor<uint64_t>>()},
};

Type AsBits(Type type) {
  if (type == Type::kU32 || type == Type::kS32) return Type::kB32;
  return type == Type::kU64 || type == Type::kS64 ? Type::kB64 : type;
}

// 1 + the index in kRows; 0: none.
uint64_t Find(uint64_t word, Type type) {
  for (size_t k = 0; k < std::size(kRows); ++k) {
    if (kRows[k].word == word && kRows[k].type == type) return k + 1;
  }
  return 0;
}

}  // namespace

uint64_t TakeReductionWord(Modifiers& modifiers) {
  for (uint64_t k = 0; k < std::size(kWords); ++k) {
    if (modifiers.Take(kWords[k])) return k + 1;
  }
  return 0;
}

uint64_t TakeReduction(Modifiers& modifiers, Type type) {
  const uint64_t word = TakeReductionWord(modifiers);
  const bool half_add = word == kAdd && (type == Type::kF16 || type == Type::kBF16);
  if (half_add != modifiers.Take("noftz")) return 0;
  return Find(word, type);
}

std::vector<std::string> ReductionNames() {
  std::vector<std::string> names;
  for (const Row& row : kRows) {
    const bool half_add = row.word == kAdd && ptx::SizeOf(row.type) == 2;
    names.push_back(std::string(".") + kWords[row.word - 1] + (half_add ? ".noftz." : ".") +
                    std::string(ptx::NameOf(row.type)));
  }
  return names;
}

BulkReduction ReductionOf(uint64_t index) { return index == 0 ? BulkReduction{} : kRows[index - 1].reduction; }

BulkReduction ReductionOf(uint64_t word, Type type) {
  const uint64_t index = Find(word, word >= kAnd ? AsBits(type) : type);
  return ReductionOf(index);
}

bool CheckBulkShared(Warp& warp, int lane, AccessKind access, uint64_t address, uint32_t bytes, uint32_t alignment) {
  uint64_t addresses[kWarpSize] = {};
  const LaneMask mask = LaneMask{1} << lane;
  addresses[lane] = address;
  if (address % alignment != 0) {
    warp.engine->MemoryFault(warp, lane, FindingKind::kMisaligned, access, MemorySpace::kShared, address & kOffsetMask,
                             bytes);
    return false;
  }
  const uint32_t unit = std::min(bytes, kBulkUnit);
  if (!CheckLanes(warp, Region::kClusterShared, access, addresses, mask, unit)) return false;
  addresses[lane] = address + bytes - unit;
  return CheckLanes(warp, Region::kClusterShared, access, addresses, mask, unit);
}

bool IssueToBlocks(Warp& warp, BulkLoad load, uint32_t blocks, bool to_many) {
  constexpr uint64_t kBarrierBytes = 8;
  const auto bytes = static_cast<uint32_t>(load.data.size());
  const auto issue = [&](BulkLoad one) {
    uint64_t addresses[kWarpSize] = {};
    addresses[one.lane] = one.barrier;
    const LaneMask mask = LaneMask{1} << one.lane;
    if (!CheckLanes(warp, Region::kClusterShared, AccessKind::kAtomic, addresses, mask, kBarrierBytes)) return false;
    if (bytes != 0 && !CheckBulkShared(warp, one.lane, AccessKind::kStore, one.to, bytes, std::min(bytes, kBulkUnit)))
      return false;
    IssueBulkLoad(warp, std::move(one));
    return true;
  };
  if (!to_many) return issue(std::move(load));
  for (uint32_t rank = 0; rank < kMaxClusterBlocks; ++rank) {
    if ((blocks >> rank & 1) == 0) continue;
    BulkLoad one = load;
    const bool own = rank == RankOf(*warp.block);
    const uint64_t base = own ? 0 : uint64_t{rank + 1} << kRankShift;
    one.to = base | (load.to & kOffsetMask);
    one.barrier = base | (load.barrier & kOffsetMask);
    if (!issue(std::move(one))) return false;
  }
  return true;
}

}  // namespace lockstep::vgpu
