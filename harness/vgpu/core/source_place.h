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
  // The same as "reduction.cu:41"; empty where no line is known.
  std::string Text(uint32_t pc) const;
  // Whether the kernel itself was written outside of the toolkit's headers; the functions that it calls don't count,
  // nor do functors that were inlined into it. Its first instruction says it: of a functor's loops nvcc forgets where
  // they were inlined. True where there are no lines: nvcc's kernels have them.
  bool KernelIsOwn() const;

  bool IsToolkitHeader(const ptx::SourceLocation& place) const {
    return place.file >= 0 && place.file < static_cast<int>(is_toolkit_header_.size()) &&
           is_toolkit_header_[static_cast<size_t>(place.file)];
  }

 private:
  // Where the code stands that an instruction was inlined into.
  const ptx::SourceLocation& Outermost(uint32_t pc) const;

  const Program& program_;
  std::vector<bool> is_toolkit_header_;  // by SourceLocation::file
};

}  // namespace lockstep::vgpu
