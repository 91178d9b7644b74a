// What nvcc made of a submission: the device code that its build has put into the worker's file, as the section
// .lockstep.image (harness/worker/build.sh). Kernels that were compiled from the submission, or that the assignment
// gives, are those of this image, whatever a program says of others that it brings along as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::judge {

// Empty where the build has put none there. Throws HarnessError where the file can't be read.
std::vector<uint8_t> MadeImageOf(const std::string& worker);

}  // namespace lockstep::judge
