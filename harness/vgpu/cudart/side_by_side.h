// Runs kernels concurrently with the host.
//
// Device work is done at the call, unless a launch can't make progress by itself: its threads poll memory that the
// host, or a kernel launched later, has to set (exec/launch_pauses.h). Such a launch is suspended, and the call
// returns. Later work in its stream, or ordered after it by an event, is queued here as an operation (a function) and
// done when everything that it waits for has ended; other streams continue. Calls that wait for or query pending work
// run suspended launches, and so does a background thread, because the host may wait by polling memory itself.
//
// Before the first suspended launch, there is no thread, and no call behaves differently. All functions need the lock
// of the runtime. Those that wait release it periodically: other threads may have to do what the launch waits for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "vgpu/device/device.h"

namespace lockstep::vgpu::cudart {

class Runtime;
struct Stream;

// Starts a background thread that blocks all signals and runs until the process ends.
void StartThread(std::function<void()> body);

class ConcurrentWork {
 public:
  using Id = uint64_t;
  using Ids = std::set<Id>;
  using Function = std::function<void(Runtime&)>;
  using Ended = std::function<void(Runtime&, const LaunchResult&)>;

  bool empty() const { return operations_.empty(); }
  bool IsPending(Id id) const { return operations_.count(id) != 0; }
  // The pending operations that the stream's next operation must wait for.
  Ids Before(Runtime& r, const Stream& stream) const;
  Ids On(int device) const;
  Ids LaunchesOn(int device) const;

  // Queues an operation after these. A running operation that must wait for more is queued again.
  Id Put(Runtime& r, Stream& stream, Ids after, Function work);
  // Keeps a launch that did not end; it was made by the running operation or by the call.
  void Suspend(Runtime& r, Stream& stream, std::shared_ptr<SuspendedLaunch> launch, Ended ended);
  // Keeps the object alive until nothing is pending.
  void Keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }

  // Runs each suspended launch for a while, and starts operations that no longer wait.
  void Turn(Runtime& r);
  // Waits until none of these is pending. If for some seconds suspended launches do nothing but poll, one of them ends
  // with a fault.
  void WaitFor(Runtime& r, const Ids& ids);
  // Runs suspended launches once more, and returns whether none of these is pending.
  bool AreDone(Runtime& r, const Ids& ids);
  // The device's context is lost: drops all its work.
  void Drop(int device);
  // When the process ends: suspended launches are no longer resumed.
  void Stop() { stopped_ = true; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Operation {
    const Stream* stream = nullptr;
    int device = 0;
    bool is_default = false, is_blocking = false;
    const char* function = "";  // the call that queued it
    Ids after;
    Function work;
    std::shared_ptr<SuspendedLaunch> launch;  // null: the work has not begun
    Ended ended;
    bool runs = false;
  };

  Id Add(Runtime& r, const Stream& stream, Operation operation);
  // The operation running in this thread; null if none.
  Operation* Running();
  bool Pend(const Ids& ids) const;
  bool Continue(Runtime& r, Id id);
  bool RunReady(Runtime& r);
  void Finish(Runtime& r, int device);
  void GiveUp(Clock::duration waited);
  Clock::duration Patience() const;
  void Serve(Runtime& r);
  void StartServing(Runtime& r);

  std::map<Id, Operation> operations_;
  Id next_ = 1;
  std::vector<std::shared_ptr<void>> kept_;
  Id running_ = 0;
  std::thread::id running_thread_;
  bool in_turn_ = false, serves_ = false, stopped_ = false;
  Clock::time_point last_progress_;
  std::condition_variable_any wake_;
};

}  // namespace lockstep::vgpu::cudart
