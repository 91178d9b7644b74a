// vgpu-run --disassemble: prints the kernels in a file as the virtual GPU has decoded them.
#pragma once

#include <string>

namespace lockstep::vgpu {
struct DeviceProfile;
}

namespace lockstep::vgpu::run {

// path: a program, shared library, object file, fat binary or PTX text. kernel: a kernel's name, or "" for all. Throws
// std::runtime_error with the message to show.
std::string DisassembleFile(const std::string& path, const std::string& kernel, const DeviceProfile& profile);

}  // namespace lockstep::vgpu::run
