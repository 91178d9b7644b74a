// From what a program registers to a module on a device.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vgpu/device/device.h"

namespace lockstep::vgpu::cudart {

using Image = std::span<const uint8_t>;

// One image, a fat binary or PTX text; or those of a separately compiled program (nvcc -rdc=true), which are linked. Of
// each the PTX for the device's compute capability or below is taken, as a driver would choose, else any: a virtual GPU
// can run newer PTX too, which a profile of an old device needs. Throws std::runtime_error with the sentence to show.
// PtxTooLarge (fatbin.h) where the texts have more than `most_bytes` together.
std::vector<std::string> PtxOf(std::span<const Image> images, const DeviceProfile& profile, uint64_t most_bytes);
std::vector<std::string> PtxOf(std::span<const Image> images, const DeviceProfile& profile);
ModuleHandle LoadTexts(Device& device, std::span<const std::string> texts);
ModuleHandle LoadImages(Device& device, std::span<const Image> images);

}  // namespace lockstep::vgpu::cudart
