// A launcher's CUDA calls as lines of a message.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "judge/model/verdict.h"
#include "judge/session/session_device.h"

namespace lockstep::judge {

// "cudaMemcpy 4,000 bytes host to device": a numbered line per call; after `most` lines one with the number of
// remaining calls. Calls without an effect are omitted unless they failed or their function begins with one of `also`.
std::vector<vgpu::MessageLine> CallLines(std::span<const worker::ApiCall> trace, std::span<const std::string> also = {},
                                         size_t most = 8);

// "fill_kernel<<<3,128>>> launch.cu:12, stores at launch.cu:5": the first few distinct launches.
std::vector<std::string> LaunchLines(std::span<const worker::ApiCall> trace,
                                     std::span<const vgpu::LaunchRecord> launches, size_t most = 3);

// "copy.cu:17", from a call site with a full path.
std::string SiteText(const std::string& call_site);
// A labelled line with a call site: "at copy.cu:17 cudaMalloc".
vgpu::MessageLine LineAt(const char* label, const std::string& call_site, const std::string& rest = "");
// "at copy.cu:17", or "in main()" if the line is unknown; "" if nothing is known.
std::string AtSite(const std::string& call_site);

// "cudaErrorMemoryAllocation", "error 1234567".
std::string ErrorText(int64_t error);
// The hint for an error that a launcher returned although none of its calls failed.
Hint HintOfReturned(int64_t error);

// Adds the list to each problem, except those of rungs not begun.
void AddCalls(std::vector<Problem>& problems, std::span<const worker::ApiCall> trace,
              std::span<const std::string> also = {});

}  // namespace lockstep::judge
