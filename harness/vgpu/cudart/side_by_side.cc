#include "vgpu/cudart/side_by_side.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <utility>

#include "vgpu/cudart/runtime.h"
#include "vgpu/exec/coroutine.h"

namespace lockstep::vgpu::cudart {

namespace {

using namespace std::chrono_literals;

// Pauses between turns, in which other threads of the program can run. They get longer while nothing happens.
constexpr auto kShortestPause = 20us, kLongestPause = 1000us;
// How long the host waits for launches that only poll. kPatienceAlone: the program has no other thread, so only a
// signal or another process could release them. kPatienceWithClock: their threads read a clock, so they may time out.
constexpr auto kPatienceAlone = 1s, kPatience = 20s, kPatienceWithClock = 60s;
// The same for a host that only queries.
constexpr auto kPatienceOfQueries = 60s;

// In this scope, the current device and function are those of the call that queued the operation.
class OnBehalf {
 public:
  OnBehalf(Runtime& r, int device, const char* function)
      : r_(r), device_(Runtime::ExchangeDevice(device)), function_(r.ExchangeFunction(function)) {}
  ~OnBehalf() {
    Runtime::ExchangeDevice(device_);
    r_.ExchangeFunction(function_);
  }
  OnBehalf(const OnBehalf&) = delete;
  OnBehalf& operator=(const OnBehalf&) = delete;

