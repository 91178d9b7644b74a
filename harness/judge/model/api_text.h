// The CUDA calls of a launcher, as a message lists them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "judge/model/verdict.h"
#include "judge/session/session_device.h"

namespace lockstep::judge {

// "cudaMemcpy  4,000 bytes  host to device", one line a call, with its number; after `most` of them one line that says
// how many more there were. Calls that moved, allocated or launched nothing are left out unless they failed; functions
// that begin with one of `also` are there too.
std::vector<vgpu::MessageLine> CallLines(std::span<const worker::ApiCall> trace, std::span<const std::string> also = {},
                                         size_t most = 8);

// "fill_kernel<<<3,128>>>  launch.cu:12, stores at launch.cu:5", of launches that differ, the first few.
std::vector<std::string> LaunchLines(std::span<const worker::ApiCall> trace,
                                     std::span<const vgpu::LaunchRecord> launches, size_t most = 3);

// "copy.cu:17", of a call site with its whole path.
std::string SiteText(const std::string& call_site);
// A line that begins with a call site, and names it: "at      copy.cu:17  cudaMalloc".
vgpu::MessageLine LineAt(const char* label, const std::string& call_site, const std::string& rest = "");
// The same with a word before it: "at copy.cu:17", or "in main()" where no line is known; "" where nothing is.
std::string AtSite(const std::string& call_site);

// "cudaErrorMemoryAllocation", "error 1234567".
std::string ErrorText(int64_t error);
// What to do about an error that a launcher returned though no call of it failed.
Hint HintOfReturned(int64_t error);

// Puts the list into each problem, where it is more than that the student has not begun.
void AddCalls(std::vector<Problem>& problems, std::span<const worker::ApiCall> trace,
              std::span<const std::string> also = {});

}  // namespace lockstep::judge
