// Limits the processor time of a launch.
//
// An instruction budget ends an endless launch at the same point in every run. But a single instruction can be slow: a
// call that passes 500 KB, a printf of a long string, accesses that are expensive to check. This clock is the backup
// limit, far above what a correct launch needs.
#pragma once

#include <atomic>
#include <ctime>
#include <limits>

namespace lockstep::vgpu {

class LaunchClock {
 public:
  // `threads` threads of this process share the time; 0 seconds: no limit.
  LaunchClock(double seconds, int threads)
      : threads_(threads), ends_(seconds > 0 ? Processor() + seconds : std::numeric_limits<double>::infinity()) {
    if (seconds > 0) Schedule(seconds);
  }

  // Costs a few nanoseconds: it reads the processor time, a system call, only after enough wall time has passed.
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
