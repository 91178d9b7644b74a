// A device's launches: checks, limits, and records.
#include <algorithm>
#include <cstring>

#include "vgpu/core/float_environment.h"
#include "vgpu/core/grouped.h"
#include "vgpu/device/device_impl.h"
#include "vgpu/exec/block_replay.h"
#include "vgpu/exec/debugger.h"
#include "vgpu/exec/warp_trace.h"
#include "vgpu/model/occupancy.h"
#include "vgpu/model/time_model.h"

namespace lockstep::vgpu {
namespace {

constexpr uint32_t kAnyBlock = 1024;        // threads per block if the kernel states no limit
constexpr uint64_t kWorthAThread = 20'000;  // warp instructions of a checked launch
// Per-line counters kept between two calls of ClearRecords, some 600 bytes each; later launches keep only totals. One
// call of an assignment's function needs a few hundred.
constexpr uint64_t kMostRecordedLines = 200'000;
constexpr uint64_t kGridWorkspaceBytes = 256;
constexpr double kAlmostABlock = 1e-6;  // rounding error of sums of fractions of the device
constexpr uint32_t kReservedShared = 1024;
constexpr double kMostOverestimate = 1.65;
constexpr uint64_t kResidentBytes = uint64_t{512} << 20;  // host memory for blocks that wait for each other
// The limit if all blocks must be resident: a cooperative grid, a cluster.
constexpr uint64_t kMostResidentBytes = uint64_t{4} << 30;

}  // namespace

// The decoder limits a kernel's registers as for current GPUs. A block of a kernel with .maxntid may then need more
// than an older GPU has, for which the compiler would have used fewer. And what is live in PTX is up to 1.65 times what
// the assembler needs (196 kernels, sm_80): a block that may fit so is taken to fit, except on GPUs of compute
// capability 1.x, whose assembler had other kernels.
int RegistersOn(const DeviceProfile& profile, const KernelInfo& kernel, uint64_t block_threads) {
  const auto room = [&](uint64_t threads) {
    return profile.registers_per_block / static_cast<int>(std::clamp<uint64_t>(threads, kWarpSize, kAnyBlock));
  };
  int registers = static_cast<int>(kernel.registers);
  if (kernel.largest_block() < kAnyBlock) registers = std::min(registers, room(kernel.largest_block()));
  const int unit = profile.register_allocation_unit / kWarpSize;
  const int most = room(block_threads) / unit * unit;
  const bool may_fit = profile.cc_major > 1 && registers <= kMostOverestimate * most;
  return may_fit ? std::min(registers, most) : registers;
}

namespace {

// Blocks per cluster: from the launch, or the kernel, or one.
Dim3 ClusterShape(const LaunchSpec& spec, const KernelInfo& kernel) {
  const Dim3 none{0, 0, 0};
  return !(spec.cluster == none) ? spec.cluster : !(kernel.cluster == none) ? kernel.cluster : Dim3{1, 1, 1};
}

}  // namespace

LaunchError Device::Impl::CheckShape(const LaunchSpec& spec, const KernelInfo& kernel, uint32_t* blocks_per_sm) const {
  const Dim3 &g = spec.grid, &b = spec.block;
  if (g.x == 0 || g.y == 0 || g.z == 0 || b.x == 0 || b.y == 0 || b.z == 0) return LaunchError::kInvalidConfiguration;
  if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535 || g.Count() > 0xfffffffeu || b.x > 1024 || b.y > 1024 ||
      b.z > 64 || b.Count() > static_cast<uint64_t>(std::min(profile.max_threads_per_block, 1024))) {
    return LaunchError::kInvalidConfiguration;
  }
  if (kernel.required_block.x != 0 && !(b == kernel.required_block)) return LaunchError::kInvalidConfiguration;
  const uint64_t shared = uint64_t{kernel.static_shared} + spec.dynamic_shared;
  if (shared > static_cast<uint64_t>(std::max(profile.shared_per_block, profile.shared_per_block_optin))) {
    return LaunchError::kInvalidConfiguration;
  }
  if (spec.parameters.size() < kernel.parameter_bytes) return LaunchError::kInvalidConfiguration;
  const Dim3 c = ClusterShape(spec, kernel), none{0, 0, 0};
  if (c.x == 0 || c.y == 0 || c.z == 0 || c.Count() > kMaxClusterBlocks || g.x % c.x != 0 || g.y % c.y != 0 ||
      g.z % c.z != 0 || (!(kernel.cluster == none) && !(c == kernel.cluster))) {
    return LaunchError::kInvalidClusterSize;
  }
  if (b.Count() > kernel.max_threads) return LaunchError::kTooManyResources;
  const int blocks =
      vgpu::MaxBlocksPerSm(profile, static_cast<int>(b.Count()), RegistersOn(profile, kernel, b.Count()), shared);
  if (blocks <= 0) return LaunchError::kTooManyResources;
  *blocks_per_sm = static_cast<uint32_t>(blocks);
  if (spec.cooperative && g.Count() > static_cast<uint64_t>(blocks) * static_cast<uint64_t>(profile.sm_count)) {
    return LaunchError::kCooperativeTooLarge;
  }
  return LaunchError::kNone;
}

