// Shared by bulk copies and copies of tiles: reductions, checks, issuing to several blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/core/opcode_table.h"
#include "vgpu/isa/memory/bulk_copy.h"
#include "vgpu/isa/memory/memory_access.h"

namespace lockstep::vgpu {

inline constexpr uint32_t kBulkUnit = 16;  // sizes and addresses are multiples of it

// Takes a reduction's modifiers; 0: none is named, or it does not exist for this type.
uint64_t TakeReduction(Modifiers& modifiers, ptx::Type type);
BulkReduction ReductionOf(uint64_t index);
std::vector<std::string> ReductionNames();  // ".add.u32", ".add.noftz.f16" …
// Takes the operation only, for instructions that name the type elsewhere.
uint64_t TakeReductionWord(Modifiers& modifiers);          // 1 to 8: add, min, max, inc, dec, and, or, xor; 0: none
BulkReduction ReductionOf(uint64_t word, ptx::Type type);  // null operation: not for this type

// Whether a lane may access these bytes of the cluster's shared memory; if not, it has faulted.
bool CheckBulkShared(Warp& warp, int lane, AccessKind access, uint64_t address, uint32_t bytes, uint32_t alignment);
// Reports and counts an access of one lane to many bytes.
void ObserveBulk(Warp& warp, int lane, Region region, AccessKind kind, uint64_t first, uint64_t bytes);
void CountBulk(Warp& warp, Region region, AccessKind kind, uint64_t first, uint64_t bytes);
// Checks the destination and the mbarrier, and issues the load; with to_many to those blocks of the cluster whose bits
// are set. False: the lane has faulted.
bool IssueToBlocks(Warp& warp, BulkLoad load, uint32_t blocks, bool to_many);

}  // namespace lockstep::vgpu
