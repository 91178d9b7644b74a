// Sources. 1.x: CUDA Programming Guide 1.0 to 3.0, appendix A, and the occupancy calculator of that time (units, 124
// registers per thread). 2.x and up: the tables "Technical Specifications per Compute Capability" and "Shared Memory"
// of programming guides 4 to 13, and the occupancy calculator of toolkit 11 for units and granularity. From 3.0 on, the
// toolkit's cuda_occupancy.h also has units, granularity, blocks and carve-outs, and a test compares them.
//
// From 3.2 on an instruction can address 255 registers; cuda_occupancy.h uses 256 from 7.0 on, as registers are
// allocated in eights.
#include "vgpu/model/capability.h"

#include <algorithm>

namespace lockstep::vgpu {
namespace {

constexpr int kKb = 1024;

// The limits shared by all devices of a generation.
ComputeCapability Tesla(int minor, int threads, int registers, int unit) {
  return {1, minor, 512, threads, 8, registers, registers, 124, unit, 2, 16 * kKb, 16 * kKb, 16 * kKb, 0, 512, {16}};
}

ComputeCapability Fermi(int minor) {
  return {2, minor, 1024, 1536, 8, 32768, 32768, 63, 64, 2, 48 * kKb, 48 * kKb, 48 * kKb, 0, 128, {16, 48}};
}

ComputeCapability Kepler(int minor, int max_registers, int registers, int registers_per_block,
                         std::vector<int> carveouts) {
  return {3,
          minor,
          1024,
          2048,
          16,
          registers,
          registers_per_block,
          max_registers,
          256,
          4,
          carveouts.back() * kKb,
          48 * kKb,
          48 * kKb,
          0,
          256,
          std::move(carveouts)};
}

// Maxwell and Pascal: shared memory is separate from the L1 cache.
ComputeCapability MaxwellOrPascal(int major, int minor, int registers_per_block, int granularity, int shared_kb) {
  return {major,       minor,           1024,     2048,     32, 65536, registers_per_block, 255, 256,
          granularity, shared_kb * kKb, 48 * kKb, 48 * kKb, 0,  256,   {shared_kb}};
}

ComputeCapability VoltaOrTuring(int minor, int threads, int blocks, std::vector<int> carveouts) {
  const int most = carveouts.back() * kKb;
  return {7,   minor, 1024, threads,  blocks, 65536, 65536, 255,
          256, 4,     most, 48 * kKb, most,   0,     256,   std::move(carveouts)};
}

// From 8.0 on the runtime reserves 1 KiB of each block's shared memory.
ComputeCapability AmpereOrLater(int major, int minor, int threads, int blocks, std::vector<int> carveouts) {
  const int most = carveouts.back() * kKb;
  return {major, minor, 1024, threads,  blocks,     65536, 65536, 255,
          256,   4,     most, 48 * kKb, most - kKb, kKb,   128,   std::move(carveouts)};
}

std::vector<ComputeCapability> MakeTable() {
  const std::vector<int> volta = {0, 8, 16, 32, 64, 96};
  const std::vector<int> small = {0, 8, 16, 32, 64, 100};
  const std::vector<int> ampere = {0, 8, 16, 32, 64, 100, 132, 164};
  const std::vector<int> hopper = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
  return {
      Tesla(0, 768, 8192, 256),
      Tesla(1, 768, 8192, 256),
      Tesla(2, 1024, 16384, 512),
      Tesla(3, 1024, 16384, 512),
      Fermi(0),
      Fermi(1),
      Kepler(0, 63, 65536, 65536, {16, 32, 48}),
      Kepler(2, 255, 65536, 32768, {16, 32, 48}),
      Kepler(5, 255, 65536, 65536, {16, 32, 48}),
      Kepler(7, 255, 131072, 65536, {80, 96, 112}),
      MaxwellOrPascal(5, 0, 65536, 4, 64),
      MaxwellOrPascal(5, 2, 65536, 4, 96),
      MaxwellOrPascal(5, 3, 32768, 4, 64),
      MaxwellOrPascal(6, 0, 65536, 2, 64),
      MaxwellOrPascal(6, 1, 65536, 4, 96),
      MaxwellOrPascal(6, 2, 32768, 4, 64),
      VoltaOrTuring(0, 2048, 32, volta),
      VoltaOrTuring(2, 2048, 32, volta),
      VoltaOrTuring(5, 1024, 16, {32, 64}),
      AmpereOrLater(8, 0, 2048, 32, ampere),
      AmpereOrLater(8, 6, 1536, 16, small),
      AmpereOrLater(8, 7, 1536, 16, ampere),
      AmpereOrLater(8, 9, 1536, 24, small),
      AmpereOrLater(9, 0, 2048, 32, hopper),
      AmpereOrLater(10, 0, 2048, 32, hopper),
      AmpereOrLater(10, 3, 2048, 32, hopper),
      AmpereOrLater(11, 0, 1536, 24, hopper),
      AmpereOrLater(12, 0, 1536, 24, small),
      AmpereOrLater(12, 1, 1536, 24, small),
  };
}

}  // namespace

std::span<const ComputeCapability> AllCapabilities() {
  static const std::vector<ComputeCapability> table = MakeTable();
  return table;
}

const ComputeCapability* FindCapability(int major, int minor) {
  const std::span<const ComputeCapability> all = AllCapabilities();
  const auto found = std::find_if(all.begin(), all.end(), [&](const ComputeCapability& capability) {
    return capability.major == major && capability.minor == minor;
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace lockstep::vgpu
