// GeForce RTX 4090: compute capability 8.9.
#include "vgpu/model/profiles/families.h"

namespace lockstep::vgpu {
namespace {

constexpr DeviceProfile kProfile = [] {
  DeviceProfile profile = kGeForce8x;
  profile.id = "rtx4090";
  profile.name = "NVIDIA GeForce RTX 4090";
  profile.source = "CUDA Programming Guide 13, technical specifications of 8.9; GeForce RTX 4090 product page";
  profile.cc_minor = 9;
  profile.sm_count = 128;
  profile.max_blocks_per_sm = 24;
  profile.memory_bytes = int64_t{24} << 30;
  profile.l2_bytes = 72 << 20;
  profile.memory_bus_bits = 384;
  profile.clock_ghz = 2.52;
  profile.memory_clock_ghz = 10.5;
  profile.dram_gb_per_s = 1008;
  profile.dram_efficiency = 0.9;        // estimated
  profile.dram_read_efficiency = 0.93;  // estimated
  profile.l2_bytes_per_clock = 4096;    // estimated
  profile.dram_latency_cycles = 600;    // estimated
  profile.l2_latency_cycles = 280;      // estimated
  profile.host_gb_per_s = 10;           // estimated
  profile.host_pinned_gb_per_s = 25;    // estimated from the bus
  return profile;
}();

const ProfileRegistration registration(&kProfile);

}  // namespace
}  // namespace lockstep::vgpu
