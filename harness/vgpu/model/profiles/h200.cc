// NVIDIA H200 SXM: compute capability 9.0.
#include "vgpu/model/profiles/families.h"

namespace lockstep::vgpu {
namespace {

constexpr DeviceProfile kProfile = [] {
  DeviceProfile profile = kHopper;
  profile.id = "h200";
  profile.name = "NVIDIA H200";
  profile.source =
      "CUDA Programming Guide 13, technical specifications of 9.0; H200 data sheet; the course's measurements";
  profile.memory_bytes = int64_t{143771} << 20;
  profile.l2_bytes = 60 << 20;
  profile.memory_bus_bits = 6016;
  profile.memory_clock_ghz = 3.2;
  profile.dram_gb_per_s = 4800;
  profile.dram_efficiency = 0.884;       // measured: 4241 GB/s
  profile.dram_read_efficiency = 0.964;  // measured: 4629 GB/s
  profile.l2_bytes_per_clock = 3000;     // measured: naive transposes
  return profile;
}();

const ProfileRegistration registration(&kProfile);

}  // namespace
}  // namespace lockstep::vgpu
