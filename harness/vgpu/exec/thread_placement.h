// Keeps a pool's threads off the CPU of the thread that wakes them.
//
// Many launches take only a few milliseconds. On a busy machine the kernel tends to start a woken thread on the waker's
// CPU and migrates it only later. Until then the two threads take turns, and the launch is no faster than on one
// thread.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <thread>
#include <vector>

namespace lockstep::vgpu {

class ThreadPlacement {
 public:
  // The waking thread calls this before it wakes them. Does nothing if there are fewer CPUs than threads.
  void AvoidCore(std::vector<std::thread>& threads) {
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