 private:
  Runtime& r_;
  const int device_;
  const char* const function_;
};

std::atomic<int> threads_of_ours = 0;

// Threads of this process that may be the program's. Includes threads of a parallel launch.
int OtherThreads() {
  int threads = 0;
  std::error_code error;
  for (auto task = std::filesystem::directory_iterator("/proc/self/task", error);
       !error && task != std::filesystem::directory_iterator(); task.increment(error)) {
    ++threads;
  }
  return threads - Coroutine::Count() - threads_of_ours - 1;  // 1: this thread
}

}  // namespace

void StartThread(std::function<void()> body) {
  ++threads_of_ours;
  sigset_t all, before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(std::move(body)).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ConcurrentWork::Operation* ConcurrentWork::Running() {
  if (running_ == 0 || running_thread_ != std::this_thread::get_id()) return nullptr;
  const auto found = operations_.find(running_);
  return found == operations_.end() ? nullptr : &found->second;
}

ConcurrentWork::Ids ConcurrentWork::Before(Runtime& r, const Stream& stream) const {
  Ids ids;
  if (operations_.empty()) return ids;
  const bool is_default = &stream == &r.timeline().StreamOf(stream.device, nullptr);
  const bool is_blocking = (stream.flags & cudaStreamNonBlocking) == 0;
  for (const auto& [id, operation] : operations_) {
    if (operation.device != stream.device) continue;
    if (operation.stream == &stream || (is_default && operation.is_blocking) || (operation.is_default && is_blocking)) {
      ids.insert(id);
    }
  }
  return ids;
}

ConcurrentWork::Ids ConcurrentWork::On(int device) const {
  Ids ids;
  for (const auto& [id, operation] : operations_) {
    if (operation.device == device) ids.insert(id);
  }
  return ids;
}

ConcurrentWork::Ids ConcurrentWork::LaunchesOn(int device) const {
  Ids ids;
  for (const auto& [id, operation] : operations_) {
    if (operation.device == device && operation.launch != nullptr) ids.insert(id);
  }
  return ids;
}

ConcurrentWork::Id ConcurrentWork::Add(Runtime& r, const Stream& stream, Operation operation) {
  operation.stream = &stream;
  operation.device = stream.device;
  operation.is_default = &stream == &r.timeline().StreamOf(stream.device, nullptr);
  operation.is_blocking = (stream.flags & cudaStreamNonBlocking) == 0;
  operation.function = r.function();
  operations_[next_] = std::move(operation);
  return next_++;
}

ConcurrentWork::Id ConcurrentWork::Put(Runtime& r, Stream& stream, Ids after, Function work) {
  if (Operation* running = Running()) {
    running->after = std::move(after);
    running->work = std::move(work);
    running->runs = false;
    return running_;
  }
  Operation operation;
  operation.after = std::move(after);
  operation.work = std::move(work);
  return Add(r, stream, std::move(operation));
}

void ConcurrentWork::Suspend(Runtime& r, Stream& stream, std::shared_ptr<SuspendedLaunch> launch, Ended ended) {
  if (Operation* running = Running()) {
    running->launch = std::move(launch);
    running->ended = std::move(ended);
  } else {
    Operation operation;
    operation.launch = std::move(launch);
    operation.ended = std::move(ended);
    Add(r, stream, std::move(operation));
  }
  last_progress_ = Clock::now();
  StartServing(r);
}

bool ConcurrentWork::Pend(const Ids& ids) const {
  return std::any_of(ids.begin(), ids.end(), [this](Id id) { return IsPending(id); });
}

void ConcurrentWork::Turn(Runtime& r) {
  if (in_turn_ || operations_.empty()) return;
  in_turn_ = true;
  Ids launches;
  for (const auto& [id, operation] : operations_) {
    if (operation.launch != nullptr) launches.insert(id);
  }
  bool progressed = false;
  for (const Id id : launches) progressed |= Continue(r, id);
  while (RunReady(r)) progressed = true;
  if (progressed) last_progress_ = Clock::now();
  if (operations_.empty()) kept_.clear();
  in_turn_ = false;
}

// Whether the launch has made progress.
bool ConcurrentWork::Continue(Runtime& r, Id id) {
  const auto found = operations_.find(id);
  if (found == operations_.end()) return true;
  Operation& operation = found->second;
  const OnBehalf on_behalf(r, operation.device, operation.function);
  // The launch may access host memory directly, like other operations.
  r.mapped().Exchange(r);
  r.transfers().BeforeDeviceWrites(r);
  bool has_ended = false;
  try {
    has_ended = r.backend().Resume(*operation.launch);
  } catch (const std::exception& error) {
    Say(std::string(r.function()) + ": " + error.what());
    r.SetPending(cudaErrorUnknown);
    Drop(operation.device);
    return true;
  }
  r.transfers().AfterDeviceWrites();
  r.mapped().Exchange(r);
  if (!has_ended) {
    const Standstill& now = operation.launch->standstill();
    return now.progressed || !now.waits;
  }
  const Operation done = std::move(operation);
  operations_.erase(found);
  done.ended(r, done.launch->result());
  Finish(r, done.device);
  return true;
}

// Does the first operation that is ready; false: there is none.
bool ConcurrentWork::RunReady(Runtime& r) {
  const auto found = std::find_if(operations_.begin(), operations_.end(), [this](const auto& entry) {
    return entry.second.launch == nullptr && !entry.second.runs && !Pend(entry.second.after);
  });
  if (found == operations_.end()) return false;
  const Id id = running_ = found->first;
  running_thread_ = std::this_thread::get_id();
  found->second.runs = true;
  const int device = found->second.device;
  const Function work = std::move(found->second.work);
  const OnBehalf on_behalf(r, device, found->second.function);
  try {
    work(r);
  } catch (const ApiError& error) {
    r.SetPending(error.code);
  } catch (const std::exception& error) {
    Say(std::string(r.function()) + ": " + error.what());
    r.SetPending(cudaErrorUnknown);
  }
  running_ = 0;
  // The work may have released the lock, and its device may no longer exist.
  const auto still = operations_.find(id);
  if (still != operations_.end() && still->second.launch == nullptr && still->second.runs) operations_.erase(still);
  Finish(r, device);
  return true;
}

void ConcurrentWork::Finish(Runtime& r, int device) {
  if (r.faulted()) Drop(device);
}

void ConcurrentWork::WaitFor(Runtime& r, const Ids& ids) {
  if (!Pend(ids) || Running() != nullptr) return;
  const Clock::time_point begin = Clock::now();
  auto pause = std::chrono::microseconds(kShortestPause);
  for (;;) {
    const Clock::time_point before = last_progress_;
    Turn(r);
    if (!Pend(ids)) return;
    const Clock::duration waited = Clock::now() - std::max(begin, last_progress_);
    if (waited > kPatienceAlone && waited > Patience()) GiveUp(waited);
    pause = before != last_progress_ ? kShortestPause : std::min<std::chrono::microseconds>(pause * 2, kLongestPause);
    const Runtime::Unlocked unlocked(r);
    std::this_thread::sleep_for(pause);
  }
}

bool ConcurrentWork::AreDone(Runtime& r, const Ids& ids) {
  if (!Pend(ids)) return true;
  Turn(r);
  if (!Pend(ids)) return true;
  const Clock::duration waited = Clock::now() - last_progress_;
  if (waited > kPatienceOfQueries) GiveUp(waited);
  return false;
}

ConcurrentWork::Clock::duration ConcurrentWork::Patience() const {
  const bool clock = std::any_of(operations_.begin(), operations_.end(), [](const auto& entry) {
    return entry.second.launch != nullptr && entry.second.launch->standstill().reads_clock;
  });
  if (clock) return kPatienceWithClock;
  return OtherThreads() > 0 ? kPatience : kPatienceAlone;
}

void ConcurrentWork::GiveUp(Clock::duration waited) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(waited).count();
  for (auto& [id, operation] : operations_) {
    if (operation.launch == nullptr || !operation.launch->standstill().waits) continue;
    operation.launch->GiveUp("threads only waited for each other, or for the host, which waited for them for " +
                             std::to_string(seconds) + (seconds == 1 ? " second" : " seconds"));
    return;
  }
}

void ConcurrentWork::Drop(int device) {
  std::erase_if(operations_, [this, device](const auto& entry) { return entry.second.device == device; });
  if (operations_.empty() && !in_turn_) kept_.clear();
}

void ConcurrentWork::StartServing(Runtime& r) {
  wake_.notify_all();
  if (!std::exchange(serves_, true)) StartThread([this, &r] { Serve(r); });
}

void ConcurrentWork::Serve(Runtime& r) {
  auto pause = std::chrono::microseconds(kShortestPause);
  for (;;) {
    {
      std::unique_lock lock(r.mutex());
      wake_.wait(lock, [this] { return stopped_ || !operations_.empty(); });
      if (stopped_) return;
      const Clock::time_point before = last_progress_;
      Turn(r);
      pause = before != last_progress_ ? kShortestPause : std::min<std::chrono::microseconds>(pause * 2, kLongestPause);
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace lockstep::vgpu::cudart
