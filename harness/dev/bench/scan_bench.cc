// A scan of 2^24 floats with counters on, on one CPU thread and on two. The result is checked.
#include <benchmark/benchmark.h>

#include "dev/bench/scan_work.h"

namespace lockstep::vgpu {
namespace {

void Scan(benchmark::State& state) {
  ScanWork work(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    if (!work.Run()) {
      state.SkipWithError("a launch failed");
      return;
    }
  }
  if (!work.ResultIsRight()) state.SkipWithError("the scan is wrong");
}

BENCHMARK(Scan)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace lockstep::vgpu

BENCHMARK_MAIN();