// Whether trying to run a checked launch's blocks in parallel is worthwhile.
bool Device::Impl::TriesIsolated(const LaunchSpec& spec) {
  if (pool.size() < 2 || !checked || !options.checkers.Has("races")) return false;
  const auto shown = isolated.find({spec.module, spec.kernel});
  const uint64_t blocks = spec.grid.Count();
  if (shown != isolated.end() && (blocks >= shown->second.met_from || blocks <= shown->second.small_to)) return false;
  if (isolation == nullptr) isolation = std::make_unique<BlockIsolation>(memory.begin(), memory.end());
  return true;
}

void Device::Impl::SetBudget(LaunchState& launch) const {
  const uint64_t most = options.instruction_budget;
  const uint64_t warps = launch.info.grid.Count() * launch.info.warps_per_block;
  const uint64_t instructions = launch_budget == 0 ? 0 : launch_budget + launch_budget_per_warp * warps;
  // Starting the blocks is included in the budget but not in the message.
  const uint64_t own = instructions == 0 ? 0 : instructions + launch.start_charge * launch.info.grid.Count();
  launch.budget = own == 0 || most == 0 ? std::max(own, most) : std::min(own, most);
  launch.budget_text = Grouped(launch.budget == own ? instructions : launch.budget) + " warp instructions";
}

// A grid in LaunchGrid, from Plan to Record.
struct Device::Impl::GridLaunch {
  GridLaunch(const LaunchSpec& launch, const ParentLaunch& parent) : spec(launch), asked_by(parent) {}

  const LaunchSpec& spec;
  const ParentLaunch& asked_by;
  LoadedModule* module = nullptr;
  std::shared_ptr<const Program> program;
  LaunchState state;
  std::vector<uint8_t> parameters;
  uint64_t most_blocks = 0;  // resident on the whole device
  uint64_t together = 0;     // blocks that have to be resident at the same time
  std::optional<LaunchClock> clock;
  std::optional<TraceJob> trace;
  std::optional<ReplayJob> replay;
  std::optional<GridRuntime> runtime;
  FootprintObserver footprint;

  const KernelInfo& kernel() const { return program->kernel; }
};

