// libFuzzer: any bytes through the fat binary reader.
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -I harness harness/tests/fuzz/fatbin_fuzz.cc
//     harness/vgpu/cudart/fatbin.cc -lzstd -o fatbin_fuzz
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "vgpu/cudart/fatbin.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    lockstep::vgpu::cudart::ExtractPtx({data, size}, 90);
  } catch (const std::runtime_error&) {
  }
  return 0;
}
