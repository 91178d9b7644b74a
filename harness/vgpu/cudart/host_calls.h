// Host functions of streams, which a GPU calls some time after they were put there.
//
// Where streams are watched, a function is called as late as its order allows: when something that comes after it
// begins, when the host has waited for it, or after a pause, because the program may wait for it by other means than
// CUDA's. So a program that reads too early what the function stores finds that it is not there yet. Elsewhere it is
// called at once. All functions here need the runtime's lock, held once.
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
  // The stream's next operation is this call of `function` with this argument.
  void Put(Runtime& r, const Stream& stream, const void* argument, std::function<void()> function);
  // Calls what is ordered before something that begins now.
  void CallBefore(Runtime& r, const StreamClocks::Clock& before);
  // Calls what the host has waited for.
  void CallAwaited(Runtime& r);
  // What has this argument, which is gone, is not called.
  void Drop(const void* argument);
  // The process ends: from now on nothing is called by itself.
  void Stop() { stopped_ = true; }

 private:
  struct Call {
    StreamPoint point;
    int device;
    const void* argument;
    std::function<void()> function;
    std::thread::id runs_in = {};  // none: it has not begun
  };

  template <typename Wanted>
  void CallWhere(Runtime& r, Wanted wanted);
  void CallNow(Runtime& r, std::list<Call>::iterator call);
  void Serve(Runtime& r);

  std::list<Call> calls_;  // in the order in which they were put here
  bool serves_ = false, stopped_ = false;
  std::condition_variable_any changed_;
};

}  // namespace lockstep::vgpu::cudart
