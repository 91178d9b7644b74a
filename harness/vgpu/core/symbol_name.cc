#include "vgpu/core/symbol_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace lockstep::vgpu {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

// Reads the number at position `at` and moves `at` past it. The result is at most the text's length.
size_t TakeNumber(std::string_view text, size_t& at) {
  size_t number = 0;
  for (; at < text.size() && IsDigit(text[at]); ++at) {
    number = std::min(10 * number + static_cast<size_t>(text[at] - '0'), text.size());
  }
  return number;
}

// The length of a literal of a one-letter type, "Lb1E" or "Lin2E", at this position; else 0. The 'L' in "fL0p_", a
// parameter, is not one.
size_t LiteralLength(std::string_view mangled, size_t begin) {
  size_t k = begin + 1;
  if (mangled[begin] != 'L' || (begin > 0 && mangled[begin - 1] == 'f')) return 0;
  if (k == mangled.size() || !IsLower(mangled[k])) return 0;
  if (++k < mangled.size() && mangled[k] == 'n') ++k;
  const size_t digits = k;
  while (k < mangled.size() && IsDigit(mangled[k])) ++k;
  return k > digits && k < mangled.size() && mangled[k] == 'E' ? k + 1 - begin : 0;
}

// "cub::detail::kernel" for "_ZN3cub6detail6kernelIS0_…": the identifiers that it begins with.
std::optional<std::string> LeadingNames(std::string_view mangled) {
  std::string names;
  size_t at = mangled.starts_with("_ZN") ? 3 : 2;
  while (at < mangled.size() && IsDigit(mangled[at])) {
    const size_t length = TakeNumber(mangled, at);
    names += (names.empty() ? "" : "::") + std::string(mangled.substr(std::min(at, mangled.size()), length));
    at += length;
  }
  return names.empty() ? std::nullopt : std::optional(names);
}

}  // namespace

uint64_t LongestDemangled(std::string_view mangled) {
  // A part with k references to another part of length x has length k x and costs k references. With m references in
  // all the total is at most k^(m / k), which is largest near k = e.
  constexpr double kGrowth = 1.4447, kStandardName = 80;  // "Ss": std::basic_string<…>
  double length = 0;
  int references = 0;
  // Identifiers ("6kernel") contain no references. After a literal of another type a number may mean something else.
  bool skips = true;
  for (size_t k = 0; k < mangled.size(); ++k) {
    const char c = mangled[k];
    if (skips && IsDigit(c)) {
      const size_t letters = TakeNumber(mangled, k);
      const bool identifier = k < mangled.size() && mangled[k] != '_' && mangled[k] != 'E';
      if (identifier) {
        length += static_cast<double>(letters);
        k += letters;
      }
      --k;
      continue;
    }
    if (const size_t literal = LiteralLength(mangled, k); literal > 0) {
      length += 20 + static_cast<double>(literal);
      k += literal - 1;
      continue;
    }
    if (c == 'L' && k > 2) skips = false;
    length += c == 'S' ? kStandardName : 20;  // one letter can mean "unsigned long long"
    // "St" is std, not a reference; nor is a letter in an identifier followed by a lower-case one.
    if ((c == 'S' || c == 'T') && (k + 1 == mangled.size() || !IsLower(mangled[k + 1]))) ++references;
  }
  constexpr double kEndless = 1e18;
  return static_cast<uint64_t>(std::min(kEndless, length * std::pow(kGrowth, references)));
}

std::string_view WithoutCompilersParts(std::string_view name) {
  constexpr std::string_view kStatic = "__nv_static_", kPart = "_$_";
  if (name.starts_with(kStatic)) {
    // A number, an identifier of that length, and another underscore.
    size_t at = kStatic.size();
    const size_t length = TakeNumber(name, at);
    const size_t rest = at + 1 + length;
    if (rest + 1 < name.size() && name[at] == '_' && name[rest] == '_') name.remove_prefix(rest + 1);
  }
  const size_t part = name.rfind(kPart);
  if (part == std::string_view::npos || part == 0 || part + kPart.size() == name.size()) return name;
  const std::string_view number = name.substr(part + kPart.size());
  return std::all_of(number.begin(), number.end(), IsDigit) ? name.substr(0, part) : name;
}

std::optional<std::string> Demangled(const std::string& symbol) {
  const std::string mangled(WithoutCompilersParts(symbol));
  if (!mangled.starts_with("_Z")) return std::nullopt;
  constexpr uint64_t kLongest = uint64_t{64} << 20;
  if (LongestDemangled(mangled) > kLongest) return LeadingNames(mangled);
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, nullptr),
                                                    std::free);
  if (!text) return std::nullopt;
  // ABI tags: Numba encodes the compiler's flags in a hundred letters.
  constexpr std::string_view kTag = "[abi:";
  std::string name = text.get();
  for (size_t at; (at = name.find(kTag)) != std::string::npos;) {
    const size_t end = name.find(']', at);
    name.erase(at, end == std::string::npos ? end : end + 1 - at);
  }
  return name;
}

std::string VariableName(const std::string& name) {
  const std::optional<std::string> full = Demangled(name);
  if (!full) return std::string(WithoutCompilersParts(name));
  const size_t scope = full->rfind("::");
  return scope == std::string::npos ? *full : full->substr(scope + 2);
}

}  // namespace lockstep::vgpu
