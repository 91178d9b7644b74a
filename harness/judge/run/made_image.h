// nvcc's output for a submission: the device code that the build put into the worker's file, as the section
// .lockstep.image (harness/worker/build.sh). Only kernels in this image count as compiled from the submission or given
// by the assignment, whatever device code a program carries as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::judge {

// Empty if the file has none. Throws HarnessError if the file is damaged.
std::vector<uint8_t> MadeImageOf(const std::string& worker);

}  // namespace lockstep::judge
