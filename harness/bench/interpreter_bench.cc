// Warp instructions a second of the interpreter, with counters and with every checker.
//
//   build/bench/interpreter_bench --benchmark_filter=counters
//
// The argument is the number of CPU threads. The rate to look at is warp_instructions/s.

#include <benchmark/benchmark.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "vgpu/exec/device.h"

namespace lockstep::vgpu {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Parameters as the kernel's parameter block holds them.
class Parameters {
 public:
  template <typename T>
  Parameters& Add(T value) {
    bytes_.resize((bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    return *this;
  }
  std::span<const uint8_t> bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

enum class Mode { kCounters, kChecks };

void RunKernel(benchmark::State& state, Mode mode, const char* kernel, Dim3 grid, Dim3 block,
               Parameters (*parameters)(Device&)) {
  DeviceOptions options;
  options.threads = static_cast<int>(state.range(0));
  options.check_races = options.check_uninitialized = options.check_sync = mode == Mode::kChecks;
  Device device(*FindProfile("h200"), options);
  const ModuleHandle module = device.LoadModule(ReadFile(LOCKSTEP_BUILD_DIR "/ptx/interpreter.ptx"));
  const Parameters block_of_parameters = parameters(device);
  LaunchSpec launch;
  launch.module = module;
  launch.kernel = kernel;
  launch.grid = grid;
  launch.block = block;
  launch.parameters = block_of_parameters.bytes();
  uint64_t instructions = 0;
  for (auto _ : state) {
    if (device.Launch(launch).error != LaunchError::kNone) {
      state.SkipWithError(device.findings().findings().empty() ? "launch failed"
                                                               : Format(device.findings().findings()[0]).c_str());
      return;
    }
    instructions += device.launches().back().counters.warp_instructions;
    if (!device.findings().findings().empty()) {
      state.SkipWithError(Format(device.findings().findings()[0]).c_str());
      return;
    }
    device.ClearRecords();
  }
  state.counters["warp_instructions"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

uint64_t Zeroed(Device& device, uint64_t bytes, const char* name) {
  const uint64_t address = device.Allocate(bytes, name);
  device.Fill(address, 0, bytes);
  return address;
}

constexpr unsigned kElements = 1 << 20;
constexpr unsigned kSide = 1024;
constexpr unsigned kMatrix = 128;

Parameters ArrayParameters(Device& device) {
  return Parameters()
      .Add(Zeroed(device, 4 * kElements, "d_in"))
      .Add(Zeroed(device, 4 * kElements, "d_out"))
      .Add(kElements);
}
Parameters TransposeParameters(Device& device) {
  return Parameters()
      .Add(Zeroed(device, 4 * kSide * kSide, "d_in"))
      .Add(Zeroed(device, 4 * kSide * kSide, "d_out"))
      .Add(kSide)
      .Add(kSide);
}
Parameters MatrixParameters(Device& device) {
  return Parameters()
      .Add(Zeroed(device, 4 * kMatrix * kMatrix, "d_a"))
      .Add(Zeroed(device, 4 * kMatrix * kMatrix, "d_b"))
      .Add(Zeroed(device, 4 * kMatrix * kMatrix, "d_c"))
      .Add(kMatrix);
}
Parameters DivergentParameters(Device& device) {
  return Parameters().Add(Zeroed(device, 4 * kElements / 16, "d_out")).Add(kElements / 16);
}

void Register(const char* mode_name, Mode mode) {
  const auto add = [&](const char* kernel, Dim3 grid, Dim3 block, Parameters (*parameters)(Device&)) {
    auto* bench = benchmark::RegisterBenchmark(
        (std::string(mode_name) + "/" + kernel).c_str(),
        [=](benchmark::State& state) { RunKernel(state, mode, kernel, grid, block, parameters); });
    bench->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();
    if (mode == Mode::kCounters) bench->Arg(2);
  };
  add("reduction", {kElements / 256, 1, 1}, {256, 1, 1}, ArrayParameters);
  add("scan", {kElements / 256, 1, 1}, {256, 1, 1}, ArrayParameters);
  add("transpose", {kSide / 32, kSide / 32, 1}, {32, 8, 1}, TransposeParameters);
  add("matrix_multiply", {kMatrix / 16, kMatrix / 16, 1}, {16, 16, 1}, MatrixParameters);
  add("divergent", {kElements / 16 / 256, 1, 1}, {256, 1, 1}, DivergentParameters);
}

}  // namespace
}  // namespace lockstep::vgpu

int main(int argc, char** argv) {
  lockstep::vgpu::Register("counters", lockstep::vgpu::Mode::kCounters);
  lockstep::vgpu::Register("checks", lockstep::vgpu::Mode::kChecks);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
