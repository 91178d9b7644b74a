#include "vgpu/core/source_place.h"

#include <algorithm>
#include <string_view>

namespace lockstep::vgpu {
namespace {

// Headers that come with nvcc are in an include folder of CUDA or NVIDIA, wherever it is installed.
bool IsToolkitPath(std::string_view path) {
  if (path.find("/include/") == std::string_view::npos) return false;
  return path.find("cuda") != std::string_view::npos || path.find("nvidia") != std::string_view::npos;
}

}  // namespace

SourcePlaces::SourcePlaces(const Program& program) : program_(program) {
  for (const std::string& file : program.files) is_toolkit_header_.push_back(IsToolkitPath(file));
}

ptx::SourceLocation SourcePlaces::Shown(uint32_t pc) const {
  const InsnInfo& info = program_.info[pc];
  if (info.inline_site < 0 || !IsToolkitHeader(info.location)) return info.location;
  const std::vector<ptx::SourceLocation> chain = program_.InlineChain(pc);
  const auto own = std::find_if(chain.begin(), chain.end(),
                                [&](const ptx::SourceLocation& place) { return !IsToolkitHeader(place); });
  return own == chain.end() ? chain.back() : *own;
}

const ptx::SourceLocation& SourcePlaces::Outermost(uint32_t pc) const {
  const ptx::SourceLocation* place = &program_.info[pc].location;
  size_t depth = 0;
  for (int site = program_.info[pc].inline_site; site >= 0 && depth < kMostInlined; ++depth) {
    place = &program_.inline_sites[static_cast<size_t>(site)].location;
    site = program_.inline_sites[static_cast<size_t>(site)].caller;
  }
  return *place;
}

bool SourcePlaces::KernelIsOwn() const {
  const FunctionInfo& entry = program_.functions[0];
  for (uint32_t pc = entry.entry_pc; pc < entry.end_pc; ++pc) {
    const ptx::SourceLocation& place = Outermost(pc);
    if (place.line > 0 && place.file >= 0) return !IsToolkitHeader(place);
  }
  return true;
}

std::string SourcePlaces::Text(uint32_t pc) const {
  const ptx::SourceLocation place = Shown(pc);
  const std::string_view file = program_.FileName(place);
  if (file.empty() || place.line == 0) return "";
  return std::string(file.substr(file.find_last_of('/') + 1)) + ":" + std::to_string(place.line);
}

}  // namespace lockstep::vgpu
