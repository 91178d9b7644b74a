// How much work the decoder may put into one kernel.
//
// What a program's text is analysed for before it runs (where lanes meet, which loads wait, what is made of a value) is
// done in a few steps an instruction for code that compilers make, and in far more for text that is written for it: a
// hundred thousand branches back to one place, a thousand registers in a ring. So the analyses count their steps where
// these may grow faster than the text, and a kernel that takes too many is one that is not run.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace lockstep::vgpu {

struct TooMuchWork : std::runtime_error {
  TooMuchWork() : std::runtime_error("its control flow is too large to be analysed") {}
};

// Steps that looking at an instruction takes, in a sweep over all of a function's.
inline constexpr uint64_t kStepsAnInstruction = 8;

// While one lives, its thread's analyses count against it.
class AnalysisWork {
 public:
  // Kernels of right solutions take up to 160,000, those of the tests up to 2.5 million.
  static constexpr uint64_t kMostSteps = uint64_t{1} << 30;

  explicit AnalysisWork(uint64_t most = kMostSteps) : left_(most), outer_(current_) { current_ = this; }
  ~AnalysisWork() { current_ = outer_; }
  AnalysisWork(const AnalysisWork&) = delete;
  AnalysisWork& operator=(const AnalysisWork&) = delete;

  uint64_t left() const { return left_; }
  // Throws TooMuchWork. A step takes a nanosecond or two, or a word of memory.
  static void Spend(uint64_t steps) {
    if (current_ == nullptr) return;
    if (steps > current_->left_) {
      current_->left_ = 0;
      throw TooMuchWork();
    }
    current_->left_ -= steps;
  }

 private:
  uint64_t left_;
  AnalysisWork* const outer_;
  static inline thread_local AnalysisWork* current_ = nullptr;
};

}  // namespace lockstep::vgpu
