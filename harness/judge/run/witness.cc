#include "judge/run/witness.h"

#include <chrono>
#include <thread>
#include <vector>

namespace lockstep::judge {
namespace {

// Pauses between attempts to start. A worker's shared memory and files are freed some time after its last process ends;
// until then the sandbox may be full. In a broken sandbox all attempts fail.
constexpr std::chrono::milliseconds kPauses[] = {std::chrono::milliseconds(100), std::chrono::milliseconds(500),
                                                 std::chrono::milliseconds(2000)};

}  // namespace

bool ControlWorker::Start(worker::WorkerSession& session, worker::CudaServer& server) const {
  for (const std::chrono::milliseconds pause : kPauses) {
    if (session.Start(limits_, server).outcome == worker::Outcome::kReturned) return true;
    std::this_thread::sleep_for(pause);
  }
  return session.Start(limits_, server).outcome == worker::Outcome::kReturned;
}

bool ControlWorker::Starts() const {
  if (command_.worker.empty()) return false;
  NoServer server;
  worker::WorkerSession session(command_);
  return Start(session, server);
}

bool ControlWorker::CouldCall(const std::string& launcher, std::span<const worker::Argument> arguments) {
  if (command_.worker.empty()) return false;
  const auto known = could_call_.find(launcher);
  if (known != could_call_.end()) return known->second;
  NoServer server;
  worker::WorkerSession session(command_);
  bool could = Start(session, server);
  if (could) {
    const std::vector<worker::Argument> call(arguments.begin(), arguments.end());
    could = session.Prepare(launcher, {&call, 1}, limits_, server).outcome == worker::Outcome::kReturned;
  }
  session.Stop();
  return could_call_[launcher] = could;
}

}  // namespace lockstep::judge
