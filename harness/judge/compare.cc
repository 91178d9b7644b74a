#include "judge/compare.h"

#include <charconv>

namespace lockstep::judge {

std::string NumberText(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end.ptr);
}

std::string MismatchText(const Mismatch& mismatch, uint64_t elements) {
  std::string text = "element " + std::to_string(mismatch.index) + " of " + std::to_string(elements) + " differs";
  if (mismatch.count > 1) text += " (" + std::to_string(mismatch.count) + " do)";
  return text + ": expected " + mismatch.expected + ", found " + mismatch.found;
}

}  // namespace lockstep::judge
