// Processor time, so that a program on a busy machine does not count as slow because others had the processors.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>

namespace lockstep::worker {

// Seconds of processor time that this process has had, all of its threads together.
inline double ProcessorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double WallSeconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// A clock that stands still while the calling thread is ready to run and has no processor. Where the kernel keeps no
// such account (proc(5), /proc/PID/schedstat) it never does.
class RunningClock {
 public:
  static double Seconds() { return WallSeconds() - WaitedSeconds(); }

 private:
  static double WaitedSeconds() {
    // Kept open: it is read several times a call, and a test may make thousands of calls.
    static thread_local const Account account;
    char text[128];
    const ssize_t got = account.file < 0 ? -1 : ::pread(account.file, text, sizeof text - 1, 0);
    if (got <= 0) return 0;
    text[got] = 0;
    char* rest = text;
    std::strtoull(text, &rest, 10);  // how long it ran
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
