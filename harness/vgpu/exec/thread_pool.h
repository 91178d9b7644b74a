// The CPU threads that a device keeps for its launches.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "vgpu/core/float_environment.h"
#include "vgpu/exec/thread_placement.h"

namespace lockstep::vgpu {

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
