// The time model. All formulas are here; docs/concepts/time-model.md explains and calibrates them.
//
// A launch takes its overhead and then the longest of what its parts need on their own, and a little of the others,
// because overlap is never perfect:
//
//   issue    instructions that an SM issues; double precision and special functions take longer than others
//   shared   wavefronts of shared memory
//   l2       sectors that SMs and L2 exchange, at L1's rate an SM and L2's rate in all
//   dram     bytes that must come from or go to memory
//   latency  the chain of one warp's waits, times the turns that the resident warps take
//   launch   starting blocks, one after the other on each SM; also what bounds a launch shorter than its overhead
//
// What is done on an SM is spread as blocks are: the busiest SM has ceil(blocks / SMs) of them.
#include "vgpu/model/time_model.h"

#include <algorithm>
#include <cmath>

#include "vgpu/isa/insn.h"
#include "vgpu/model/occupancy.h"

namespace lockstep::vgpu {
namespace {

// What the parts beside the longest add, of their length. From rungs 2 to 6 of the ladder on an H200.
constexpr double kNotOverlapped = 0.15;
// Machine instructions for each PTX instruction: the assembler drops moves and address conversions. From the ladder on
// a G80.
constexpr double kMachineInstructions = 0.75;
// Loads that a warp has under way at once before it waits for the first: what compilers reach by hoisting the loads of
// one loop body.
constexpr double kLoadsInFlight = 2;
// Of a warp's instructions, the share that waits for the one before.
constexpr double kDependentShare = 0.5;
// What a sector that is stored in part costs L2 beyond one stored whole; from naive transposes on an H200.
constexpr double kPartialStoreCost = 1.6;

double DramMicroseconds(const Counters& c, const DeviceProfile& device) {
  const double read = device.dram_gb_per_s * device.dram_read_efficiency * 1e3;  // bytes a microsecond
  const double copy = device.dram_gb_per_s * device.dram_efficiency * 1e3;
  if (device.strict_half_warp_coalescing) return static_cast<double>(c.strict_coalescing_bytes) / copy;
  // A copy reads half of its bytes: its rate and that of reading alone give that of writing.
  const double write = 1 / (2 / copy - 1 / read);
  // Threads' bytes, or whole sectors where threads share them: what a cache above DRAM saves beyond that is not known
  // from counters.
  const double loaded = static_cast<double>(std::min(c.global_load_bytes, 32 * c.global_load_sectors));
  const double stored = static_cast<double>(std::min(c.global_store_bytes, 32 * c.global_store_sectors));
  return loaded / read + stored / write;
}

}  // namespace

TimeEstimate EstimateTime(const LaunchRecord& launch, const DeviceProfile& device) {
  const Counters& c = launch.counters;
  const double blocks = static_cast<double>(launch.grid.Count());
  const double threads = static_cast<double>(launch.block.Count());
  TimeEstimate estimate{device.launch_overhead_us, "launch"};
  if (blocks == 0 || threads == 0) return estimate;

  const double warps_per_block = std::ceil(threads / kWarpSize);
  const double warps = blocks * warps_per_block;
  const double busiest = std::ceil(blocks / device.sm_count);  // blocks of the busiest SM
  const double share = busiest / blocks;                       // its share of all work on SMs
  const int fit = MaxBlocksPerSm(device, static_cast<int>(std::min(threads, 1e6)), static_cast<int>(launch.registers),
                                 uint64_t{launch.static_shared} + launch.dynamic_shared);
  const double resident = std::min<double>(std::max(fit, 1), busiest);
  const double turns = busiest / resident;

  const double slow = static_cast<double>(c.float64_instructions + c.special_function_instructions);
  // Before compute capability 5.0 a bank conflict replays the instruction, which takes its issue slot again.
  const double replays = device.cc_major < 5 ? static_cast<double>(c.shared_conflicts()) : 0;
  const double issue = share * (((static_cast<double>(c.warp_instructions) - slow) * kMachineInstructions + replays) /
                                    device.issue_per_clock +
                                static_cast<double>(c.float64_instructions) * device.cycles_per_float64 +
                                static_cast<double>(c.special_function_instructions) * device.cycles_per_special);
  const double shared = share * static_cast<double>(c.shared_wavefronts) / device.shared_wavefronts_per_clock;

  const double sectors =
      static_cast<double>(c.global_load_sectors + c.global_store_sectors + c.local_sectors + c.atomics) +
      kPartialStoreCost * static_cast<double>(c.global_store_sectors - c.global_store_sectors_ideal);
  const double l2 = device.l2_bytes == 0 ? 0
                                         : std::max(share * sectors / device.l1_sectors_per_clock,
                                                    sectors * 32 / device.l2_bytes_per_clock);

  const double loads = static_cast<double>(c.global_load_requests + c.atomics) / warps;
  const double shared_requests = static_cast<double>(c.shared_load_requests + c.shared_atomics) / warps;
  const double chain = static_cast<double>(c.warp_instructions) / warps * kDependentShare * device.alu_latency_cycles +
                       (loads > 0 ? std::max(1.0, loads / kLoadsInFlight) : 0) * device.dram_latency_cycles +
                       shared_requests * device.shared_latency_cycles +
                       static_cast<double>(c.barriers) / warps * device.barrier_latency_cycles;
  const double latency = turns * chain;
  const double start = busiest * device.block_launch_cycles;

  const double clocks_per_us = device.clock_ghz * 1e3;
  const TimeEstimate parts[] = {
      {issue / clocks_per_us, "issue"},      {shared / clocks_per_us, "shared"},   {l2 / clocks_per_us, "l2"},
      {DramMicroseconds(c, device), "dram"}, {latency / clocks_per_us, "latency"}, {start / clocks_per_us, "launch"},
  };
  const TimeEstimate& longest =
      *std::max_element(std::begin(parts), std::end(parts),
                        [](const TimeEstimate& a, const TimeEstimate& b) { return a.microseconds < b.microseconds; });
  double sum = 0;
  for (const TimeEstimate& part : parts) sum += part.microseconds;
  if (longest.microseconds > device.launch_overhead_us) estimate.bound_by = longest.bound_by;
  estimate.microseconds += longest.microseconds + kNotOverlapped * (sum - longest.microseconds);
  return estimate;
}

}  // namespace lockstep::vgpu
