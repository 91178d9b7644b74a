// A scan of 2^24 floats with counters on, on one CPU thread and on two. The result is checked.
#include <benchmark/benchmark.h>

#include "bench/workload.h"

namespace lockstep::vgpu {
namespace {

constexpr uint32_t kN = 1u << 24, kTile = 2048, kThreads = 256, kTiles = (kN + kTile - 1) / kTile;

struct Pass {
  const char* kernel;
  uint32_t blocks, n;
  std::vector<uint64_t> buffers;
};

bool Launch(Device& device, ModuleHandle module, const Pass& pass) {
  std::vector<uint8_t> parameters(8 * pass.buffers.size() + 4);
  std::memcpy(parameters.data(), pass.buffers.data(), 8 * pass.buffers.size());
  std::memcpy(&parameters[8 * pass.buffers.size()], &pass.n, 4);
  LaunchSpec spec;
  spec.module = module;
  spec.kernel = pass.kernel;
  spec.grid = {pass.blocks, 1, 1};
  spec.block = {kThreads, 1, 1};
  spec.parameters = parameters;
  return device.Launch(spec).error == LaunchError::kNone;
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
    const Pass passes[] = {{"sum_tiles", kTiles, kN, {in, sums}},
                           {"scan_sums", 1, kTiles, {sums}},
                           {"scan_tiles", kTiles, kN, {in, sums, out}}};
    for (const Pass& pass : passes) {
      if (!Launch(device, module, pass)) {
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
