// Symbols as their source has them. Mangled names refer back to parts of themselves, so that 200 characters can stand
// for 30 GB: how long a name may become is asked first where it is a stranger's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::vgpu {

// A bound of the demangled name's length. Not sharp: names of 30 references and more count as endless.
uint64_t LongestDemangled(std::string_view mangled);

// Nothing where it is no mangled name: what C calls "b" is no type "bool".
std::optional<std::string> Demangled(const std::string& mangled);

// A variable as its source calls it: of "_ZZ6kernelPiE5sdata", "sdata".
std::string VariableName(const std::string& name);

}  // namespace lockstep::vgpu
