// A function that can pause in its middle.
//
// It runs on a thread of its own, but only while Resume() waits for it: to both sides that is as if the caller had
// called it. So everything on its stack outlives a pause, and nothing in it needs to know of other threads.
#pragma once

#include <exception>
#include <functional>
#include <semaphore>
#include <thread>

namespace lockstep::vgpu {

class Coroutine {
 public:
  explicit Coroutine(std::function<void(Coroutine&)> body);
  // A body that has paused is unwound, by an exception that it must let pass.
  ~Coroutine();
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;

  // Runs the body until it pauses (false) or has ended (true). What it throws comes out here.
  bool Resume();
  // For the body: goes on when Resume is called next.
  void Pause();

  // Those that exist in this process: each has a thread.
  static int Count();

 private:
  struct Cancelled {};
  void Run();

  const std::function<void(Coroutine&)> body_;
  std::binary_semaphore go_{0}, back_{0};
  bool ended_ = false, cancelled_ = false;
  std::exception_ptr thrown_;
  std::thread thread_;
};

}  // namespace lockstep::vgpu
