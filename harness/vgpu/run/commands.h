// What vgpu-run does other than running a program.
#pragma once

#include <string>
#include <vector>

#include "vgpu/model/profile.h"

namespace lockstep::vgpu::run {

// vgpu-run nvidia-smi: what the virtual GPU is, in the forms that scripts ask nvidia-smi for. Prints to standard output;
// returns the exit status.
int NvidiaSmi(const DeviceProfile& device, const std::vector<std::string>& arguments);

// vgpu-run --disassemble: prints the kernels in a file as the virtual GPU has decoded them. path: a program, shared
// library, object file, fat binary or PTX text. kernel: a kernel's name, or "" for all. Throws std::runtime_error with
// the message to show.
std::string DisassembleFile(const std::string& path, const std::string& kernel, const DeviceProfile& profile);

}  // namespace lockstep::vgpu::run
