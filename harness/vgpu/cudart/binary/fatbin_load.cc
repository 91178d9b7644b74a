#include "vgpu/cudart/binary/fatbin_load.h"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/cudart/binary/fatbin.h"
#include "vgpu/cudart/binary/linked_image.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr int kAnySm = 10'000;

std::vector<std::string> ChoosePtx(std::span<const Image> images, int max_sm, uint64_t most_bytes) {
  if (images.size() == 1 && images[0].size() > sizeof(uint64_t) && IsLinkedImage(images[0].data())) {
    return TextsOfLinkedImage(images[0]);
  }
  if (images.size() == 1) return {ExtractPtx(images[0], max_sm, most_bytes)};
  return ExtractPtxModules(images, max_sm, most_bytes).texts;
}

}  // namespace

std::vector<std::string> PtxOf(std::span<const Image> images, const DeviceProfile& profile, uint64_t most_bytes) {
  try {
    return ChoosePtx(images, profile.cc_major * 10 + profile.cc_minor, most_bytes);
  } catch (const PtxTooLarge&) {
    throw;
  } catch (const std::runtime_error&) {
    return ChoosePtx(images, kAnySm, most_bytes);
  }
}

std::vector<std::string> PtxOf(std::span<const Image> images, const DeviceProfile& profile) {
  return PtxOf(images, profile, kLargestPtx);
}

ModuleHandle LoadImages(Device& device, std::span<const Image> images) {
  return LoadTexts(device, PtxOf(images, device.profile()));
}

ModuleHandle LoadTexts(Device& device, std::span<const std::string> texts) {
  if (texts.size() == 1) return device.LoadModule(texts[0]);
  return device.LoadModule(std::vector<std::string_view>(texts.begin(), texts.end()));
}

}  // namespace lockstep::vgpu::cudart
