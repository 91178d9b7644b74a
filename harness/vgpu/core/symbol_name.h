// Symbol names as in the source. Mangled names can refer back to parts of themselves, so 200 characters can expand to
// 30 GB; of names that might, only the beginning is decoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::vgpu {

// An upper bound on the demangled length. Not tight: names with 30 or more references count as infinite.
uint64_t LongestDemangled(std::string_view mangled);

// A name without the compiler's decoration: the translation unit before a static name ("__nv_static_30__…__Z4fillPi")
// and the number after an array that it has split ("_ZZ1kPiE3sum_$_0").
std::string_view WithoutCompilersParts(std::string_view name);

// No value for an unmangled name: "b" from C code must not become the type "bool". If the result might be endless, as
// for CUB's kernels, only the part before the first template arguments or parameters.
std::optional<std::string> Demangled(const std::string& mangled);

// A variable's name in the source: "sdata" for "_ZZ6kernelPiE5sdata".
std::string VariableName(const std::string& name);

}  // namespace lockstep::vgpu
