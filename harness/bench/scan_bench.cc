// A scan of 2^24 floats with counters on, on one CPU thread and on two. The result is checked.
#include <benchmark/benchmark.h>

#include "bench/workload.h"

namespace lockstep::vgpu {
namespace {

constexpr uint32_t kN = 1u << 24, kTile = 2048, kThreads = 256, kTiles = (kN + kTile - 1) / kTile;

template <typename T>
void Append(std::vector<uint8_t>& parameters, T value) {
  parameters.resize((parameters.size() + sizeof value - 1) / sizeof value * sizeof value + sizeof value);
  std::memcpy(&parameters[parameters.size() - sizeof value], &value, sizeof value);
}

LaunchSpec Spec(ModuleHandle module, const char* kernel, uint32_t blocks, const std::vector<uint64_t>& buffers,
                uint32_t n) {
  LaunchSpec spec;
  spec.module = module;
  spec.kernel = kernel;
  spec.grid = {blocks, 1, 1};
  spec.block = {kThreads, 1, 1};
  for (const uint64_t buffer : buffers) Append(spec.parameters, buffer);
  Append(spec.parameters, n);
  return spec;
}

void Scan(benchmark::State& state) {
  DeviceOptions options;
  options.threads = static_cast<int>(state.range(0));
  Device device(*FindProfile("h200"), options);
  const ModuleHandle module = device.LoadModule(ReadText(LOCKSTEP_BUILD_DIR "/ptx/scan_bench.ptx"));
  std::vector<float> values(kN);
  for (uint32_t k = 0; k < kN; ++k) values[k] = static_cast<float>(k % 2);
  const uint64_t in = device.Allocate(sizeof(float) * kN, "in"), out = device.Allocate(sizeof(float) * kN, "out");
  const uint64_t sums = device.Allocate(sizeof(float) * kTiles, "sums");
  device.Write(in, values.data(), sizeof(float) * kN);
  for (auto _ : state) {
    const LaunchSpec passes[] = {Spec(module, "sum_tiles", kTiles, {in, sums}, kN),
                                 Spec(module, "scan_sums", 1, {sums}, kTiles),
                                 Spec(module, "scan_tiles", kTiles, {in, sums, out}, kN)};
    for (const LaunchSpec& pass : passes) {
      if (device.Launch(pass).error != LaunchError::kNone) {
        state.SkipWithError("a launch failed");
        return;
      }
    }
  }
  device.Read(values.data(), out, sizeof(float) * kN);
  for (uint32_t k = 0; k < kN; ++k) {
    if (values[k] != static_cast<float>(k / 2)) {
      state.SkipWithError("the scan is wrong");
      return;
    }
  }
}

BENCHMARK(Scan)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace lockstep::vgpu

BENCHMARK_MAIN();
