// Limits the work that the decoder spends on one kernel.
//
// For compiler-generated code, the analyses before a run (where lanes reconverge, which loads wait, how a value is
// used) take a few steps per instruction. Hostile text can need far more: a hundred thousand branches to one label, a
// thousand registers in a ring. So the analyses count their steps wherever these may grow faster than the text, and a
// kernel that needs too many is not run.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace lockstep::vgpu {

struct TooMuchWork : std::runtime_error {
  TooMuchWork() : std::runtime_error("its control flow is too large to be analysed") {}
};

// Steps per instruction for a pass over all instructions of a function.
inline constexpr uint64_t kStepsAnInstruction = 8;

// While an instance exists, its thread's analyses count against it.
class AnalysisWork {
 public:
  // Kernels of correct solutions take up to 160,000 steps, those of the tests up to 2.5 million.
  static constexpr uint64_t kMostSteps = uint64_t{1} << 30;

  explicit AnalysisWork(uint64_t most = kMostSteps) : left_(most), outer_(current_) { current_ = this; }
  ~AnalysisWork() { current_ = outer_; }
  AnalysisWork(const AnalysisWork&) = delete;
  AnalysisWork& operator=(const AnalysisWork&) = delete;

  uint64_t left() const { return left_; }
  // Throws TooMuchWork. A step takes one or two nanoseconds, or one word of memory.
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