// Fills in the launch's shape, memory and budgets, or returns why it is refused. Of the device it changes only the
// number of launches and the decoded kernels.
LaunchError Device::Impl::Plan(GridLaunch& grid) {
  const LaunchSpec& spec = grid.spec;
  grid.module = FindModule(spec.module);
  grid.program = grid.module == nullptr ? nullptr : grid.module->ShareProgram(spec.kernel);
  if (grid.program == nullptr) return LaunchError::kInvalidConfiguration;
  const Program& program = *grid.program;
  const KernelInfo& kernel = program.kernel;
  uint32_t blocks_per_sm = 0;
  if (const LaunchError error = CheckShape(spec, kernel, &blocks_per_sm); error != LaunchError::kNone) return error;

  LaunchState& launch = grid.state;
  launch.program = &program;
  launch.memory = &memory;
  launch.textures = &textures;
  launch.info = {&program, next_launch++, kernel.demangled, spec.grid, spec.block};
  launch.info.warps_per_block = static_cast<uint32_t>((spec.block.Count() + kWarpSize - 1) / kWarpSize);
  launch.info.shared_bytes = launch.shared_bytes = kernel.static_shared + spec.dynamic_shared;
  launch.reserved_shared_offset = launch.shared_bytes;
  if (program.uses_reserved_shared) {
    launch.info.shared_bytes = launch.shared_bytes = (launch.shared_bytes + 15) / 16 * 16 + kReservedShared;
  }
  launch.info.cooperative = spec.cooperative;
  launch.info.current_graph = spec.current_graph;
  launch.info.strong_is_data = options.strong_is_data;
  launch.cluster = launch.info.cluster = ClusterShape(spec, kernel);
  launch.has_clusters = !(spec.cluster == Dim3{0, 0, 0}) || !(kernel.cluster == Dim3{0, 0, 0});
  launch.dynamic_shared_offset = kernel.static_shared;
  grid.parameters.resize(kernel.parameter_bytes + 64);
  std::copy_n(spec.parameters.begin(), kernel.parameter_bytes, grid.parameters.begin());
  launch.parameters = grid.parameters.data();
  launch.parameter_bytes = kernel.parameter_bytes;
  launch.sm_count = static_cast<uint32_t>(std::max(profile.sm_count, 1));
  launch.warps_per_sm = static_cast<uint32_t>(profile.max_warps_per_sm);
  launch.counters = options.counters;
  launch.usual_turns = options.usual_turns;
  launch.watched = &watched;
  const FunctionInfo& entry = program.functions[0];
  const uint64_t warp_bytes =
      entry.frame_bytes + kWarpSize * (uint64_t{entry.area_bytes} + program.local_stride) + sizeof(WarpState);
  const uint64_t block_bytes = launch.shared_bytes + launch.info.warps_per_block * warp_bytes;
  grid.most_blocks = uint64_t{blocks_per_sm} * launch.sm_count;
  launch.resident_blocks =
      static_cast<uint32_t>(std::min<uint64_t>(grid.most_blocks, 1 + kResidentBytes / block_bytes));
  launch.resident_blocks = std::max(launch.resident_blocks, static_cast<uint32_t>(launch.cluster.Count()));
  // What a block's start initialises: all its memory except the part of each stack that only deeper calls touch.
  const uint64_t started_bytes =
      block_bytes - (program.local_stride - entry.local_bytes) * uint64_t{kWarpSize} * launch.info.warps_per_block;
  launch.start_charge = StartCharge(started_bytes);
  SetBudget(launch);
  grid.together = spec.cooperative ? spec.grid.Count() : launch.cluster.Count();
  if (grid.together > 1 && grid.together * started_bytes > kMostResidentBytes) {
    return spec.cooperative ? LaunchError::kCooperativeTooLarge : LaunchError::kTooManyResources;
  }
  return LaunchError::kNone;
}

// Sets up the launch's clock, trace, debugger, recording of a block, and device runtime.
void Device::Impl::Attend(GridLaunch& grid) {
  LaunchState& launch = grid.state;
  const KernelInfo& kernel = grid.kernel();
  launch.clock = &grid.clock.emplace(options.launch_seconds, pool.size());
  if (options.trace &&
      (options.trace->kernel.empty() || IsNameOf(options.trace->kernel, kernel.mangled, kernel.demangled))) {
    grid.trace = TraceJob{*options.trace, grid.module->List(*grid.program), options.print_trace};
    if (BeginTrace(*grid.trace, launch.info)) launch.trace = &*grid.trace;
  }
  if (options.debugger != nullptr && options.debugger->BeginLaunch(launch.info, grid.module->List(*grid.program))) {
    launch.debugger = options.debugger.get();
  }
  if (options.replay != nullptr && options.replay->Wants(launch.info)) {
    launch.replay =
        &grid.replay.emplace(launch.info, options.replay->BlockOf(launch.info), grid.module->List(*grid.program));
  }
  if (grid.program->calls_runtime && options.answers != nullptr) {
    launch.runtime = &grid.runtime.emplace(ChildWorks(kernel.demangled, grid.asked_by.pending),
                                           KernelsOf(grid.spec.module), *options.answers, grid.spec.graph);
  }
}

