// Time as a busy machine gives it: a program is not slow because others had the processors.
#pragma once

#include <ctime>
#include <fstream>

namespace lockstep::worker {

// Seconds of processor time that this process has had, all of its threads together.
inline double ProcessorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Seconds that this thread was ready to run and had no processor; 0 where the kernel keeps no such account
// (proc(5), /proc/PID/schedstat).
inline double WaitedSeconds() {
  std::ifstream file("/proc/thread-self/schedstat");
  double ran = 0, waited = 0;
  return file >> ran >> waited ? 1e-9 * waited : 0;
}

}  // namespace lockstep::worker
