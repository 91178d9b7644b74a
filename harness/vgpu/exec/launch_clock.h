// How much processor time a launch may take.
//
// Budgets of instructions end what does not end, in the same place in every run. An instruction may be dear all the
// same: a call that passes 500 KB, a printf of a long string, accesses that lie so that checkers have much to compare.
// This clock is behind them, far from what a right launch takes.
#pragma once

#include <atomic>
#include <ctime>
#include <limits>

namespace lockstep::vgpu {

class LaunchClock {
 public:
  // For `threads` of this process that share the time; 0 seconds: there is no limit.
  LaunchClock(double seconds, int threads)
      : threads_(threads), ends_(seconds > 0 ? Processor() + seconds : std::numeric_limits<double>::infinity()) {
    if (seconds > 0) Schedule(seconds);
  }

  // Costs a few nanoseconds: the processor time, which takes a call of the system, is looked at when enough time has
  // passed on the wall.
  bool IsOver() {
    if (Wall() < next_look_.load(std::memory_order_relaxed)) return false;
    const double left = ends_ - Processor();
    if (left > 0) Schedule(left);
    return left <= 0;
  }

 private:
  static double Seconds(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
  static double Processor() { return Seconds(CLOCK_PROCESS_CPUTIME_ID); }
  static double Wall() { return Seconds(CLOCK_MONOTONIC_COARSE); }
  void Schedule(double left) {
    constexpr double kNotSooner = 0.01;
    next_look_.store(Wall() + left / threads_ + kNotSooner, std::memory_order_relaxed);
  }

  const int threads_;
  const double ends_;
  std::atomic<double> next_look_{std::numeric_limits<double>::infinity()};
};

}  // namespace lockstep::vgpu
