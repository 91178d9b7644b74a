// Loads registered images into modules on a device.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vgpu/device/device.h"

namespace lockstep::vgpu::cudart {

using Image = std::span<const uint8_t>;

// One image: a fat binary, PTX text or a linked image; or several of a separately compiled program (nvcc -rdc=true).
// From each, takes the PTX for at most the device's compute capability, as a driver would, else any: a virtual GPU can
// run newer PTX too, which a profile of an old device needs. Throws std::runtime_error with the sentence to show, or
// PtxTooLarge (fatbin.h) if the texts have more than `most_bytes` together.
std::vector<std::string> PtxOf(std::span<const Image> images, const DeviceProfile& profile, uint64_t most_bytes);
std::vector<std::string> PtxOf(std::span<const Image> images, const DeviceProfile& profile);
ModuleHandle LoadTexts(Device& device, std::span<const std::string> texts);
ModuleHandle LoadImages(Device& device, std::span<const Image> images);

}  // namespace lockstep::vgpu::cudart
