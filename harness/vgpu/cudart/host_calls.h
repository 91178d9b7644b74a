// Host functions in streams, which a GPU calls some time after they were enqueued.
//
// With stream checks, a function is called as late as its order allows: when a later operation begins, when the host
// has waited for it, or after a pause, because the program may wait without calling CUDA. So a program that reads the
// function's results too early finds them missing. Without stream checks it is called at once. All functions here need
// the runtime's lock, locked exactly once, because they release it while a function runs.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <thread>

#include "vgpu/observers/stream_checker.h"
#include "vgpu/observers/stream_clocks.h"

namespace lockstep::vgpu::cudart {

class Runtime;
struct Stream;

class HostCalls {
 public:
  // Enqueues this call of `function` as the stream's next operation.
  void Put(Runtime& r, const Stream& stream, const void* argument, std::function<void()> function);
  // Calls the functions ordered before an operation that begins now.
  void CallBefore(Runtime& r, const StreamClocks::Clock& before);
  // Calls the functions that the host has waited for.
  void CallAwaited(Runtime& r);
  // Cancels functions with this argument, which no longer exists.
  void Drop(const void* argument);
  // The process is ending: no more functions are called automatically.
  void Stop() { stopped_ = true; }

 private:
  struct Call {
    StreamPoint point;
    int device;
    const void* argument;
    std::function<void()> function;
    std::thread::id runs_in = {};  // default: not started
  };

  template <typename Wanted>
  void CallWhere(Runtime& r, Wanted wanted);
  void CallNow(Runtime& r, std::list<Call>::iterator call);
  void Serve(Runtime& r);

  std::list<Call> calls_;  // in the order of enqueuing
  bool serves_ = false, stopped_ = false;
  std::condition_variable_any changed_;
};

}  // namespace lockstep::vgpu::cudart
