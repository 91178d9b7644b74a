// A problem's hint: a row of the catalogue with values for its {}s, or a sentence of one assignment's suite.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::vgpu {
enum class Hint : uint16_t;
enum class Language : uint8_t;
}  // namespace lockstep::vgpu

namespace lockstep::judge {

using vgpu::Hint;

class HintText {
 public:
  HintText(Hint row = {}, std::vector<std::string> values = {}) : row_(row), values_(std::move(values)) {}
  HintText(std::string sentence) : sentence_(std::move(sentence)) {}
  HintText(const char* sentence) : sentence_(sentence) {}

  bool empty() const { return row_ == Hint{} && sentence_.empty(); }
  bool operator==(Hint row) const { return row_ == row; }
  std::string In(vgpu::Language language) const;

 private:
  Hint row_{};
  std::vector<std::string> values_;
  std::string sentence_;
};

}  // namespace lockstep::judge
