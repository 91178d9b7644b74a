#include "vgpu/exec/coroutine.h"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <utility>

namespace lockstep::vgpu {

namespace {

std::atomic<int>& Existing() {
  static std::atomic<int> count{0};
  return count;
}

}  // namespace

Coroutine::Coroutine(std::function<void(Coroutine&)> body) : body_(std::move(body)) {
  // Signals are handled by the program's own threads, except those of faults.
  sigset_t all, before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Existing().fetch_add(1);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Coroutine::~Coroutine() {
  if (!ended_) {
    cancelled_ = true;
    go_.release();
  }
  thread_.join();
  Existing().fetch_sub(1);
}

int Coroutine::Count() { return Existing().load(); }

void Coroutine::Run() {
  go_.acquire();
  try {
    if (!cancelled_) body_(*this);
  } catch (const Cancelled&) {
    thrown_ = nullptr;  // the body's exception is not wanted
  } catch (...) {
    thrown_ = std::current_exception();
  }
  ended_ = true;
  back_.release();
}

bool Coroutine::Resume() {
  if (ended_) return true;
  go_.release();
  back_.acquire();
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  return ended_;
}

void Coroutine::Pause() {
  back_.release();
  go_.acquire();
  if (cancelled_) throw Cancelled{};
}

}  // namespace lockstep::vgpu