// Frees memory that only the launch had, and hands its accesses to the check across streams.
void Device::Impl::EndGrid(GridLaunch& grid) {
  LaunchState& launch = grid.state;
  std::vector<std::pair<uint64_t, uint64_t>> own_memory;  // address, bytes
  if (launch.grid_workspace != 0) own_memory.emplace_back(launch.grid_workspace, kGridWorkspaceBytes);
  if (grid.runtime) own_memory.insert(own_memory.end(), grid.runtime->chunks().begin(), grid.runtime->chunks().end());
  for (const auto& [address, bytes] : own_memory) {
    Tell([&, at = address, size = bytes](Observer& o) { o.OnFree(at, size); });
    memory.Free(address);
  }
  // A launch that waited for other work is not compared with it: the wait may have ordered the two.
  const bool has_paused = launch.pauses != nullptr && static_cast<Suspended*>(launch.pauses)->has_paused();
  if (!streams.active() || has_paused) return;
  std::optional<Footprint> touched = grid.footprint.Take();
  if (!touched) LeaveOut(Gap::kFootprint, grid.kernel().demangled);
  for (const auto& [address, bytes] : own_memory) {
    if (touched) touched->Forget(address, address + bytes);
  }
  streams.Launched(grid.program, launch.info, std::move(touched));
}

void Device::Impl::NoteIsolated(const LaunchSpec& spec, const LaunchOutcome& outcome) {
  if (isolation == nullptr) return;
  Isolated& shown = isolated[{spec.module, spec.kernel}];
  const uint64_t blocks = spec.grid.Count();
  if (outcome.blocks_met) shown.met_from = std::min(shown.met_from, blocks);
  if (outcome.instructions < kWorthAThread) {
    shown.small_to = std::max(shown.small_to, blocks);
  } else {
    shown.small_to = std::min(shown.small_to, blocks - 1);
  }
}

// Adds the launch's record, and returns its modelled time.
double Device::Impl::Record(const GridLaunch& grid, LaunchOutcome& outcome) {
  const LaunchSpec& spec = grid.spec;
  const KernelInfo& kernel = grid.kernel();
  LaunchRecord record;
  record.ordinal = grid.state.info.ordinal;
  record.kernel = kernel.demangled;
  record.mangled = kernel.mangled;
  record.launched_by = grid.asked_by.kernel;
  record.is_own = grid.program->is_own;
  record.grid = spec.grid;
  record.block = spec.block;
  record.static_shared = kernel.static_shared;
  record.dynamic_shared = spec.dynamic_shared;
  record.local_bytes = kernel.local_bytes;
  const int registers = RegistersOn(profile, kernel, spec.block.Count());
  record.registers = static_cast<uint32_t>(registers);
  record.theoretical_occupancy = ComputeOccupancy(profile, static_cast<int>(spec.block.Count()), registers,
                                                  kernel.static_shared + spec.dynamic_shared)
                                     .fraction;
  record.counters = outcome.counters;
  record.busiest_block = outcome.busiest_block;
  record.longest_warp = outcome.longest_warp;
  record.lines = std::move(outcome.lines);
  record.stores = std::move(outcome.stores);
  record.cpu_threads = outcome.threads;
  const DeviceProfile& timed_as = options.timed_as != nullptr ? *options.timed_as : profile;
  const int timed_registers =
      options.timed_as != nullptr ? RegistersOn(timed_as, kernel, spec.block.Count()) : registers;
  const TimeEstimate time = EstimateTime(record, timed_as, static_cast<uint32_t>(timed_registers));
  record.microseconds = time.microseconds;
  record.bound_by = time.bound_by;
  recorded_lines += record.lines.size();
  if (recorded_lines > kMostRecordedLines) record.lines = {};
  Keep(std::move(record));
  return time.microseconds;
}

