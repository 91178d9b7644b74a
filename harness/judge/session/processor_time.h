// Processor time, so that a program does not count as slow because other processes kept the processors busy.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>

namespace lockstep::worker {

// Processor seconds of this process, over all threads.
inline double ProcessorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double WallSeconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// A clock that stops while the calling thread is runnable but has no processor. Without the kernel's accounting
// (proc(5), /proc/PID/schedstat) it never stops.
class RunningClock {
 public:
  static double Seconds() { return WallSeconds() - WaitedSeconds(); }

 private:
  static double WaitedSeconds() {
    // Kept open: it is read several times per call, and a test may make thousands of calls.
    static thread_local const Account account;
    char text[128];
    const ssize_t got = account.file < 0 ? -1 : ::pread(account.file, text, sizeof text - 1, 0);
    if (got <= 0) return 0;
    text[got] = 0;
    char* rest = text;
    std::strtoull(text, &rest, 10);  // run time, skipped
    return 1e-9 * static_cast<double>(std::strtoull(rest, nullptr, 10));
  }

  struct Account {
    Account() : file(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;
    ~Account() {
      if (file >= 0) ::close(file);
    }
    const int file;
  };
};

}  // namespace lockstep::worker
