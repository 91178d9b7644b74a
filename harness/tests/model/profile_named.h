// A device's profile, for tests.
#pragma once

#include <gtest/gtest.h>

#include "vgpu/model/profile.h"

namespace lockstep::vgpu {

inline const DeviceProfile& Profile(const char* id) {
  const DeviceProfile* profile = FindProfile(id);
  EXPECT_NE(profile, nullptr) << id;
  return *profile;
}

}  // namespace lockstep::vgpu
