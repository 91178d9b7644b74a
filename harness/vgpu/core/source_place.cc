#include "vgpu/core/source_place.h"

#include <algorithm>
#include <string_view>

#include "vgpu/core/toolkit_path.h"

namespace lockstep::vgpu {
namespace {

bool IsVersion(std::string_view text) { return text.find_first_not_of("0123456789.-_") == std::string_view::npos; }

std::string_view LastName(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

std::string_view Parent(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// Whether a folder of this name may be a toolkit's root with a folder `include`: cuda, cuda-13.0, cuda/12.4 (NVIDIA's
// HPC SDK), cuda/targets/x86_64-linux, nvidia/cu13 (Python packages), libcudacxx (a checkout of CCCL).
bool IsToolkitRoot(std::string_view folder) {
  const std::string_view name = LastName(folder), above = LastName(Parent(folder));
  if (above == "targets" || above == "nvidia" || name == "libcudacxx") return true;
  return (name.starts_with("cuda") && IsVersion(name.substr(4))) || (above == "cuda" && IsVersion(name));
}

}  // namespace

// Debian installs nvcc's headers among the system's.
bool IsToolkitPath(std::string_view path) {
  constexpr std::string_view kInclude = "/include/";
  if (path.starts_with("/usr/include/")) return true;
  for (size_t at = path.find(kInclude); at != std::string_view::npos; at = path.find(kInclude, at + 1)) {
    if (IsToolkitRoot(path.substr(0, at))) return true;
  }
  return false;
}

SourcePlaces::SourcePlaces(const Program& program) : program_(program) {
  for (const std::string& file : program.files) is_toolkit_header_.push_back(IsToolkitPath(file));
}

bool SourcePlaces::FindCallSites(std::vector<ptx::SourceLocation>& called_at) const {
  bool found = false;
  const auto is_own = [&](const ptx::SourceLocation& place) { return place.line > 0 && !IsToolkitHeader(place); };
  const auto keep = [&](uint32_t callee, const ptx::SourceLocation& place) {
    if (callee == 0 || is_own(called_at[callee])) return;
    called_at[callee] = place;
    found = true;
  };
  ptx::SourceLocation by_pointer;
  for (uint32_t pc = 0; pc < program_.code.size(); ++pc) {
    const Insn& insn = program_.code[pc];
    if (insn.insn_class != InsnClass::kCall) continue;
    const CallSite& call = program_.calls[insn.immediate];
    if (call.builtin != Builtin::kNone) continue;
    const ptx::SourceLocation place = ShownWith(called_at, pc);
    if (!is_own(place)) continue;
    if (call.target == kNoRow) {
      keep(call.callee, place);
    } else {
      by_pointer = place;
    }
  }
  if (is_own(by_pointer)) {
    for (const auto& [address, function] : program_.function_of_address) keep(function, by_pointer);
  }
  return found;
}

std::vector<ptx::SourceLocation> SourcePlaces::CallSites() const {
  constexpr int kMostDepth = 8;  // functions of headers call others
  std::vector<ptx::SourceLocation> called_at(program_.functions.size());
  if (called_at.size() == 1) return called_at;
  for (int depth = 0; depth < kMostDepth && FindCallSites(called_at); ++depth) continue;
  return called_at;
}

ptx::SourceLocation SourcePlaces::ShownWith(const std::vector<ptx::SourceLocation>& called_at, uint32_t pc) const {
  const ptx::SourceLocation shown = Shown(pc);
  if (!IsToolkitHeader(shown)) return shown;
  const auto function = std::ranges::find_if(
      program_.functions, [&](const FunctionInfo& one) { return pc - one.entry_pc < one.end_pc - one.entry_pc; });
  const size_t index = static_cast<size_t>(function - program_.functions.begin());
  return index < called_at.size() && called_at[index].line > 0 ? called_at[index] : shown;
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
