#include "vgpu/model/profile.h"

#include <algorithm>
#include <string_view>

namespace lockstep::vgpu {
namespace {

// Filled by the profiles' static constructors; sorted by id.
std::vector<const DeviceProfile*>& Registry() {
  static std::vector<const DeviceProfile*> profiles;
  return profiles;
}

}  // namespace

ProfileRegistration::ProfileRegistration(const DeviceProfile* profile) {
  std::vector<const DeviceProfile*>& profiles = Registry();
  const auto place = std::lower_bound(
      profiles.begin(), profiles.end(), profile,
      [](const DeviceProfile* a, const DeviceProfile* b) { return std::string_view(a->id) < std::string_view(b->id); });
  profiles.insert(place, profile);
}

const std::vector<const DeviceProfile*>& AllProfiles() { return Registry(); }

const DeviceProfile* FindProfile(std::string_view id) {
  for (const DeviceProfile* profile : Registry()) {
    if (id == profile->id) return profile;
  }
  return nullptr;
}

}  // namespace lockstep::vgpu
