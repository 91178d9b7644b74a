// The host and the kernels side by side.
//
// Device work is done at the call, until a launch can't go on by itself: its threads poll memory which the host, or a
// kernel launched later, is to set (exec/launch_pauses.h). Such a launch is suspended, and the call returns. What is
// put behind it, in its stream or by an event, is kept here as a function, an operation, and done when all that it
// waits for has ended; other streams go on. Whoever waits for or asks about pending work gives suspended launches their
// turns, and so does a thread of ours, because the host may wait by polling memory itself.
//
// While nothing is suspended there is nothing here, no thread, and no call does anything else than it would without.
// All functions need the runtime's lock; those that wait give it up now and then, so that other threads of the program
// can do what the launch waits for.
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

// Starts a thread of ours, which takes none of the program's signals and goes on until the process ends.
void StartThread(std::function<void()> body);

class ConcurrentWork {
 public:
  using Id = uint64_t;
  using Ids = std::set<Id>;
  using Function = std::function<void(Runtime&)>;
  using Ended = std::function<void(Runtime&, const LaunchResult&)>;

  bool empty() const { return operations_.empty(); }
  bool IsPending(Id id) const { return operations_.count(id) != 0; }
  // What pends of the work that the stream's next operation comes after.
  Ids Before(Runtime& r, const Stream& stream) const;
  Ids On(int device) const;
  Ids LaunchesOn(int device) const;

  // Puts an operation behind these. One that runs already, and finds that it has to wait for more, is put there again.
  Id Put(Runtime& r, Stream& stream, Ids after, Function work);
  // The operation that runs, or the call, has made a launch that has not ended.
  void Suspend(Runtime& r, Stream& stream, std::shared_ptr<SuspendedLaunch> launch, Ended ended);
  // Until nothing pends.
  void Keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }

  // Gives each suspended launch a turn, and does what waits no longer.
  void Turn(Runtime& r);
  // Until none of these pends. Launches that only wait, though nothing is left that may let them go on, end by a fault.
  void WaitFor(Runtime& r, const Ids& ids);
  // Whether none of these pends, after another turn.
  bool AreDone(Runtime& r, const Ids& ids);
  // The device's context is lost, with all its work.
  void Drop(int device);
  // The process ends: from now on nothing goes on by itself.
  void Stop() { stopped_ = true; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Operation {
    const Stream* stream = nullptr;
    int device = 0;
    bool is_default = false, is_blocking = false;
    const char* function = "";  // the call that put it here
    Ids after;
    Function work;
    std::shared_ptr<SuspendedLaunch> launch;  // null: the work has not begun
    Ended ended;
    bool runs = false;
  };

  Id Add(Runtime& r, const Stream& stream, Operation operation);
  // The operation that this thread runs; null where it runs none.
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
