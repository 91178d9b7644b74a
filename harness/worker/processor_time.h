// Processor time, so that a program on a busy machine does not count as slow because others had the processors.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>

namespace lockstep::worker {

// Seconds of processor time that this process has had, all of its threads together.
inline double ProcessorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A clock that stands still while the thread that made it is ready to run and has no processor. Where the kernel keeps
// no such account (proc(5), /proc/PID/schedstat) it never does.
class RunningClock {
 public:
  RunningClock() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
  RunningClock(const RunningClock&) = delete;
  RunningClock& operator=(const RunningClock&) = delete;
  ~RunningClock() {
    if (file_ >= 0) ::close(file_);
  }

  double Seconds() const {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count() - WaitedSeconds();
  }

 private:
  // The file is kept open: it is read twice a request.
  double WaitedSeconds() const {
    char text[128];
    const ssize_t got = file_ < 0 ? -1 : ::pread(file_, text, sizeof text - 1, 0);
    if (got <= 0) return 0;
    text[got] = 0;
    unsigned long long ran = 0, waited = 0;
    return std::sscanf(text, "%llu %llu", &ran, &waited) == 2 ? 1e-9 * static_cast<double>(waited) : 0;
  }

  const int file_;
};

}  // namespace lockstep::worker
