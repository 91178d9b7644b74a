#include "vgpu/cudart/host_calls.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "vgpu/cudart/report/call_site.h"
#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

namespace {

// The longest delay of a call: long compared with the program's reaction time, short compared with a test.
constexpr auto kLatest = std::chrono::milliseconds(4);
constexpr auto kPause = std::chrono::microseconds(50);

}  // namespace

void HostCalls::Put(Runtime& r, const Stream& stream, const void* argument, std::function<void()> function) {
  StreamPoint point = r.timeline().Begin(stream);
  point.function = r.function();
  const bool later = r.backend().WatchesStreams();
  if (later) {
    point.call_site = CallSite();
    r.transfers().WatchArgument(r, point, argument);
  }
  calls_.push_back({std::move(point), stream.device, argument, std::move(function)});
  const auto call = std::prev(calls_.end());
  if (!later) return CallNow(r, call);
  changed_.notify_all();
  if (!std::exchange(serves_, true)) StartThread([this, &r] { Serve(r); });
}

void HostCalls::CallBefore(Runtime& r, const StreamClocks::Clock& before) {
  CallWhere(r,
            [&](const StreamPoint& call) { return call.slot < before.size() && call.sequence <= before[call.slot]; });
}

void HostCalls::CallAwaited(Runtime& r) {
  CallWhere(r, [&](const StreamPoint& call) { return r.timeline().clocks().HostHasWaited(call.slot, call.sequence); });
}

void HostCalls::Drop(const void* argument) {
  std::erase_if(calls_,
                [&](const Call& call) { return call.argument == argument && call.runs_in == std::thread::id(); });
}

// Calls one function at a time, because the list may change meanwhile. Waits for functions that other threads run.
template <typename Wanted>
void HostCalls::CallWhere(Runtime& r, Wanted wanted) {
  while (!calls_.empty() && !Runtime::InHostFunction::is_in()) {
    const auto call = std::find_if(calls_.begin(), calls_.end(), [&](const Call& c) { return wanted(c.point); });
    if (call == calls_.end()) return;
    if (call->runs_in == std::thread::id()) {
      CallNow(r, call);
    } else {
      const Runtime::Unlocked unlocked(r);
      std::this_thread::sleep_for(kPause);
    }
  }
}

void HostCalls::CallNow(Runtime& r, std::list<Call>::iterator call) {
  call->runs_in = std::this_thread::get_id();
  const int device = Runtime::ExchangeDevice(call->device);
  r.transfers().BeforeHostFunction(r, call->point.before);
  // After a fault a stream's functions no longer run. They run without the lock, because they may wait for other
  // threads that call CUDA.
  if (!r.faulted()) {
    const Runtime::Unlocked unlocked(r);
    const Runtime::InHostFunction in_host_function;
    call->function();
  }
  r.transfers().HasRun(call->argument);
  Runtime::ExchangeDevice(device);
  calls_.erase(call);
}

void HostCalls::Serve(Runtime& r) {
  std::unique_lock lock(r.mutex());
  for (;;) {
    changed_.wait(lock, [this] { return !calls_.empty(); });
    const StreamPoint first = calls_.front().point;
    lock.unlock();
    std::this_thread::sleep_for(kLatest);
    lock.lock();
    if (stopped_) return;
    CallWhere(r, [&](const StreamPoint& call) { return call.slot == first.slot && call.sequence <= first.sequence; });
  }
}

}  // namespace lockstep::vgpu::cudart
