// The CPU threads that a device keeps for its launches.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "vgpu/core/float_environment.h"

namespace lockstep::vgpu {

// Keeps a pool's threads off the CPU of the thread that wakes them.
//
// Many launches take only a few milliseconds. On a busy machine the kernel tends to start a woken thread on the waker's
// CPU and migrates it only later. Until then the two threads take turns, and the launch is no faster than on one
// thread.
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

class ThreadPool {
 public:
  explicit ThreadPool(int threads) : size_(threads < 1 ? 1 : threads) {}
  ~ThreadPool() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }

  // Runs work(0) … work(n - 1) concurrently, work(0) on the caller's thread, and waits for all. n <= size().
  void Run(int n, const std::function<void(int)>& work) {
    // Threads are created on first use: most launches run on the caller's thread alone.
    while (static_cast<int>(threads_.size()) < n - 1) {
      const int k = static_cast<int>(threads_.size()) + 1;
      threads_.emplace_back([this, k, round = round_] { Serve(k, round); });
    }
    if (n > 1) {
      placement_.AvoidCore(threads_);
      const std::lock_guard lock(mutex_);
      work_ = &work;
      wanted_ = n;
      pending_ = n - 1;
      ++round_;
      wake_.notify_all();
    }
    work(0);
    if (n > 1) {
      std::unique_lock lock(mutex_);
      done_.wait(lock, [this] { return pending_ == 0; });
    }
  }

 private:
  void Serve(int k, unsigned round) {
    const DefaultFloatEnvironment environment;  // threads inherit their creator's environment
    for (;;) {
      const std::function<void(int)>* work;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return ending_ || round_ != round; });
        if (ending_) return;
        round = round_;
        if (k >= wanted_) continue;
        work = work_;
      }
      (*work)(k);
      const std::lock_guard lock(mutex_);
      if (--pending_ == 0) done_.notify_one();
    }
  }

  const int size_;
  std::vector<std::thread> threads_;
  ThreadPlacement placement_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(int)>* work_ = nullptr;
  int wanted_ = 0, pending_ = 0;
  unsigned round_ = 0;
  bool ending_ = false;
};

}  // namespace lockstep::vgpu
