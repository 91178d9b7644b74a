// The time model. All formulas are here; docs/concepts/time-model.md explains them and their calibration.
//
// A launch takes its overhead, plus the longest of the times that its parts need on their own, plus a fraction of the
// others, because overlap is never perfect:
//
//   issue    instructions that an SM issues, weighted by cost
//   tensor   matrix instructions
//   shared   the pipe to shared memory and L1: wavefronts, and requests to other spaces
//   l2       sectors between SMs and L2, at L1's rate per SM and L2's rate in total; atomics are serialised
//   dram     bytes read from or written to memory
//   latency  the chain of one warp's waits, times the rounds of resident warps
//   launch   starting blocks, one after the other on each SM; also the bound if no part exceeds the overhead
//
// Work on SMs is distributed like blocks: the busiest SM has ceil(blocks / SMs) of them.
#include "vgpu/model/time_model.h"

#include <algorithm>
#include <cmath>

#include "vgpu/core/lane_mask.h"
#include "vgpu/model/library_time.h"
#include "vgpu/model/occupancy.h"

namespace lockstep::vgpu {
namespace {

// The fraction of their length that all parts except the longest add. From rungs 2 to 6 of the ladder on an H200.
constexpr double kNotOverlapped = 0.12;
// Loads in flight per warp before it waits for the first: what compilers achieve by hoisting the loads of one loop
// body.
constexpr double kLoadsInFlight = 2;
// The share of a warp's instructions that wait for the previous one.
constexpr double kDependentShare = 0.5;
// Extra cost in L2 of a stored sector beyond the ideal number, in sectors; from naive transposes on an H200.
constexpr double kPartialStoreCost = 1.4;
// The share of local memory's sectors that are stored: L1 keeps loads and passes stores on.
constexpr double kLocalStoreShare = 0.5;
// L2's atomic unit processes one line at a time: clocks per request to a line, and per sector in it; from histograms
// and atomics on one address on an H200.
constexpr double kLineRequestClocks = 10, kLineSectorClocks = 1.2;
constexpr double kLineBytes = 128;

// The launch's shape on the device.
struct Spread {
  double warps;    // of the launch
  double busiest;  // blocks of the busiest SM
  double share;    // its share of all work on SMs
  double turns;    // rounds in which the busiest SM runs its blocks, as many at a time as are resident
  double uneven;   // work of the busiest block minus the mean, in means; at least 1
};

Spread SpreadOf(const LaunchRecord& launch, const DeviceProfile& device, uint32_t registers) {
  const double blocks = static_cast<double>(launch.grid.Count());
  const double threads = static_cast<double>(launch.block.Count());
  Spread spread;
  spread.warps = blocks * std::ceil(threads / kWarpSize);
  spread.busiest = std::ceil(blocks / device.sm_count);
  // A block with up to twice the mean does not count as uneven: its SM may have less other work.
  spread.uneven = std::max(1.0, launch.busiest_block - 1);
  spread.share = std::max(spread.busiest, spread.uneven) / blocks;
  const int fit = MaxBlocksPerSm(device, static_cast<int>(std::min(threads, 1e6)), static_cast<int>(registers),
                                 uint64_t{launch.static_shared} + launch.dynamic_shared);
  spread.turns = spread.busiest / std::min<double>(std::max(fit, 1), spread.busiest);
  return spread;
}

// A counter as a floating-point number.
double D(uint64_t value) { return static_cast<double>(value); }

// The fraction of the launch's data that is in L2: all up to half of L2's size, none beyond its size. What fits is
// there already, because the previous launch or copy left it there.
double HeldByL2(const Counters& c, const DeviceProfile& device) {
  if (device.l2_bytes == 0) return 0;
  const double touched = D(c.global_load_footprint + c.global_store_footprint + c.atomic_footprint);
  return std::clamp(2 - 2 * touched / device.l2_bytes, 0.0, 1.0);
}

double IssueClocks(const Counters& c, const DeviceProfile& device) {
  const uint64_t slow = c.float64_instructions + c.special_function_instructions + c.integer_multiplications +
                        c.integer_divisions + c.barriers;
  // Before compute capability 5.0 a bank conflict replays the instruction, which takes another issue slot.
  const double replays = device.cc_major < 5 ? D(c.shared_conflicts()) : 0;
  const double simple = std::max(0.0, D(c.warp_instructions) - D(slow));
  return (simple * device.machine_instructions + replays) / device.issue_per_clock +
         D(c.float64_instructions) * device.cycles_per_float64 +
         D(c.special_function_instructions) * device.cycles_per_special +
         D(c.integer_multiplications) * device.cycles_per_multiply + D(c.integer_divisions) * device.cycles_per_divide +
         D(c.barriers) * device.cycles_per_barrier;
}

double TensorClocks(const Counters& c, const DeviceProfile& device) {
  // Without tensor cores, on the f32 units.
  const double rate = device.tensor_operations_per_clock > 0 ? device.tensor_operations_per_clock / 2
                                                             : device.issue_per_clock * kWarpSize;
  return D(c.tensor_half_equivalent) / rate;
}

double SharedClocks(const Counters& c, const DeviceProfile& device) {
  const uint64_t others = c.global_load_requests + c.global_store_requests + c.local_requests + c.atomics;
  return (D(c.shared_wavefronts) + (device.l2_bytes == 0 ? 0 : D(others))) / device.shared_wavefronts_per_clock;
}

// Clocks to serve the line with the most atomics, assuming that they are spread evenly over the lines.
double AtomicClocks(const Counters& c) {
  if (c.atomics == 0) return 0;
  const double lines = std::max(1.0, D(c.atomic_footprint) / kLineBytes);
  const double requests = std::min(D(c.atomic_sectors), D(c.atomics) * lines);
  return (requests * kLineRequestClocks + D(c.atomic_sectors) * kLineSectorClocks) / lines;
}

double L2Clocks(const Counters& c, const DeviceProfile& device, double share) {
  if (device.l2_bytes == 0) return 0;
  const double l1 = D(c.global_load_sectors + c.global_store_sectors + c.local_sectors) / device.l1_sectors_per_clock +
                    D(c.atomic_sectors) * device.cycles_per_atomic;
  const double l2 = D(c.global_load_misses + c.global_store_sectors + c.atomic_sectors) +
                    kLocalStoreShare * D(c.local_sectors) +
                    kPartialStoreCost * (D(c.global_store_sectors) - D(c.global_store_sectors_ideal));
  return std::max({share * l1, 32 * l2 / device.l2_bytes_per_clock, AtomicClocks(c)});
}

double DramMicroseconds(const Counters& c, const DeviceProfile& device) {
  const double read = device.dram_gb_per_s * device.dram_read_efficiency * 1e3;  // bytes per microsecond
  const double copy = device.dram_gb_per_s * device.dram_efficiency * 1e3;
  if (device.strict_half_warp_coalescing) {
    return D(c.strict_coalescing_bytes) / copy + D(c.page_switches) * device.page_switch_ns / 1e3;
  }
  // Half of a copy's bytes are reads, so its rate and the read rate give the write rate.
  const double write = 1 / (2 / copy - 1 / read);
  const double touched = D(c.global_load_footprint + c.global_store_footprint + c.atomic_footprint);
  const double from_dram = 1 - HeldByL2(c, device);
  // Data that blocks load again comes from L2, as far as the touched data fits there.
  const double again = std::max(0.0, 32 * D(c.global_load_misses) - D(c.global_load_footprint)) *
                       std::max(0.0, 1 - device.l2_bytes / std::max(touched, 1.0));
  // Partially stored pieces are read first.
  const double filled = std::max(0.0, D(c.global_store_footprint) - D(c.global_store_bytes));
  const double loaded = D(c.global_load_footprint) + filled + D(c.atomic_footprint);
  const double stored = D(c.global_store_footprint + c.atomic_footprint);
  return (from_dram * loaded + again) / read + from_dram * stored / write;
}

// `within`: the assumed ratio of a block's longest warp to the mean of its warps.
double LatencyClocks(const Counters& c, const DeviceProfile& device, const Spread& spread, double within = 1) {
  double memory = device.dram_latency_cycles;
  if (device.l2_bytes > 0) {
    const double held = HeldByL2(c, device);
    const double behind_l1 = held * device.l2_latency_cycles + (1 - held) * device.dram_latency_cycles;
    const double missed = c.global_load_sectors == 0 ? 1 : D(c.global_load_misses) / D(c.global_load_sectors);
    memory = missed * behind_l1 + (1 - missed) * device.l1_latency_cycles;
  }
  const double loads = D(c.global_load_requests + c.atomics) / spread.warps;
  const double chain =
      within * D(c.warp_instructions) / spread.warps * kDependentShare * device.alu_latency_cycles +
      (loads > 0 ? std::max(1.0, loads / kLoadsInFlight) : 0) * memory +
      within * D(c.shared_load_requests + c.shared_atomics) / spread.warps * device.shared_latency_cycles +
      D(c.barriers) / spread.warps * device.barrier_latency_cycles;
  return std::max(spread.turns, spread.uneven) * chain;
}

}  // namespace

std::array<TimeEstimate, 7> TimeParts(const LaunchRecord& launch, const DeviceProfile& device, uint32_t registers) {
  const Counters& c = launch.counters;
  const Spread spread = SpreadOf(launch, device, registers);
  const double clocks_per_us = device.clock_ghz * 1e3;
  return {{
      {spread.share * IssueClocks(c, device) / clocks_per_us, "issue"},
      {spread.share * TensorClocks(c, device) / clocks_per_us, "tensor"},
      {spread.share * SharedClocks(c, device) / clocks_per_us, "shared"},
      {L2Clocks(c, device, spread.share) / clocks_per_us, "l2"},
      {DramMicroseconds(c, device), "dram"},
      {LatencyClocks(c, device, spread) / clocks_per_us, "latency"},
      {spread.busiest * device.block_launch_cycles / clocks_per_us, "launch"},
  }};
}

double LongestWarpMicroseconds(const LaunchRecord& launch, const DeviceProfile& device) {
  if (launch.busiest_block == 0 || launch.longest_warp == 0) return 0;
  const Spread spread = SpreadOf(launch, device, launch.registers);
  const double mean = D(launch.counters.warp_instructions) / spread.warps * launch.busiest_block;
  const double within = std::max(1.0, D(launch.longest_warp) / mean);
  return LatencyClocks(launch.counters, device, spread, within) / (device.clock_ghz * 1e3);
}

TimeEstimate EstimateTime(const LaunchRecord& launch, const DeviceProfile& device, uint32_t registers) {
  if (launch.grid.Count() == 0 || launch.block.Count() == 0) return EstimateLibraryTime(launch.library, device);
  TimeEstimate estimate{device.launch_overhead_us, "launch"};
  const auto parts = TimeParts(launch, device, registers);
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
