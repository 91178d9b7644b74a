// NVIDIA H100 SXM, 80 GB: compute capability 9.0.
#include "vgpu/model/profiles/families.h"

namespace lockstep::vgpu {
namespace {

constexpr DeviceProfile kProfile = [] {
  DeviceProfile profile = kHopper;
  profile.id = "h100";
  profile.name = "NVIDIA H100 80GB HBM3";
  profile.source = "CUDA Programming Guide 13, technical specifications of 9.0; H100 data sheet; times-h100.csv";
  profile.memory_bytes = int64_t{81559} << 20;
  profile.l2_bytes = 50 << 20;
  profile.memory_bus_bits = 5120;
  profile.memory_clock_ghz = 2.619;
  profile.dram_gb_per_s = 3352;
  profile.dram_efficiency = 0.884;       // the H200's; matches measured copies
  profile.dram_read_efficiency = 0.964;  // the H200's; matches rung 8 at 2^25
  profile.l2_bytes_per_clock = 2700;     // measured: naive transposes
  return profile;
}();

const ProfileRegistration registration(&kProfile);

}  // namespace
}  // namespace lockstep::vgpu
