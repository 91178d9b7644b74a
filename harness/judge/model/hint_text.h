// A problem's hint: a row of the catalogue with values for its {}s, or a sentence of one assignment's suite; and the
// part of the student's source that it is about.
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

// A row of grader/student/sights.py, which finds the line. Some rows need names, best first: of an array, of members of
// a structure, of functions.
struct Sight {
  std::string part = {};
  std::vector<std::string> names = {};
};

class HintText {
 public:
  HintText(Hint row = {}, std::vector<std::string> values = {}, Sight sight = {})
      : row_(row), values_(std::move(values)), sight_(std::move(sight)) {}
  HintText(std::string sentence, Sight sight = {}) : sentence_(std::move(sentence)), sight_(std::move(sight)) {}
  HintText(const char* sentence, Sight sight = {}) : sentence_(sentence), sight_(std::move(sight)) {}

  bool empty() const { return row_ == Hint{} && sentence_.empty(); }
  bool operator==(Hint row) const { return row_ == row; }
  std::string In(vgpu::Language language) const;
  const Sight& sight() const { return sight_; }
  void set_sight(Sight sight) { sight_ = std::move(sight); }

 private:
  Hint row_{};
  std::vector<std::string> values_;
  std::string sentence_;
  Sight sight_;
};

}  // namespace lockstep::judge
