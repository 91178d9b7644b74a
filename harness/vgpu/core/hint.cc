#include "vgpu/core/hint.h"

namespace lockstep::vgpu {

std::string_view TextOf(Hint hint, Language language) {
  using Texts = const char* [3];
  static constexpr Texts kTexts[] = {
      {""},
#define HINT(name, ...) {__VA_ARGS__},
#include "vgpu/core/hints.inc"
  };
  const Texts& texts = kTexts[static_cast<size_t>(hint)];
  const char* const text = texts[static_cast<size_t>(language)];
  return text != nullptr ? text : texts[0];
}

}  // namespace lockstep::vgpu
