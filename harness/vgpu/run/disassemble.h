// vgpu-run --disassemble: the kernels in a file, as the virtual GPU has decoded them.
#pragma once

#include <string>

namespace lockstep::vgpu {
struct DeviceProfile;
}

namespace lockstep::vgpu::run {

// Of a program, a shared library, an object file, a fat binary or PTX text. kernel: the name of one, or "" for all.
// Throws std::runtime_error with the sentence to show.
std::string DisassembleFile(const std::string& path, const std::string& kernel, const DeviceProfile& profile);

}  // namespace lockstep::vgpu::run
