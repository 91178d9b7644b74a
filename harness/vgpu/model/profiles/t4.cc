// NVIDIA T4, common in hosted notebooks: compute capability 7.5.
#include "vgpu/model/profiles/families.h"

namespace lockstep::vgpu {
namespace {

constexpr DeviceProfile kProfile = [] {
  DeviceProfile profile = kTuring;
  profile.id = "t4";
  profile.name = "Tesla T4";
  profile.source = "CUDA Programming Guide 13, technical specifications of 7.5; T4 data sheet";
  profile.sm_count = 40;
  profile.memory_bytes = int64_t{16} << 30;
  profile.l2_bytes = 4 << 20;
  profile.memory_bus_bits = 256;
  profile.clock_ghz = 1.59;
  profile.memory_clock_ghz = 5.0;
  profile.dram_gb_per_s = 320;
  profile.dram_efficiency = 0.78;              // estimated
  profile.dram_read_efficiency = 0.82;         // estimated
  profile.l2_bytes_per_clock = 1024;           // estimated
  profile.tensor_operations_per_clock = 1024;  // 8 cores of 64 multiply-adds
  return profile;
}();

const ProfileRegistration registration(&kProfile);

}  // namespace
}  // namespace lockstep::vgpu
