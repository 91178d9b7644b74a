// The catalogue of hints, by name and language.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep::vgpu {

enum class Hint : uint16_t {
  kNone,
#define HINT(name, ...) name,
#include "vgpu/core/hints.inc"
};

enum class Language : uint8_t { kCuda, kNumba, kPythonHost };

// The language of a kernel in this file.
inline Language LanguageOf(std::string_view file) { return file.ends_with(".py") ? Language::kNumba : Language::kCuda; }
std::string_view TextOf(Hint hint, Language language = Language::kCuda);  // "" of kNone

}  // namespace lockstep::vgpu
