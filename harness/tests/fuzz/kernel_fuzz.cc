// libFuzzer: parses and decodes any text, and runs its kernels with every checker on, for a bounded number of
// instructions. Nothing that a text holds may reach beyond the device's own memory.
//   cmake --preset sanitize && ninja -C build-sanitize kernel_fuzz
//   build-sanitize/fuzz/kernel_fuzz -max_total_time=600 -dict=harness/tests/fuzz/ptx.dict FOLDER-OF-PTX
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/device/device.h"
#include "vgpu/ptx/module.h"

namespace {

using namespace lockstep::vgpu;

constexpr uint64_t kBufferBytes = 4096;
constexpr size_t kMostKernels = 4;

// Parameters of 8 bytes at even positions are the buffer's address, the others are small numbers.
std::vector<uint8_t> Parameters(const KernelInfo& kernel, uint64_t buffer) {
  std::vector<uint8_t> bytes(kernel.parameter_bytes);
  uint64_t k = 0;
  for (const KernelParameter& p : kernel.parameters) {
    const uint64_t value = p.bytes == 8 && k % 2 == 0 ? buffer : 40 + k;
    const size_t width = std::min<size_t>(p.bytes, sizeof value);
    if (width != 0) std::memcpy(&bytes[p.offset], &value, width);  // a parameter may be an array of nothing
    ++k;
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  DeviceOptions options;
  options.checkers = CheckerSet::All();
  options.instruction_budget = 2000;
  options.memory_bytes = uint64_t{16} << 20;
  options.print = [](std::string_view) {};
  static Device device(*FindProfile("h200"), options);
  try {
    const ModuleHandle module = device.LoadModule({reinterpret_cast<const char*>(data), size});
    const std::vector<std::string> names = device.KernelNames(module);
    for (size_t k = 0; k < std::min(names.size(), kMostKernels) && !device.faulted(); ++k) {
      const KernelInfo* kernel = device.FindKernel(module, names[k]);
      if (kernel == nullptr) continue;
      const uint64_t buffer = device.Allocate(kBufferBytes, "buffer");
      const std::vector<uint8_t> parameters = Parameters(*kernel, buffer);
      LaunchSpec spec;
      spec.module = module;
      spec.kernel = names[k];
      spec.grid = {2, 1, 1};
      spec.block = {48, 1, 1};
      spec.dynamic_shared = 256;
      spec.parameters = parameters;
      device.Launch(spec);
      for (const Finding& finding : device.findings().findings()) Format(finding);
    }
  } catch (const ptx::PtxError&) {
  }
  device.ClearRecords();
  device.Reset();
  return 0;
}
