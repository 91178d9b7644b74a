#include "vgpu/model/advice.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string_view>

#include "vgpu/core/lane_mask.h"
#include "vgpu/model/occupancy.h"
#include "vgpu/model/time_model.h"

namespace lockstep::vgpu {
namespace {

constexpr size_t kMostAdvice = 3, kMostLines = 3;
constexpr double kLeastShare = 0.03;  // share of a kernel's time that a change must save
constexpr uint64_t kWideBytes = 16;   // the most that a lane can load at once
// Executions per warp from which a line counts as an inner loop, not as steps of a tree.
constexpr uint64_t kInnerLoop = 16;

struct Kernel {
  const LaunchRecord& launch;   // without any change
  const LaunchRecord& longest;  // of this kernel
  const DeviceProfile& device;
  uint64_t warps;     // of the launch
  uint64_t resident;  // concurrent blocks
  // Reads much, writes little, and has few loads per thread: work other than loading does not grow with the number of
  // elements.
  bool reduces() const {
    const Counters& c = launch.counters;
    return c.global_load_bytes >= 8 * c.global_store_bytes && c.global_load_requests <= 8 * warps;
  }
};

// `whole`: returns whether the rule applies, and changes the launch apart from its lines' counters. `line`: changes a
// line's counters to those with the technique.
struct Rule {
  const char* technique;
  const char* text;
  bool (*whole)(LaunchRecord& launch, const Kernel& kernel);
  void (*line)(Counters& line, const Kernel& kernel);
};

bool Always(LaunchRecord&, const Kernel&) { return true; }
void Unchanged(Counters&, const Kernel&) {}

void Scale(uint64_t& counter, double factor) {
  counter = static_cast<uint64_t>(std::llround(static_cast<double>(counter) * factor));
}
void ScaleAll(Counters& c, double factor) {
  for (const CounterInfo& info : AllCounters()) Scale(c.*info.field, factor);
}
double Ratio(uint64_t a, uint64_t b) { return static_cast<double>(a) / static_cast<double>(std::max<uint64_t>(b, 1)); }
uint64_t Less(uint64_t a, uint64_t b) { return a - std::min(a, b); }

bool CoalesceWhole(LaunchRecord& launch, const Kernel&) {
  Counters& c = launch.counters;
  c.global_load_footprint = std::min(c.global_load_footprint, c.global_load_bytes);
  c.global_store_footprint = std::min(c.global_store_footprint, c.global_store_bytes);
  return true;
}
void CoalesceLine(Counters& c, const Kernel&) {
  c.global_load_sectors = c.global_load_sectors_ideal;
  c.global_store_sectors = c.global_store_sectors_ideal;
  c.global_load_misses = std::min(c.global_load_misses, c.global_load_sectors);
  c.strict_coalescing_bytes = std::min(c.strict_coalescing_bytes, c.global_load_bytes + c.global_store_bytes);
  c.page_switches = 0;
}

void ConflictsLine(Counters& c, const Kernel&) { c.shared_wavefronts = c.shared_wavefronts_ideal; }

bool DivergesWhole(LaunchRecord& launch, const Kernel&) { return launch.counters.divergent_branches > 0; }
void DivergesLine(Counters& c, const Kernel&) {
  // Branches are left out: only the lanes that take one are counted.
  const double full = Ratio(c.thread_instructions, kWarpSize * Less(c.warp_instructions, c.branches));
  if (full < 0.95) ScaleAll(c, full);
}

// A block's warps load the same data repeatedly: the first load remains, with its address arithmetic; the others become
// loads of shared memory at constant offsets.
void TileLine(Counters& c, const Kernel&) {
  const double again = Ratio(c.global_load_sectors_ideal, c.global_load_misses);
  if (c.global_load_misses == 0 || again < 2) return;
  const uint64_t requests = c.global_load_requests, integers = c.integer_instructions;
  Scale(c.global_load_requests, 1 / again);
  Scale(c.integer_instructions, 1 / again);
  Scale(c.integer_multiplications, 1 / again);
  c.warp_instructions = Less(c.warp_instructions, integers - c.integer_instructions);
  c.global_load_sectors = c.global_load_sectors_ideal = c.global_load_misses;
  Scale(c.global_load_bytes, 1 / again);
  c.shared_load_requests += requests;
  c.shared_store_requests += c.global_load_requests;
  c.shared_wavefronts += requests + c.global_load_requests;
  c.shared_wavefronts_ideal += requests + c.global_load_requests;
  c.barriers += c.global_load_requests;
  c.warp_instructions += 3 * c.global_load_requests;
}

// With 4 × 4 sums per thread, each sum needs a quarter of the loads.
void RegistersLine(Counters& c, const Kernel& kernel) {
  if (c.float32_instructions < kInnerLoop * kernel.warps || 2 * c.shared_load_requests < c.float32_instructions) return;
  const uint64_t spared = c.shared_load_requests - c.shared_load_requests / 4;
  const double kept = 1 - Ratio(spared, c.shared_load_requests + c.shared_store_requests);
  c.shared_load_requests -= spared;
  c.warp_instructions = Less(c.warp_instructions, spared);
  Scale(c.shared_wavefronts, kept);
  Scale(c.shared_wavefronts_ideal, kept);
}

void WideLine(Counters& c, const Kernel& kernel) {
  const auto widen = [&](uint64_t& requests, uint64_t bytes, uint64_t sectors, uint64_t ideal) {
    const uint64_t each = bytes / std::max<uint64_t>(kWarpSize * requests, 1);  // bytes a lane
    if (each == 0 || 2 * each > kWideBytes || 4 * sectors > 5 * ideal + requests || ideal < 2 * requests) return;
    const uint64_t before = requests;
    requests = requests * each / kWideBytes;
    const uint64_t spared = 3 * (before - requests);  // including the loop's own instructions
    c.warp_instructions = std::max(Less(c.warp_instructions, spared), c.warp_instructions * each / kWideBytes);
  };
  widen(c.global_load_requests, c.global_load_bytes, c.global_load_sectors, c.global_load_sectors_ideal);
  widen(c.global_store_requests, c.global_store_bytes, c.global_store_sectors, c.global_store_sectors_ideal);
  const uint64_t shared = c.shared_load_requests + c.shared_store_requests;
  if (c.shared_load_requests < kInnerLoop * kernel.warps || c.shared_wavefronts_ideal > 3 * shared / 2) return;
  const uint64_t spared = c.shared_load_requests - c.shared_load_requests / 4;
  c.shared_load_requests -= spared;
  c.warp_instructions = Less(c.warp_instructions, spared);
}

bool MoreEachWhole(LaunchRecord& launch, const Kernel& kernel) {
  if (launch.grid.Count() < 2 * kernel.resident) return false;
  launch.grid = {static_cast<uint32_t>(kernel.resident), 1, 1};
  return true;
}
void MoreEachLine(Counters& c, const Kernel& kernel) {
  const bool accesses = c.global_load_requests + c.global_store_requests + c.atomics + c.shared_load_requests +
                            c.shared_store_requests + c.local_requests + c.float32_instructions + c.barriers !=
                        0;
  if (kernel.reduces() ? c.global_load_requests != 0 : accesses) return;
  ScaleAll(c, Ratio(kernel.resident, kernel.launch.grid.Count()));
}

// A tree whose warps mostly wait at barriers.
bool UnrollWhole(LaunchRecord& launch, const Kernel&) {
  return launch.counters.shared_load_requests <= 4 * launch.counters.barriers_in_loops;
}
void UnrollLine(Counters& c, const Kernel&) {
  c.barriers -= c.barriers_in_loops;
  c.warp_instructions = Less(c.warp_instructions, c.barriers_in_loops);
  c.barriers_in_loops = 0;
}

// The control of a loop whose rounds end in a barrier.
bool LoopsWhole(LaunchRecord& launch, const Kernel&) { return launch.counters.barriers_in_loops > 0; }
void LoopsLine(Counters& c, const Kernel&) {
  const uint64_t others = c.global_load_requests + c.global_store_requests + c.shared_load_requests +
                          c.shared_store_requests + c.float32_instructions + c.barriers + c.divergent_branches;
  if (c.branches != 0 && others == 0) ScaleAll(c, 0);
}

// A few blocks finish what many blocks of the same kernel have begun.
bool OneLaunchWhole(LaunchRecord& launch, const Kernel& kernel) {
  const uint64_t blocks = launch.grid.Count();
  if (8 * blocks > kernel.longest.grid.Count() || blocks >= static_cast<uint64_t>(kernel.device.sm_count)) return false;
  launch.grid = {0, 0, 0};
  return true;
}

bool OccupancyWhole(LaunchRecord& launch, const Kernel& kernel) {
  const uint64_t shared = uint64_t{launch.static_shared} + launch.dynamic_shared;
  const Occupancy now = ComputeOccupancy(kernel.device, static_cast<int>(launch.block.Count()),
                                         static_cast<int>(launch.registers), shared);
  const std::string_view by = now.limited_by;
  if (now.blocks == 0 || (by != "registers" && by != "shared memory")) return false;
  launch.registers = std::min(launch.registers, 32U);
  launch.static_shared = launch.dynamic_shared = 0;
  return true;
}

bool SpreadWhole(LaunchRecord& launch, const Kernel& kernel) {
  const uint64_t sms = static_cast<uint64_t>(kernel.device.sm_count);
  if (launch.grid.Count() >= sms) return false;
  launch.grid = {static_cast<uint32_t>(sms), 1, 1};
  return true;
}

// Each block accumulates in shared memory, and adds its result once.
bool AtomicsWhole(LaunchRecord& launch, const Kernel& kernel) {
  Counters& c = launch.counters;
  const uint64_t lines = launch.grid.Count() * (c.atomic_footprint / 128 + 1);
  if (c.atomics <= 2 * lines || c.atomic_footprint > static_cast<uint64_t>(kernel.device.shared_per_block))
    return false;
  c.atomics += lines;
  c.atomic_sectors += launch.grid.Count() * (c.atomic_footprint / 32 + 1);
  c.barriers += 2 * kernel.warps;
  return true;
}
void AtomicsLine(Counters& c, const Kernel&) {
  constexpr uint64_t kPasses = 4;  // shared-memory passes of a warp, allowing for occasional bank conflicts
  c.shared_atomics += c.atomics;
  c.shared_wavefronts += kPasses * c.atomics;
  c.shared_wavefronts_ideal += c.atomics;
  c.atomics = c.atomic_sectors = 0;
}

bool TensorWhole(LaunchRecord& launch, const Kernel& kernel) {
  const Counters& c = launch.counters;
  return kernel.device.tensor_operations_per_clock > 0 && c.tensor_multiply_adds == 0 && c.shared_load_requests > 0;
}
void TensorLine(Counters& c, const Kernel& kernel) {
  if (c.float32_instructions < 4 * kInnerLoop * kernel.warps) return;
  c.tensor_half_equivalent += kWarpSize * c.float32_instructions;
  c.warp_instructions = Less(c.warp_instructions, c.float32_instructions);
  c.float32_instructions = 0;
}

void DivisionLine(Counters& c, const Kernel&) { c.integer_divisions = 0; }
void DoubleLine(Counters& c, const Kernel&) { c.float64_instructions = 0; }
void LocalLine(Counters& c, const Kernel&) { c.local_requests = c.local_sectors = 0; }

constexpr char kCoalesce[] = "coalesce";
constexpr Rule kRules[] = {
    {kCoalesce, "", CoalesceWhole, CoalesceLine},
    {"tile",
     "threads of a block load the same elements: load each once into a tile in shared memory, and reuse it there",
     Always, TileLine},
    {"no bank conflicts",
     "lanes of a warp use the same banks: let neighbouring lanes use neighbouring words, or pad the rows of the array",
     Always, ConflictsLine},
    {"full warps", "lanes of a warp take different branches: let neighbouring threads take the same one", DivergesWhole,
     DivergesLine},
    {"several elements a thread", "as many blocks as fit on the device, whose threads loop over several elements",
     MoreEachWhole, MoreEachLine},
    {"wide", "move 16 bytes a thread with one request: float4 or int4", Always, WideLine},
    {"registers", "let each thread compute several results from values that it keeps in registers", Always,
     RegistersLine},
    {"fewer barriers",
     "most warps only wait at the barriers of this loop: let one warp do the last steps alone, with shuffles or "
     "__syncwarp(), and unroll them",
     UnrollWhole, UnrollLine},
    {"unroll",
     "the loop's own instructions cost time: let the compiler know how often it runs, by a template parameter, "
     "and unroll it",
     LoopsWhole, LoopsLine},
    {"one launch",
     "small launches finish a large one's work: let its last block do that, or each block use earlier blocks' results",
     OneLaunchWhole, Unchanged},
    {"tensor cores", "multiply matrices of half precision on tensor cores, where that is exact enough", TensorWhole,
     TensorLine},
    {"privatise", "collect in shared memory first, and add each block's result to global memory once", AtomicsWhole,
     AtomicsLine},
    {"occupancy", "more blocks would fit on an SM if each used fewer registers or less shared memory", OccupancyWhole,
     Unchanged},
    {"more blocks", "most SMs have no block: split the work over more blocks", SpreadWhole, Unchanged},
    {"no division", "divide by constants or powers of two, or keep a running count", Always, DivisionLine},
    {"float", "use float where double is not needed: 1.0f, sqrtf", Always, DoubleLine},
    {"no local memory", "index local arrays by constants, so that they stay in registers", Always, LocalLine},
};

// Describes uncoalesced accesses, using the worst recorded one.
std::string CoalesceText(const LineCounters& line) {
  std::map<int64_t, int> steps;
  if (line.global != nullptr) {
    const AccessSample& sample = *line.global;
    for (size_t lane = 1; lane < kWarpSize; ++lane) {
      if ((sample.mask >> (lane - 1) & 3) == 3) {
        ++steps[std::abs(static_cast<int64_t>(sample.at[lane] - sample.at[lane - 1]))];
      }
    }
  }
  constexpr int64_t kMostOfStruct = 128;
  if (steps.size() == 1) {
    const int64_t step = steps.begin()->first;
    if (step <= line.global->bytes) return "let each warp begin at a multiple of 32 bytes";
    const std::string apart = "neighbouring threads are " + std::to_string(step) + " bytes apart: ";
    if (step <= kMostOfStruct) {
      return apart + "use an array for each field instead of an array of structures, or stage them in shared memory";
    }
    return apart +
           "let neighbouring threads use neighbouring elements, through a tile in shared memory if rows become "
           "columns";
  }
  return "neighbouring threads are far apart in memory: let them use neighbouring elements, or sort first";
}

// A copy without lines, which the model does not read.
LaunchRecord WithoutLines(const LaunchRecord& launch) {
  LaunchRecord copy;
  copy.grid = launch.grid;
  copy.block = launch.block;
  copy.registers = launch.registers;
  copy.static_shared = launch.static_shared;
  copy.dynamic_shared = launch.dynamic_shared;
  copy.counters = launch.counters;
  return copy;
}

Kernel KernelOf(const LaunchRecord& launch, const LaunchRecord& longest, const DeviceProfile& device) {
  const uint64_t threads = launch.block.Count();
  const int fit = MaxBlocksPerSm(device, static_cast<int>(threads), static_cast<int>(launch.registers),
                                 uint64_t{launch.static_shared} + launch.dynamic_shared);
  return {launch, longest, device, launch.grid.Count() * ((threads + kWarpSize - 1) / kWarpSize),
          static_cast<uint64_t>(std::max(fit, 1)) * static_cast<uint64_t>(device.sm_count)};
}

// How much a line's counters change.
uint64_t Differences(const Counters& a, const Counters& b) {
  uint64_t sum = 0;
  for (const CounterInfo& info : AllCounters())
    sum += std::max(a.*info.field, b.*info.field) - std::min(a.*info.field, b.*info.field);
  return sum;
}

double SavedBy(const Rule& rule, const LaunchRecord& launch, const LaunchRecord& longest, const DeviceProfile& device) {
  const Kernel kernel = KernelOf(launch, longest, device);
  const double now = EstimateTime(launch, device).microseconds;
  LaunchRecord changed = WithoutLines(launch);
  if (!rule.whole(changed, kernel)) return 0;
  if (changed.grid.Count() == 0) return now;
  for (const LineCounters& line : launch.lines) {
    Counters after = line.counters;
    rule.line(after, kernel);
    for (const CounterInfo& info : AllCounters()) {
      changed.counters.*info.field += after.*info.field - line.counters.*info.field;
    }
  }
  return now - EstimateTime(changed, device).microseconds;
}

// The lines that the rule changes most; for rules that change no line, those with the most loads, stores and atomics.
std::vector<const LineCounters*> LinesOf(const Rule& rule, const LaunchRecord& launch, const DeviceProfile& device) {
  const Kernel kernel = KernelOf(launch, launch, device);
  std::vector<std::pair<uint64_t, const LineCounters*>> lines;
  for (const LineCounters& line : launch.lines) {
    if (line.line == 0) continue;
    Counters after = line.counters;
    rule.line(after, kernel);
    const Counters& c = line.counters;
    const uint64_t amount = rule.line == Unchanged
                                ? c.global_load_requests + c.global_store_requests + c.shared_load_requests + c.atomics
                                : Differences(after, c);
    if (amount > 0) lines.emplace_back(amount, &line);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const LineCounters*> most;
  for (const auto& [amount, line] : lines) {
    if (most.size() < kMostLines && 5 * amount >= lines[0].first) most.push_back(line);
  }
  return most;
}

std::vector<Advice> Changes(const std::vector<const LaunchRecord*>& launches, const LaunchRecord& longest, double total,
                            const DeviceProfile& device) {
  std::vector<Advice> all;
  if (longest.block.Count() == 0 || !longest.is_own) return all;
  for (const Rule& rule : kRules) {
    Advice advice{rule.technique, rule.text, 0, {}};
    for (const LaunchRecord* launch : launches) advice.saved_us += SavedBy(rule, *launch, longest, device);
    if (!(advice.saved_us > 0) || advice.saved_us < kLeastShare * total) continue;
    const std::vector<const LineCounters*> lines = LinesOf(rule, longest, device);
    if (lines.empty()) continue;
    for (const LineCounters* line : lines) advice.lines.emplace_back(line->file, line->line);
    if (advice.technique == kCoalesce) advice.text = CoalesceText(*lines[0]);
    all.push_back(std::move(advice));
  }
  std::stable_sort(all.begin(), all.end(), [](const Advice& a, const Advice& b) { return a.saved_us > b.saved_us; });
  if (all.size() > kMostAdvice) all.resize(kMostAdvice);
  return all;
}

Roofline RooflineOf(const Counters& c, double microseconds, const DeviceProfile& device) {
  const double operations = static_cast<double>(kWarpSize * (c.float32_instructions + c.float64_instructions +
                                                             c.integer_instructions + c.special_function_instructions) +
                                                c.tensor_multiply_adds);
  const double bytes = static_cast<double>(
      std::max<uint64_t>(c.global_load_footprint + c.global_store_footprint + 2 * c.atomic_footprint, 1));
  const double most = device.sm_count * device.issue_per_clock * kWarpSize * device.clock_ghz * 1e3;  // per microsecond
  const double memory = device.dram_gb_per_s * 1e3;
  Roofline roofline{operations / bytes, most / memory, 0};
  // The longer of both: the kernel's minimum time under the roofline.
  const double least = std::max(operations / most, bytes / memory);
  if (microseconds > 0) roofline.share = std::min(1.0, least / microseconds);
  return roofline;
}

FilledSm FilledBy(const LaunchRecord& launch, const DeviceProfile& device) {
  FilledSm sm{{}, device.max_warps_per_sm, device.max_blocks_per_sm, device.registers_per_sm, device.shared_per_sm};
  sm.threads = launch.block.Count();
  sm.registers_each = launch.registers;
  sm.block_shared_bytes = uint64_t{launch.static_shared} + launch.dynamic_shared;
  sm.fits =
      ComputeOccupancy(device, static_cast<int>(sm.threads), static_cast<int>(launch.registers), sm.block_shared_bytes);
  return sm;
}

}  // namespace

KernelAdvice AdviseOn(const KernelSummary& kernel, const DeviceProfile& device) {
  const LaunchRecord& longest = **std::ranges::max_element(kernel.all, {}, &LaunchRecord::microseconds);
  return {kernel.name,
          kernel.microseconds,
          longest.bound_by,
          RooflineOf(kernel.counters, kernel.microseconds, device),
          FilledBy(longest, device),
          Changes(kernel.all, longest, kernel.microseconds, device)};
}

}  // namespace lockstep::vgpu
