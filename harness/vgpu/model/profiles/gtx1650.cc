// GeForce GTX 1650 (GDDR5): compute capability 7.5.
#include "vgpu/model/profiles/families.h"

namespace lockstep::vgpu {
namespace {

constexpr DeviceProfile kProfile = [] {
  DeviceProfile profile = kTuring;
  profile.id = "gtx1650";
  profile.name = "NVIDIA GeForce GTX 1650";
  profile.source = "CUDA Programming Guide 13, technical specifications of 7.5; GeForce GTX 1650 product page";
  profile.sm_count = 14;
  profile.memory_bytes = int64_t{4} << 30;
  profile.l2_bytes = 1 << 20;
  profile.memory_bus_bits = 128;
  profile.clock_ghz = 1.665;
  profile.memory_clock_ghz = 4.0;
  profile.dram_gb_per_s = 128;
  profile.dram_efficiency = 0.85;           // estimated
  profile.dram_read_efficiency = 0.88;      // estimated
  profile.l2_bytes_per_clock = 512;         // estimated
  profile.tensor_operations_per_clock = 0;  // none
  return profile;
}();

const ProfileRegistration registration(&kProfile);

}  // namespace
}  // namespace lockstep::vgpu