LaunchResult Device::Impl::LaunchGrid(const LaunchSpec& spec, LaunchPauses* pauses, const ParentLaunch& asked_by,
                                      ChildWorks* works) {
  const DefaultFloatEnvironment environment;
  if (fault != LaunchError::kNone) return {fault};
  GridLaunch grid(spec, asked_by);
  if (const LaunchError error = Plan(grid); error != LaunchError::kNone) return {error};
  LaunchState& launch = grid.state;
  if (!suspended.empty() && asked_by.kernel.empty()) {
    const auto room = static_cast<uint64_t>(FreeRoom() * static_cast<double>(grid.most_blocks) + kAlmostABlock);
    if (room < grid.together) return {.no_room = true};
    launch.resident_blocks = static_cast<uint32_t>(std::min<uint64_t>(launch.resident_blocks, room));
  }
  launch.pauses = pauses;
  if (pauses != nullptr) static_cast<Suspended*>(pauses)->set_most_blocks(static_cast<double>(grid.most_blocks));
  if (spec.cooperative) {
    launch.resident_blocks = static_cast<uint32_t>(spec.grid.Count());
    launch.grid_workspace = memory.Allocate(kGridWorkspaceBytes, "grid barrier", "", true, false);
    if (launch.grid_workspace == 0) return {LaunchError::kTooManyResources};
    std::memset(reinterpret_cast<void*>(launch.grid_workspace), 0, kGridWorkspaceBytes);
    Tell([&](Observer& o) {
      o.OnAllocate(launch.grid_workspace, kGridWorkspaceBytes);
      o.OnHostWrite(launch.grid_workspace, kGridWorkspaceBytes);
    });
  }
  Attend(grid);

  // Copied, because a launch that pauses keeps the checkers that it began with.
  const bool is_checked = checked;
  const std::vector<Checker*> checking = is_checked ? checkers : std::vector<Checker*>();
  std::vector<Observer*> watching(observers.begin() + (is_checked ? 0 : std::ssize(checkers)), observers.end());
  if (streams.active()) watching.push_back(&grid.footprint);
  std::vector<Finding> in_other_orders;
  GapSet gaps;
  TryOtherOrders(launch, in_other_orders, gaps);
  LaunchOutcome outcome =
      RunLaunch(launch, watching, checking, pool, TriesIsolated(spec) ? isolation.get() : nullptr, options.print);
  if (!is_checked) {
    for (Checker* checker : checkers) {
      for (const auto& [base, a] : memory.allocations()) checker->OnHostWrite(a.base, a.bytes);
    }
  }
  if (launch.trace != nullptr) EndTrace(*grid.trace);
  if (grid.replay) options.replay->Keep(std::move(*grid.replay), outcome.fault || !outcome.findings.empty());
  NoteIsolated(spec, outcome);
  EndGrid(grid);

  LaunchResult result{LaunchError::kNone, Record(grid, outcome)};
  DropKnown(in_other_orders, outcome.findings);
  outcome.findings.insert(outcome.findings.end(), in_other_orders.begin(), in_other_orders.end());
  if (outcome.fault) outcome.findings.push_back(*outcome.fault);
  for (Finding& finding : outcome.findings) {
    finding.launched_by = TextOf(asked_by);
    findings.Add(std::move(finding));
  }
  gaps.Add(outcome.gaps);
  LeaveOut(gaps, grid.kernel().demangled);
  if (outcome.fault) {
    result.error = fault = ErrorOf(*outcome.fault);
  } else if (grid.runtime) {
    *works = std::move(grid.runtime->works());
  }
  return result;
}

}  // namespace lockstep::vgpu
