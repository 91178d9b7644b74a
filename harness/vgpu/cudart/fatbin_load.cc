#include "vgpu/cudart/fatbin_load.h"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/cudart/fatbin.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr int kAnySm = 10'000;

std::vector<std::string> ChoosePtx(std::span<const Image> images, int max_sm) {
  if (images.size() == 1) return {ExtractPtx(images[0], max_sm)};
  return ExtractPtxModules(images, max_sm).texts;
}

}  // namespace

std::vector<std::string> PtxOf(std::span<const Image> images, const DeviceProfile& profile) {
  try {
    return ChoosePtx(images, profile.cc_major * 10 + profile.cc_minor);
  } catch (const std::runtime_error&) {
    return ChoosePtx(images, kAnySm);
  }
}

ModuleHandle LoadImages(Device& device, std::span<const Image> images) {
  const std::vector<std::string> texts = PtxOf(images, device.profile());
  if (texts.size() == 1) return device.LoadModule(texts[0]);
  return device.LoadModule(std::vector<std::string_view>(texts.begin(), texts.end()));
}

}  // namespace lockstep::vgpu::cudart
