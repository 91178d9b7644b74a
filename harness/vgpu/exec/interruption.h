// Ctrl-C while kernels run: they end between two turns of a warp, where the positions of their threads are known.
#pragma once

#include <atomic>

namespace lockstep::vgpu {

class Interruption {
 public:
  // For a signal handler. False: no kernel is running that would end because of it.
  static bool Ask() {
    if (running_.load(std::memory_order_relaxed) == 0) return false;
    asked_.store(true, std::memory_order_relaxed);
    return true;
  }
  static bool IsAsked() { return asked_.load(std::memory_order_relaxed); }

  // Counts running engines, from its construction to its destruction; -1: an engine is paused for the host.
  class Running {
   public:
    explicit Running(int engines) : engines_(engines) { running_ += engines; }
    ~Running() { running_ -= engines_; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    const int engines_;
  };

 private:
  static inline std::atomic<int> running_{0};
  static inline std::atomic<bool> asked_{false};
};

}  // namespace lockstep::vgpu
