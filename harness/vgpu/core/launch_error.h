// Reasons why a launch fails.
#pragma once

#include <cstdint>

namespace lockstep::vgpu {

enum class LaunchError : uint8_t {
  kNone,
  kInvalidConfiguration,  // grid or block out of range, too much shared memory
  kTooManyResources,      // block too large for the kernel's registers or .maxntid
  kIllegalAddress,
  kMisalignedAddress,
  kTrap /* launch failure */,
  kAssert,
  kTimeout,
  kUnsupported,
  kStackOverflow,
  kCooperativeTooLarge,
  kInvalidClusterSize,  // a cluster that the grid, the kernel or the device does not support
  kIllegalInstruction,
};

}  // namespace lockstep::vgpu
