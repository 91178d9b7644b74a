// The source line shown for an instruction. For code inlined from the toolkit's headers this is the call site.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/core/program.h"

namespace lockstep::vgpu {

class SourcePlaces {
 public:
  explicit SourcePlaces(const Program& program);
  // The first location of the instruction's InlineChain outside the toolkit's headers; the last one if all are inside.
  ptx::SourceLocation Shown(uint32_t pc) const;
  // By function: a line outside the headers that calls it, directly or by a pointer; line 0 if none is known.
  std::vector<ptx::SourceLocation> CallSites() const;
  // Like Shown; but for a function in the headers, the line that calls it, from `call_sites`.
  ptx::SourceLocation ShownWith(const std::vector<ptx::SourceLocation>& call_sites, uint32_t pc) const;
  // The location as "reduction.cu:41"; empty if no line is known.
  std::string Text(uint32_t pc) const;
  // Whether the kernel itself was written outside the toolkit's headers; functions that it calls, or functors inlined
  // into it, don't count. Its first instruction decides, because nvcc loses the inlining information of a functor's
  // loops. True without line information: nvcc's own kernels have it.
  bool KernelIsOwn() const;

  bool IsToolkitHeader(const ptx::SourceLocation& place) const {
    return place.file >= 0 && place.file < static_cast<int>(is_toolkit_header_.size()) &&
           is_toolkit_header_[static_cast<size_t>(place.file)];
  }

 private:
  // Adds the calls at lines outside the headers. Returns whether there was a new one.
  bool FindCallSites(std::vector<ptx::SourceLocation>& called_at) const;
  // Location of the outermost call site that an instruction was inlined at.
  const ptx::SourceLocation& Outermost(uint32_t pc) const;

  const Program& program_;
  std::vector<bool> is_toolkit_header_;  // by SourceLocation::file
};

}  // namespace lockstep::vgpu
