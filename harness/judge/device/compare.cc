#include "judge/device/compare.h"

#include <charconv>
#include <cstdio>

#include "judge/model/text.h"

namespace lockstep::judge {

std::string NumberText(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end.ptr);
}

std::string FloatText(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string BoundText(double bound) {
  char text[40];
  std::snprintf(text, sizeof text, "%.2g", bound);
  return text;
}

std::string MismatchText(const Mismatch& mismatch, uint64_t elements) {
  std::string text = "element " + Grouped(mismatch.index) + " of " + Grouped(elements) + " differs";
  if (mismatch.count > 1) text += " (" + Grouped(mismatch.count) + " in total)";
  return text + ": expected " + mismatch.expected + ", found " + mismatch.found;
}

}  // namespace lockstep::judge
