// Runs the scan of scan_bench.cu, three kernels, on 2^24 floats.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "dev/bench/workload.h"

namespace lockstep::vgpu {

class ScanWork {
 public:
  explicit ScanWork(int threads) : device_(*FindProfile("h200"), OptionsOf(threads)) {
    module_ = device_.LoadModule(ReadText(LOCKSTEP_BUILD_DIR "/ptx/scan_bench.ptx"));
    std::vector<float> values(kN);
    for (uint32_t k = 0; k < kN; ++k) values[k] = static_cast<float>(k % 2);
    in_ = device_.Allocate(sizeof(float) * kN, "in");
    out_ = device_.Allocate(sizeof(float) * kN, "out");
    sums_ = device_.Allocate(sizeof(float) * kTiles, "sums");
    device_.Write(in_, values.data(), sizeof(float) * kN);
  }

  // False: a launch failed.
  bool Run() {
    return Launch("sum_tiles", kTiles, kN, {in_, sums_}) && Launch("scan_sums", 1, kTiles, {sums_}) &&
           Launch("scan_tiles", kTiles, kN, {in_, sums_, out_});
  }

  bool ResultIsRight() {
    std::vector<float> values(kN);
    device_.Read(values.data(), out_, sizeof(float) * kN);
    for (uint32_t k = 0; k < kN; ++k) {
      if (values[k] != static_cast<float>(k / 2)) return false;
    }
    return true;
  }

 private:
  static constexpr uint32_t kN = 1u << 24, kTile = 2048, kThreads = 256, kTiles = (kN + kTile - 1) / kTile;

  static DeviceOptions OptionsOf(int threads) {
    DeviceOptions options;
    options.threads = threads;
    return options;
  }

  bool Launch(const char* kernel, uint32_t blocks, uint32_t n, const std::vector<uint64_t>& buffers) {
    std::vector<uint8_t> parameters(8 * buffers.size() + 4);
    std::memcpy(parameters.data(), buffers.data(), 8 * buffers.size());
    std::memcpy(&parameters[8 * buffers.size()], &n, 4);
    LaunchSpec spec;
    spec.module = module_;
    spec.kernel = kernel;
    spec.grid = {blocks, 1, 1};
    spec.block = {kThreads, 1, 1};
    spec.parameters = parameters;
    return device_.Launch(spec).error == LaunchError::kNone;
  }

  Device device_;
  ModuleHandle module_;
  uint64_t in_, out_, sums_;
};

}  // namespace lockstep::vgpu
