// A function that can pause in the middle.
//
// It runs on a separate thread, but only while Resume() waits for it: for both sides this looks like an ordinary call.
// So its stack survives a pause, and it needs no synchronisation.
#pragma once

#include <exception>
#include <functional>
#include <semaphore>
#include <thread>

namespace lockstep::vgpu {

class Coroutine {
 public:
  explicit Coroutine(std::function<void(Coroutine&)> body);
  // A paused body is unwound by an exception, which it must let pass.
  ~Coroutine();
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;

  // Runs the body until it pauses (false) or has ended (true). Rethrows its exceptions.
  bool Resume();
  // Called by the body: continues at the next Resume.
  void Pause();

  // The number of coroutines in this process; each has a thread.
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
