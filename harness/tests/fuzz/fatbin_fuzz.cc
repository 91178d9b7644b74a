// libFuzzer: reads any bytes as a fat binary.
//   cmake --preset sanitize && ninja -C build-sanitize fatbin_fuzz
//   build-sanitize/fuzz/fatbin_fuzz -max_total_time=600 FOLDER-OF-FATBINS
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "vgpu/cudart/binary/fatbin.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    lockstep::vgpu::cudart::ExtractPtx({data, size}, 90);
  } catch (const std::runtime_error&) {
  }
  return 0;
}
