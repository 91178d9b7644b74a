// Bulk copies: cp.async.bulk, its reductions, and tiles of tensors (TMA).
//
// A copy to shared memory reads its source when it is issued. It writes, and counts its bytes at its mbarrier, when a
// thread tests that mbarrier, or when its own thread exits: as late as it can without a correct program noticing. So a
// thread that doesn't wait reads the old data.
//
// A copy to global memory reads shared memory when its thread waits for that (wait_group.read), and writes when the
// thread waits for the whole copy or exits. So a program that reuses shared memory too early sends the wrong bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/core/warp.h"
#include "vgpu/exec/async_copies.h"

namespace lockstep::vgpu {

// Reduces `bytes` of `from` into `to`, element by element; null: a copy.
using BulkOperation = void (*)(uint8_t* to, const uint8_t* from, uint32_t bytes);

struct BulkReduction {
  BulkOperation operation = nullptr;
  uint32_t element_bytes = 16;
};

// A part of the copy that is contiguous in global and in shared memory.
struct BulkPiece {
  uint64_t global = 0;
  uint32_t offset = 0;  // in shared memory, from the copy's address
  uint32_t bytes = 0;
};

struct BulkLoad {
  uint32_t pc = 0;
  int lane = 0;
  uint64_t to = 0, barrier = 0;  // addresses as in exec/cluster.h
  std::vector<uint8_t> data;
  BulkReduction reduction;
};

struct BulkStore {
  uint32_t pc = 0;
  int lane = 0;
  uint32_t group = 0;
  bool read = false;  // whether data holds the contents of shared memory
  uint64_t from = 0;
  std::vector<BulkPiece> pieces;
  std::vector<uint8_t> data;  // from `from` on
  BulkReduction reduction;
};

struct BulkCopies {
  std::vector<BulkLoad> loads;
  std::vector<BulkStore> stores;
  uint32_t committed[kWarpSize] = {};
};

void IssueBulkLoad(Warp& warp, BulkLoad load);
void IssueBulkStore(Warp& warp, BulkStore store);
void CommitBulkGroups(Warp& warp, LaneMask lanes);
// Completes the lanes' stores of all committed groups except the last `keep`; only_reads: only their reads.
void WaitForBulkGroups(Warp& warp, LaneMask lanes, const uint32_t keep[kWarpSize], bool only_reads);
// Completes everything that the lanes have issued.
void CompleteAllBulk(Warp& warp, LaneMask lanes);
// Completes the loads of the cluster's warps that signal this mbarrier.
void CompleteBulkLoads(Warp& warp, const uint64_t* object);

}  // namespace lockstep::vgpu
