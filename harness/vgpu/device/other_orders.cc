// Before a launch, tries other orders of its warps and blocks (DeviceOptions::orders), to find races hidden by the
// usual order: for example, the first thread to take a lock needs no fence. Each order starts from the memory before
// the launch, and only the races found are kept.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "vgpu/device/device_impl.h"

namespace lockstep::vgpu {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 29;         // memory to restore
constexpr uint64_t kMostInstructions = uint64_t{1} << 26;  // of all warps, per order

// A snapshot of the device's memory, restored at its destruction.
class Snapshot {
 public:
  explicit Snapshot(const GlobalMemory& memory) {
    for (const auto& [base, a] : memory.allocations()) {
      if (a.read_only) continue;
      const auto* from = reinterpret_cast<const uint8_t*>(a.base);
      kept_.emplace_back(a.base, std::vector<uint8_t>(from, from + a.bytes));
    }
  }
  ~Snapshot() {
    for (const auto& [base, bytes] : kept_) {
      if (std::memcmp(reinterpret_cast<void*>(base), bytes.data(), bytes.size()) == 0) continue;
      std::memcpy(reinterpret_cast<void*>(base), bytes.data(), bytes.size());
    }
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  static bool Fits(const GlobalMemory& memory) {
    uint64_t bytes = 0;
    for (const auto& [base, a] : memory.allocations()) bytes += a.read_only ? 0 : a.bytes;
    return bytes <= kMostBytes;
  }

 private:
  std::vector<std::pair<uint64_t, std::vector<uint8_t>>> kept_;
};

bool SamePlaces(const Finding& a, const Finding& b) {
  const auto lines = [](const Finding& finding) {
    return std::minmax(finding.first.ptx_line, finding.second ? finding.second->ptx_line : 0);
  };
  return a.kind == b.kind && lines(a) == lines(b);
}

}  // namespace

void Device::Impl::DropKnown(std::vector<Finding>& findings, const std::vector<Finding>& known) {
  std::erase_if(findings, [&](const Finding& finding) {
    return std::any_of(known.begin(), known.end(), [&](const Finding& other) { return SamePlaces(finding, other); });
  });
}

void Device::Impl::TryOtherOrders(LaunchState& launch, std::vector<Finding>& found, GapSet& gaps) {
  if (options.orders <= 1 || !options.checkers.Has("races") || options.usual_turns) return;
  if (launch.info.grid.Count() * launch.info.warps_per_block == 1) return;
  // Effects other than memory writes could not be undone.
  if (launch.program->calls_runtime || launch.program->calls_malloc || !Snapshot::Fits(memory)) {
    return gaps.Add(Gap::kOrders);
  }
  std::vector<TouchedRange> watched_by_none;
  const auto watched_by = std::exchange(launch.watched, &watched_by_none);
  const auto trace = std::exchange(launch.trace, nullptr);
  const auto debugger = std::exchange(launch.debugger, nullptr);
  const auto replay = std::exchange(launch.replay, nullptr);
  const auto pauses = std::exchange(launch.pauses, nullptr);
  const auto budget = std::exchange(launch.budget, kMostInstructions);
  const auto counters = std::exchange(launch.counters, false);
  for (uint32_t order = 1; order < static_cast<uint32_t>(options.orders); ++order) {
    const Snapshot snapshot(memory);
    launch.order = order;
    const std::unique_ptr<Checker> checker = MakeRaceChecker();
    std::vector<Observer*> watching = {checker.get()};
    LaunchOutcome outcome = RunLaunch(launch, watching, {checker.get()}, pool, nullptr, [](std::string_view) {});
    gaps.Add(outcome.gaps);
    if (outcome.fault && outcome.fault->kind == FindingKind::kTimeout) gaps.Add(Gap::kOrders);
    DropKnown(outcome.findings, found);
    for (Finding& finding : outcome.findings) {
      if (finding.kind == FindingKind::kRace) found.push_back(std::move(finding));
    }
    launch.next_block = 0;
    launch.executed = 0;
    launch.stop_before = 0xffffffffu;
    launch.over_budget = false;
    launch.parallel = false;
  }
  launch.order = 0;
  launch.watched = watched_by;
  launch.trace = trace;
  launch.debugger = debugger;
  launch.replay = replay;
  launch.pauses = pauses;
  launch.budget = budget;
  launch.counters = counters;
}

}  // namespace lockstep::vgpu
