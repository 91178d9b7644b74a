// Warp instructions a second of the interpreter: plain, with counters, with every checker.
#include <benchmark/benchmark.h>

#include <utility>

#include "dev/bench/workload.h"

namespace lockstep::vgpu {
namespace {

enum Mode : int64_t { kPlain, kCounters, kCheckers };

void RunKernel(benchmark::State& state, const Work& work, Mode mode) {
  const std::string ptx = ReadText(LOCKSTEP_BUILD_DIR "/ptx/interpreter_bench.ptx");
  // Instructions are the same in every mode; a counted launch tells their number.
  Device counted(*FindProfile("h200"), DeviceOptions());
  if (counted.Launch(Prepare(counted, counted.LoadModule(ptx), work).spec).error != LaunchError::kNone) {
    state.SkipWithError("the launch failed");
    return;
  }
  const uint64_t instructions = counted.launches()[0].counters.warp_instructions;

  DeviceOptions options;
  options.counters = mode != kPlain;
  if (mode == kCheckers) options.checkers = CheckerSet::All();
  Device device(*FindProfile("h200"), options);
  const Prepared prepared = Prepare(device, device.LoadModule(ptx), work);
  for (auto _ : state) {
    if (device.Launch(prepared.spec).error != LaunchError::kNone) {
      state.SkipWithError("the launch failed");
      return;
    }
  }
  state.counters["warp_instructions/s"] = benchmark::Counter(
      static_cast<double>(instructions) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

const bool registered = [] {
  const std::pair<const char*, Mode> modes[] = {{"plain", kPlain}, {"counters", kCounters}, {"checkers", kCheckers}};
  for (const Work& work : kWork) {
    for (const auto& [name, mode] : modes) {
      benchmark::RegisterBenchmark((std::string(work.kernel) + "/" + name).c_str(), RunKernel, work, mode)
          ->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace lockstep::vgpu

BENCHMARK_MAIN();
