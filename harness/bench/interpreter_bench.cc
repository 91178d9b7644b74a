// Warp instructions a second of the interpreter: plain, with counters, with every checker.
#include <benchmark/benchmark.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "vgpu/exec/device.h"

namespace lockstep::vgpu {
namespace {

enum Mode : int64_t { kPlain, kCounters, kCheckers };

struct Work {
  const char* kernel;
  Dim3 grid, block;
  uint32_t shared;
  uint32_t n;       // the last parameter
  size_t buffers;   // pointers before it
  size_t elements;  // of 4 bytes, each buffer
};

constexpr Work kWork[] = {
    {"reduction", {64}, {256}, 1024, 1 << 20, 2, 1 << 20},
    {"reduction_naive", {1024}, {256}, 1024, 1 << 18, 2, 1 << 18},
    {"scan", {512}, {256}, 0, 512 * 256, 2, 512 * 256},
    {"transpose", {32, 32}, {32, 8}, 0, 1024, 2, 1 << 20},
    {"transpose_naive", {32, 32}, {32, 8}, 0, 1024, 2, 1 << 20},
    {"matrix_multiply", {16, 16}, {16, 16}, 0, 256, 3, 256 * 256},
    {"divergent", {64}, {256}, 0, 64 * 256, 2, 64 * 256},
};

std::string ReadPtx() {
  std::ifstream file(LOCKSTEP_BUILD_DIR "/ptx/interpreter_bench.ptx");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void RunKernel(benchmark::State& state, const Work& work, Mode mode) {
  DeviceOptions options;
  options.counters = mode != kPlain;
  options.check_races = options.check_uninitialized = options.check_sync = mode == kCheckers;
  Device device(*FindProfile("h200"), options);
  LaunchSpec spec;
  spec.module = device.LoadModule(ReadPtx());
  spec.kernel = work.kernel;
  spec.grid = work.grid;
  spec.block = work.block;
  spec.dynamic_shared = work.shared;
  std::vector<uint8_t> parameters(8 * work.buffers + 4);
  std::vector<uint32_t> values(work.elements);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<uint32_t>(k % 1000 + 1);
  for (size_t k = 0; k < work.buffers; ++k) {
    const uint64_t buffer = device.Allocate(4 * work.elements, "buffer");
    device.Write(buffer, values.data(), 4 * work.elements);
    std::memcpy(&parameters[8 * k], &buffer, 8);
  }
  std::memcpy(&parameters[8 * work.buffers], &work.n, 4);
  spec.parameters = parameters;
  // Instructions are the same in every mode; a counted launch tells their number.
  DeviceOptions counted;
  uint64_t instructions = 0;
  {
    Device other(*FindProfile("h200"), counted);
    std::vector<uint8_t> own = parameters;
    LaunchSpec first = spec;
    first.module = other.LoadModule(ReadPtx());
    for (size_t k = 0; k < work.buffers; ++k) {
      const uint64_t buffer = other.Allocate(4 * work.elements, "buffer");
      other.Write(buffer, values.data(), 4 * work.elements);
      std::memcpy(&own[8 * k], &buffer, 8);
    }
    first.parameters = own;
    if (other.Launch(first).error != LaunchError::kNone) {
      state.SkipWithError("the launch failed");
      return;
    }
    instructions = other.launches()[0].counters.warp_instructions;
  }
  for (auto _ : state) {
    if (device.Launch(spec).error != LaunchError::kNone) {
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
