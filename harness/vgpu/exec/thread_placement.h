// Keeps a pool's threads off the CPU of the thread that wakes them.
//
// A launch is often over in a few milliseconds. Where other programs keep the CPUs busy, the system tends to start a
// thread that has been woken on the CPU of the one that woke it, and moves it away only later: until then the two take
// turns, and the launch is no faster than on one thread.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <thread>
#include <vector>

namespace lockstep::vgpu {

class ThreadPlacement {
 public:
  // By the waking thread, before it wakes them. Nothing where there are fewer CPUs than threads.
  void KeepOff(std::vector<std::thread>& threads) {
    const int here = sched_getcpu();
    if (here < 0 || (here == here_ && threads.size() == placed_)) return;
    here_ = here;
    placed_ = threads.size();
    cpu_set_t others;
    if (sched_getaffinity(0, sizeof others, &others) != 0) return;
    CPU_CLR(static_cast<size_t>(here), &others);
    if (static_cast<size_t>(CPU_COUNT(&others)) < threads.size()) return;
    for (std::thread& thread : threads) pthread_setaffinity_np(thread.native_handle(), sizeof others, &others);
  }

 private:
  int here_ = -1;
  size_t placed_ = 0;
};

}  // namespace lockstep::vgpu
