// GeForce RTX 3060 (12 GB): compute capability 8.6.
#include "vgpu/model/profiles/families.h"

namespace lockstep::vgpu {
namespace {

constexpr DeviceProfile kProfile = [] {
  DeviceProfile profile = kGeForce8x;
  profile.id = "rtx3060";
  profile.name = "NVIDIA GeForce RTX 3060";
  profile.source = "CUDA Programming Guide 13, technical specifications of 8.6; GeForce RTX 3060 product page";
  profile.cc_minor = 6;
  profile.sm_count = 28;
  profile.max_blocks_per_sm = 16;
  profile.memory_bytes = int64_t{12} << 30;
  profile.l2_bytes = 2304 << 10;
  profile.memory_bus_bits = 192;
  profile.clock_ghz = 1.777;
  profile.memory_clock_ghz = 7.5;
  profile.dram_gb_per_s = 360;
  profile.dram_efficiency = 0.88;       // estimated
  profile.dram_read_efficiency = 0.92;  // estimated
  profile.l2_bytes_per_clock = 1536;    // estimated
  profile.dram_latency_cycles = 500;    // estimated
  profile.l2_latency_cycles = 240;      // estimated
  profile.host_gb_per_s = 8;            // estimated
  profile.host_pinned_gb_per_s = 24;    // estimated from the bus
  return profile;
}();

const ProfileRegistration registration(&kProfile);

}  // namespace
}  // namespace lockstep::vgpu
